"""The desk's part of `tally demo`: three tickets that end in PROCEED, DEFER and BLOCK."""

import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tallystick.doors.cli.kit import DemoContext, DemoPart, DemoResult, Screen
from tallystick.rooms.desk.cli.tickets import CHANGES

if TYPE_CHECKING:
    from tallystick.rooms.desk.sample_data import SampleTicket
    from tallystick.rooms.desk.trial import TrialResult

FOLDER = "kb"
TRY = (
    'tally desk try "Can I change my delivery address?"',
    "tally desk queue",
    "tally desk metrics",
)
MEANING = {
    "PROCEED": "Every sentence has a document behind it. Nothing is sent unasked, so it waits for a person's approval:",
    "DEFER": "Nothing goes out. A person finds it in the queue with this draft:",
    "BLOCK": "Nothing goes out, and nobody is asked: this verdict is final.",
}


def prepare(folder: Path) -> str:
    """Lay the sample knowledge base into a folder."""
    from tallystick.rooms.desk.sample_data import COMPANY, copy_sample, sample_documents

    written = copy_sample(folder / FOLDER)
    there = f"{len(written)} files, new" if written else "from an earlier demo, as you left it"
    many = len(list(sample_documents()))
    return f"{FOLDER}/, {many} documents of {COMPANY}, an invented company, some of them outdated ({there})"


def play(stage: DemoContext) -> DemoResult:
    """Take the three messages, and show what becomes of each and why."""
    from tallystick.rooms.desk.sample_data import sample_tickets
    from tallystick.rooms.desk.trial import DeskRunner

    support = DeskRunner(stage.gate)
    told: list[dict[str, Any]] = []
    for sample in sample_tickets():
        # Each demo is a conversation of its own: the same words once more would be a repeat.
        tried = support.attempt(str(sample.event["content"]), run=f"demo-{secrets.token_hex(4)}")
        told.append(_show(stage.screen, sample, tried))
    stage.screen.line()
    stage.screen.line("Each verdict is computed from the signed receipts of the searches, not from what a worker says.")
    return DemoResult(ok=all(one["as_expected"] for one in told), data={"tickets": told}, try_next=TRY)


def _show(screen: Screen, sample: "SampleTicket", tried: "TrialResult | str") -> dict[str, Any]:
    screen.line()
    screen.line(f"A customer writes: {sample.event['content']}")
    if isinstance(tried, str) or tried.verdict is None:
        reason = tried if isinstance(tried, str) else tried.status
        screen.line(f"  It was not worked on: {reason}.")
        return {"question": sample.event["content"], "verdict": None, "reason": reason, "as_expected": False}
    verdict = tried.verdict
    screen.line(f"  {verdict.status}  {verdict.rule_id}: {verdict.reason}")
    _evidence(screen, tried)
    screen.line(f"  {MEANING[verdict.status]}")
    for line in (tried.sent or tried.draft).splitlines():
        screen.line(f"    {line}".rstrip())
    if verdict.status == "PROCEED":
        screen.line(
            "  `tally desk calibrate FILE` shows on your answered tickets what sending at once would have given."
        )
    if verdict.rule_id in CHANGES:
        screen.line(f"  What would change it: {CHANGES[verdict.rule_id]}.")
    return {
        "question": sample.event["content"],
        "verdict": verdict.status,
        "rule_id": verdict.rule_id,
        "reason": verdict.reason,
        "ticket_id": tried.ticket_id,
        "sent": tried.sent,
        "draft": tried.draft,
        "as_expected": verdict.status == sample.ends,
    }


def _evidence(screen: Screen, tried: "TrialResult") -> None:
    """The best piece for each need, and for a contradiction its other side."""
    disagree = tried.verdict is not None and tried.verdict.rule_id == "defer.contradiction"
    # What must not leave is not put on a screen either.
    private = tried.verdict is not None and tried.verdict.rule_id == "block.personal-data"
    seen: dict[Any, int] = {}
    for one in tried.evidence:
        seen[one.get("need")] = seen.get(one.get("need"), 0) + 1
        if seen[one.get("need")] <= 1 + disagree:
            said = "(not shown)" if private else f"“{' '.join(str(one['snippet']).split())[:110]}”"
            screen.line(f"    {one['source']}: {said}")


PART = DemoPart(name="desk", title="Three customers write to a support desk", prepare=prepare, play=play, order=30)

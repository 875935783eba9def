"""The studio's part of `tally demo`: a conference about contradictions that are planted in the sample novel."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from tallystick.doors.cli.kit import DemoContext, DemoPart, DemoResult, Refused, Screen, counted, running_tools

if TYPE_CHECKING:
    from tallystick.gate.session import Caller
    from tallystick.rooms.studio.conference.model import AgentReply
    from tallystick.rooms.studio.conference.results import RoundResult
    from tallystick.rooms.studio.services.conference import ConferenceService

MAX_ARGS = 100
"""Characters of a call's arguments that are shown."""
PROMPTS = (
    # The prompt does not hint at a problem; the card and the scene disagree.
    "What colour are Ruth Lufkin's eyes?",
    # An explicit request: the checkers find the contradiction, and one agent is responsible.
    "Check Story/Scenes/SCN-four-in-the-morning.md against the canon.",
)
TRY = (
    "tally studio check .",
    'tally conference "Check Story/Scenes/SCN-off-gold.md against the canon."',
    'tally chat --once "Where does the weigh-house stand?"',
)


def prepare(folder: Path) -> str:
    """Lay the sample novel into a folder.

    Raises:
        Refused: There are other things in it.
    """
    from tallystick.agents.problem import Problem
    from tallystick.rooms.studio.sample_project import TITLE, copy_sample

    copied = copy_sample(folder)
    if isinstance(copied, Problem):
        raise Refused(copied.message, code=copied.code)
    there = f"{len(copied.written)} files, new" if copied.written else "from an earlier demo, as you left it"
    return f"{TITLE}, a short novel with its cards and its outline, and with mistakes in it on purpose ({there})"


def play(stage: DemoContext) -> DemoResult:
    """Hold the rounds, and show them.

    Raises:
        Refused: A round could not be held.
    """
    from tallystick.agents.answers import Unanswered
    from tallystick.app.agents import conversation_of
    from tallystick.gate.session import LOCAL_OWNER, Caller
    from tallystick.rooms.studio.services.conference import ConferenceService

    owner = Caller(subject=LOCAL_OWNER.subject, roles=LOCAL_OWNER.roles, channel="cli")
    conferences = ConferenceService(stage.gate, conversation_of(stage.gate))
    made = conferences.create(None, caller=owner, name="Demo")
    if isinstance(made, Unanswered):
        raise Refused(made.advice, code=made.code)
    rounds: list[RoundResult] = []
    for prompt in PROMPTS:
        held = _hold(conferences, made.conference_id, prompt, owner)
        _show(stage.screen, held)
        rounds.append(held)
    return DemoResult(
        ok=all(map(_holds, rounds)),
        data={
            "conferenceId": made.conference_id,
            "rounds": [{"prompt": held.prompt, **held.as_dict()} for held in rounds],
        },
        try_next=TRY,
    )


def _hold(conferences: "ConferenceService", conference_id: str, prompt: str, owner: "Caller") -> "RoundResult":
    from tallystick.agents.answers import Unanswered

    with running_tools():
        held = asyncio.run(conferences.hold(conference_id, prompt, caller=owner, offline=True))
    if isinstance(held, Unanswered):
        raise Refused(held.advice, code=held.code)
    return held


def _holds(held: "RoundResult") -> bool:
    """Whether a reply was accepted and none was rejected."""
    told = {spoken.status for spoken in held.spoken}
    return held.round.state == "closed" and "accepted" in told and told <= {"accepted", "abstained"}


# -- on the screen -------------------------------------------------------------------------------------------------


def _show(screen: Screen, held: "RoundResult") -> None:
    screen.line()
    screen.line(f"You ask everyone: {held.prompt}")
    screen.line()
    screen.line("  The Chief of Staff runs the tools once for everyone:")
    for step in held.retrieved.steps:
        if step.outcome is not None and step.outcome.tool is not None:
            screen.line(f"    {step.outcome.tool} {_brief(step.outcome.args)}  {step.receipt_id or ''}".rstrip())
    screen.line()
    screen.line("  Each agent reads the results, but not the other replies:")
    for spoken in held.spoken:
        _say(screen, spoken)
    silent = [spoken.name for spoken in held.spoken if spoken.status == "abstained"]
    if silent:
        screen.line()
        screen.line(f"  Abstained (out of scope): {', '.join(silent)}")
    screen.line()
    linked = counted(len(held.round.receipts), "receipt")
    screen.line(f"  The round is saved as {held.round.issue_id}, with {linked}.")


def _say(screen: Screen, spoken: "AgentReply") -> None:
    if spoken.status == "abstained":
        return
    screen.line()
    if spoken.status != "accepted":
        screen.line(f"  {spoken.name}: {spoken.status}: {spoken.code}: {spoken.reason}")
        return
    screen.line(f"  {spoken.name}:")
    for line in (spoken.text or "").split("\n"):
        if line.strip():
            screen.line(f"    {line}")
    screen.line(f"    (checked and accepted: {spoken.check_receipt})")


def _brief(args: object) -> str:
    if not isinstance(args, dict):
        return ""
    words = " ".join(f"{name}={value}" for name, value in args.items())
    return words if len(words) <= MAX_ARGS else f"{words[:MAX_ARGS]}…"


PART = DemoPart(
    name="studio", title="A conference about a novel that contradicts itself", prepare=prepare, play=play, order=10
)

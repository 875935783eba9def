"""`tally desk`: try questions on a folder of documents; create, import, work on and list tickets."""

import secrets
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tallystick.doors.cli.kit import (
    Exit,
    Here,
    Refused,
    UsageMistake,
    command,
    context_label,
    counted,
    group,
    read_file,
    running_tools,
)
from tallystick.rooms.desk.cli import review as desk_people
from tallystick.rooms.desk.cli.ticket_text import say_beside, say_text, say_ticket
from tallystick.rooms.desk.model import BEFORE_SENDING

if TYPE_CHECKING:
    from tallystick.app.gate import Gate
    from tallystick.rooms.desk.trial import DeskRunner, TrialResult
    from tallystick.settings import Settings

CHANGES = {
    "block.forbidden-topic": "nothing: such topics are not answered (rooms.desk.verdict.forbidden_topics)",
    "block.instruction-followed": "a call that takes no words of others",
    "block.personal-data": "documents without it, or rooms.desk.verdict.public_contacts if it is yours to give",
    "block.security-code": "calls of the tools that the ticket names, within their bounds",
    "defer.budget-spent": "a larger budget (rooms.desk.tool_policy)",
    "defer.category": "nothing: such matters are decided by people (rooms.desk.verdict.defer_categories)",
    "defer.contradiction": "documents that agree (mark the old one `status: superseded`)",
    "defer.source-not-trusted": "a document that answers it, or rooms.desk.verdict.answer_sources if the tool is yours",
    "defer.need-uncovered": "a document that answers every part of it",
    "defer.no-document": "a document that answers it; what other tools give, a person sends",
    "defer.risky-request": "nothing, or rooms.desk.verdict.public_contacts if the address in it is yours",
    "defer.no-evidence": "a document that answers it",
    "defer.not-answered": "a document that speaks of just what is asked",
    "defer.ambiguous": "a question that says more, or one document for it",
    "defer.no-need": "a message that asks something",
    "defer.no-tool-phase": "nothing: every draft needs a person while rooms.desk.tool_derivation is false",
    "defer.person-wanted": "nothing: the customer asks for a person",
    "defer.triage": "nothing: triage left it to a person",
    "defer.truncated": "a larger budget (rooms.desk.tool_policy)",
    "defer.unsupported-sentence": "a draft whose every sentence cites evidence that says it",
    "defer.worker": "a document that says it in a sentence that can be sent",
    BEFORE_SENDING: 'rooms.desk.send = "auto" for its category, once `tally desk calibrate` has shown what that gives',
}
"""Rule → what would change the verdict."""
MAX_TICKETS_BYTES = 50_000_000
REJECTED = "a message that asks something"
"""What would change it where triage sees nothing to answer."""
MOST_ROWS = 20
"""Rows of a file that are named one by one, for people."""


def add_to(app: typer.Typer) -> None:
    """Add these commands."""
    desk = group(app, "desk", "Answer customers from documents, and ask people.")
    command(desk, "try")(attempt)
    command(desk, "calibrate")(calibrate)
    command(desk, "add")(add)
    command(desk, "import")(bring)
    command(desk, "mail")(mail)
    command(desk, "work")(work)
    command(desk, "list")(listed)
    command(desk, "show")(show)
    desk_people.add_people(desk)


def attempt(
    here: Here,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="A question, as a customer would write it.")],
    kb: Annotated[
        Path | None,
        typer.Option("--kb", metavar="DIR", help="A folder of documents. Default: the workspace's knowledge base."),
    ] = None,
) -> Exit:
    """Try a question: the verdict, the rule that decided, evidence, draft, and what would change it.

    It leaves nothing behind, and nothing is sent. Without --kb it reads this workspace's documents and logs by its
    settings; with --kb it needs no set-up.
    """
    from tallystick.app.gate import Gate

    with tempfile.TemporaryDirectory(prefix="tally-desk-") as made:
        place = Path(made)
        settings = _settings_here(here, place) if kb is None else _settings_for(kb, place)
        with running_tools():
            gate = Gate.open(place, settings=settings, rooms=["desk"])
        with gate:
            return _attempt(here, gate, question)


def _settings_for(kb: Path, place: Path) -> "Settings":
    from tallystick.settings import parse_settings

    folder = kb.expanduser().resolve()
    if not folder.is_dir():
        raise Refused(f"{kb} is no folder. Give a folder of documents with --kb.", code="kb_missing")
    return parse_settings({"rooms": {"desk": {"kb": str(folder)}}, **_unkept(place)})


def _settings_here(here: Here, place: Path) -> "Settings":
    """The workspace's own, but for where things are kept; what it reads stays where it is, by its whole path."""
    import shutil

    from tallystick.rooms.desk.room import KB_FOLDER
    from tallystick.settings import CONTROL_ROOM, RoomSettings, parse_settings

    workspace = here.require_workspace().resolve()
    desk = dict(here.settings.rooms.section("desk"))
    folder = workspace / str(desk.get("kb", KB_FOLDER))
    if "kb" in desk or folder.is_dir():
        desk["kb"] = str(folder)
    if "logs" in desk:
        named = [desk["logs"]] if isinstance(desk["logs"], str) else desk["logs"]
        desk["logs"] = [str(workspace / Path(pattern).expanduser()) for pattern in named]
    # Who answers, where a model is set up.
    agents = workspace / CONTROL_ROOM / "agents"
    if agents.is_dir():
        shutil.copytree(agents, place / CONTROL_ROOM / "agents")
    fresh = parse_settings(_unkept(place))
    gate = here.settings.gate.model_copy(update={"tools": fresh.gate.tools})
    rooms = RoomSettings.model_validate({"desk": desk})
    changed = {"gate": gate, "ledger": fresh.ledger, "storage": fresh.storage, "rooms": rooms}
    return here.settings.model_copy(update=changed)


def _unkept(place: Path) -> dict[str, Any]:
    """Where a trial keeps what it makes: in a folder that is gone after it."""
    return {"ledger": {"durability": "os"}, "storage": {"state_dir": str(place / "state")}}


def _attempt(here: Here, gate: "Gate", question: str) -> Exit:
    from tallystick.rooms.desk.trial import DeskRunner

    tried = DeskRunner(gate).attempt(question, run=f"try-{secrets.token_hex(4)}")
    if isinstance(tried, str):
        raise Refused(f"It was not taken: {tried}.", code="not_taken")
    here.screen.data(_wire(tried))
    _told(here, tried)
    return Exit.OK


def _wire(tried: "TrialResult") -> dict[str, Any]:
    verdict = None if tried.verdict is None else tried.verdict.as_dict()
    return {
        "ticket_id": tried.ticket_id,
        "status": tried.status,
        "decision": tried.decision,
        "reason": tried.reason,
        "verdict": verdict,
        "evidence": list(tried.evidence),
        "draft": tried.draft,
        "would_send": tried.sent,
        "would_change": _change(tried),
    }


def _change(tried: "TrialResult") -> str | None:
    if tried.verdict is None:
        return REJECTED
    held = tried.verdict.status == "PROCEED" and not tried.sent
    return CHANGES.get(BEFORE_SENDING if held else tried.verdict.rule_id)


def _told(here: Here, tried: "TrialResult") -> None:
    screen = here.screen
    if tried.verdict is None:
        screen.line(f"{tried.decision}  triage: {tried.reason}")
    else:
        screen.line(f"{tried.verdict.status}  {tried.verdict.rule_id}: {tried.verdict.reason}")
    for one in tried.evidence:
        where = f", {one['place']}" if one.get("place") else ""
        head = f"  [{one['evidence_id']}] {one['source']}{where}  relevance {one['relevance_score']:.2f}"
        screen.line(f"{head}  {context_label(one)}".rstrip())
        screen.line(f"      {' '.join(str(one['snippet']).split())[:200]}")
    if tried.sent:
        say_text(screen.line, "would be sent", tried.sent)
    elif tried.draft:
        waits = tried.verdict is not None and tried.verdict.status == "PROCEED"
        say_text(screen.line, "would wait for a person" if waits else "draft for a person", tried.draft)
    change = _change(tried)
    if change is not None:
        screen.line(f"what would change it: {change}")


def calibrate(
    here: Here,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="CSV of answered tickets: content, answer.")],
    kb: Annotated[
        Path | None,
        typer.Option("--kb", metavar="DIR", help="A folder of documents. Default: the workspace's knowledge base."),
    ] = None,
) -> None:
    """Show by category what share of replies would have been right, had they been sent at once.

    Nothing is sent, and nothing is left behind.
    """
    from tallystick.agents.problem import Problem
    from tallystick.app.gate import Gate
    from tallystick.rooms.desk import calibration

    answered = calibration.read_answered(read_file(file, MAX_TICKETS_BYTES))
    if isinstance(answered, Problem):
        raise Refused(answered.message, code=answered.code)
    with tempfile.TemporaryDirectory(prefix="tally-desk-") as made:
        place = Path(made)
        settings = _settings_here(here, place) if kb is None else _settings_for(kb, place)
        with Gate.open(place, settings=_sending(settings), rooms=["desk"]) as gate:
            found = calibration.calibrate(answered, _support(gate).as_if_sent)
    rows = [(name, one.tickets, one.sent, one.right, one.share_right, one.drafts_right) for name, one in found.items()]
    names = ["category", "tickets", "would_be_sent", "of_those_right", "share_right", "drafts_right"]
    here.screen.data({"categories": [dict(zip(names, row, strict=True)) for row in rows]})
    here.screen.table(names, [tuple("" if cell is None else cell for cell in row) for row in rows])
    here.screen.note('A category is sent at once with: [rooms.desk] send = { default = "review", NAME = "auto" }')


def _sending(settings: "Settings") -> "Settings":
    from tallystick.settings import RoomSettings

    desk = {**settings.rooms.section("desk"), "send": "auto"}
    return settings.model_copy(update={"rooms": RoomSettings.model_validate({"desk": desk})})


def add(
    here: Here,
    content: Annotated[str, typer.Argument(metavar="TEXT", help="What the customer wrote.")],
    thread: Annotated[str, typer.Option("--thread", metavar="ID", help="The conversation it belongs to.")] = "",
    actor: Annotated[str, typer.Option("--from", metavar="WHO", help="Who wrote it.")] = "",
) -> Exit:
    """Create a ticket from one message."""
    event = {"type": "message", "content": content, "thread_id": thread or None, "actor": actor or None}
    with here.gate(plugins=True) as gate:
        received = _support(gate).service.intake.take({name: value for name, value in event.items() if value})
    told = {"status": received.status, "ticket_id": received.ticket_id, "reason": received.reason}
    here.screen.data(told)
    here.screen.line(f"{received.status} {received.ticket_id or ''} {received.reason or ''}".strip())
    return Exit.OK if received.status != "rejected" else Exit.REFUSED


def bring(
    here: Here,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="CSV, mbox, or Zendesk JSON.")],
) -> None:
    """Import the messages of a file; skipped rows are listed with the reason."""
    from tallystick.agents.problem import Problem
    from tallystick.rooms.desk.intake.files import import_file

    with here.gate(plugins=True) as gate:
        done = import_file(_support(gate).service.intake, file, limits=gate.settings.imports)
    if isinstance(done, Problem):
        raise Refused(done.message, code=done.code)
    counts = done.counts()
    left = [{"place": one.place, "reason": one.reason} for one in done.left]
    rejected = [
        {"place": one.place, "reason": one.received.reason, "message": one.received.message} for one in done.rejected()
    ]
    here.screen.data({**counts, "left": left, "rejected_rows": rejected})
    here.screen.line(", ".join(f"{many} {name}" for name, many in counts.items()))
    _listed(here, [f"rejected: {one['place']}: {one['reason']}: {one['message']}" for one in rejected])
    _listed(here, [f"left out: {one['place']}: {one['reason']}" for one in left])


def _listed(here: Here, lines: list[str]) -> None:
    for line in lines[:MOST_ROWS]:
        here.screen.note(line)
    if len(lines) > MOST_ROWS:
        here.screen.note(f"and {len(lines) - MOST_ROWS} more; --json names all.")


def mail(here: Here) -> Exit:
    """Take new mails of the desk's folder now; a running server looks by itself."""
    with here.gate(plugins=True) as gate:
        mailbox = _support(gate).service.mailbox
        if mailbox is None:
            message = "No mailbox is set. Give rooms.desk.mail its address and imap_host in tallystick.toml."
            raise Refused(message, code="mailbox_missing")
        taken = mailbox.take()
    here.screen.data(taken.as_dict())
    if taken.failure is not None:
        raise Refused(f"The mailbox: {taken.failure}. Check rooms.desk.mail and try again.", code="mailbox_failed")
    mails = counted(taken.queued, "mail")
    here.screen.line(
        f"{mails} taken, {taken.known} known or with nothing to answer, {len(taken.left)} left for a person"
    )
    for reason in taken.left:
        here.screen.note(f"left and marked as important: {reason}")
    return Exit.OK


def work(
    here: Here,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="Tickets at most.")] = 1_000,
) -> None:
    """Work on the waiting tickets now, and send approved replies."""
    with here.gate(plugins=True) as gate:
        support = _support(gate)
        with here.screen.progress("tickets", None) as advance:
            ended = []
            for number, ticket in enumerate(support.work(run=f"cli-{secrets.token_hex(4)}", limit=limit), start=1):
                ended.append({"ticket_id": ticket.ticket_id, "kind": ticket.kind, "status": ticket.status})
                advance(number, None)
        sent = support.service.sending.send_due()
    here.screen.data({"tickets": ended, "sent": sent.sent, "withheld": sent.withheld})
    worked, messages = counted(len(ended), "ticket"), counted(sent.sent, "message")
    here.screen.line(f"{worked} worked on, {messages} sent, {sent.withheld} withheld")


def listed(
    here: Here,
    status: Annotated[
        str | None,
        typer.Option("--status", metavar="STATUS", help="pending, running, review, failed, done or blocked."),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, max=1_000)] = 50,
) -> None:
    """List tickets, newest first."""
    from tallystick.rooms.desk.model import STATUSES

    if status is not None and status not in STATUSES:
        raise UsageMistake(f"--status: there is no status '{status:.40}'. Statuses are {', '.join(STATUSES)}.")
    with here.gate(plugins=True) as gate:
        found, total = _support(gate).service.tickets.list(status=(status,) if status else (), limit=limit)
    here.screen.data({"items": found, "total": total})
    if not found:
        hint = f"No tickets are {status}." if status else "No tickets. `tally desk add TEXT` takes one."
        here.screen.note(hint)
        return
    rows = [
        (one["id"], one["_desk"]["kind"], one["status"], (one["_desk"]["verdict"] or {}).get("rule_id", ""))
        for one in found
    ]
    here.screen.table(["id", "kind", "status", "rule"], rows)


def show(here: Here, ticket: Annotated[str, typer.Argument(metavar="TICKET", help="The ticket's id.")]) -> None:
    """Show one ticket: the customer's words, verdict, evidence and draft. With --json, whole."""
    from tallystick.agents.problem import Problem

    with here.gate(plugins=True) as gate:
        support = _support(gate)
        found = support.service.tickets.show(ticket)
        review = support.room.reviews.show(ticket)
    if found is None:
        raise Refused("There is no such ticket. `tally desk list` names them.", code="ticket_unknown")
    beside = None if isinstance(review, Problem) else review.as_dict()
    here.screen.data(found if beside is None else {**found, "_review": beside})
    say_ticket(here.screen, found)
    if beside is not None:
        say_beside(here.screen, beside)
    here.screen.note("Everything that is kept about it: --json.")


def _support(gate: "Gate") -> "DeskRunner":
    from tallystick.rooms.desk.trial import DeskRunner

    return DeskRunner(gate)

"""`tally desk queue|take|approve|edit|reject|more|reassign|outbox|metrics`: the review queue and the outbox."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tallystick.doors.cli.kit import (
    TERMINAL,
    Exit,
    Here,
    Refused,
    Screen,
    Token,
    Yes,
    command,
    read_file,
    require_person,
)
from tallystick.rooms.desk.cli.ticket_text import say_text

if TYPE_CHECKING:
    from tallystick.agents.problem import Problem
    from tallystick.rooms.desk.review import ReviewItem
    from tallystick.rooms.desk.trial import DeskRunner

MAX_TEXT_BYTES = 20_000
HERE = {
    "review_unknown": "Nobody is asked about such a ticket. `tally desk queue` lists those that wait.",
    "review_over": "Somebody has decided about this ticket already. `tally desk queue` lists those that wait.",
    "draft_missing": "There is no draft. `tally desk edit TICKET --from FILE` sends a text of yours.",
}
"""Code → what to do about it at a terminal; the room's own words are for those who come over HTTP."""
TicketId = Annotated[str, typer.Argument(metavar="TICKET", help="The ticket's id.")]


def add_people(desk: typer.Typer) -> None:
    """Add these commands."""
    command(desk, "queue")(queue)
    for name, done in (("take", take), ("approve", approve), ("edit", edit), ("reject", reject), ("more", more)):
        command(desk, name)(done)
    command(desk, "reassign")(reassign)
    command(desk, "outbox")(outbox)
    command(desk, "metrics")(metrics)


def queue(here: Here, limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, max=1_000)] = 50) -> None:
    """List the reviews, with rule and draft."""
    with here.gate(plugins=True) as gate:
        found, total = _support(gate).room.reviews.queue(limit=limit)
    here.screen.data({"items": [one.as_dict() for one in found], "total": total})
    if not found:
        here.screen.note("Nothing waits for people.")
    for one in found:
        here.screen.line(f"{one.review.ticket_id}  {one.review.rule_id}: {one.review.reason}")
        here.screen.line(f"    {' '.join(str(one.ticket.event.get('content', '')).split())[:160]}")


def take(here: Here, ticket: TicketId, token: Token = None) -> Exit:
    """Assign a review to yourself for 15 minutes. Needs a terminal or the start-up token."""
    return _decide(here, token, lambda support, caller: support.room.reviews.take(ticket, caller=caller))


def approve(here: Here, ticket: TicketId, token: Token = None, yes: Yes = False) -> Exit:
    """Approve the draft as it is. Needs a terminal or the start-up token."""
    return _decide(
        here,
        token,
        lambda support, caller: support.room.reviews.approve(ticket, caller=caller),
        ask=None if yes else ticket,
    )


def edit(
    here: Here,
    ticket: TicketId,
    text: Annotated[Path, typer.Option("--from", metavar="FILE", help="The text to send instead.")],
    insist: Annotated[bool, typer.Option("--insist", help="Send it even if a sentence has no citation.")] = False,
    token: Token = None,
) -> Exit:
    """Send another text; it is checked again. Needs a terminal or the start-up token."""
    words = read_file(text, MAX_TEXT_BYTES).decode("utf-8", "replace")
    return _decide(
        here, token, lambda support, caller: support.room.reviews.edit(ticket, words, caller=caller, insist=insist)
    )


def reject(
    here: Here,
    ticket: TicketId,
    reason: Annotated[
        str, typer.Option("--reason", "-r", metavar="TEXT", help="The reason; it is recorded in the ledger.")
    ],
    token: Token = None,
) -> Exit:
    """Send nothing. Needs a terminal or the start-up token."""
    return _decide(
        here, token, lambda support, caller: support.room.reviews.reject(ticket, caller=caller, reason=reason)
    )


def more(here: Here, ticket: TicketId, token: Token = None) -> Exit:
    """Search for more evidence: the ticket runs once more. Needs a terminal or the start-up token."""
    return _decide(here, token, lambda support, caller: support.room.reviews.more(ticket, caller=caller))


def reassign(
    here: Here, ticket: TicketId, to: Annotated[str, typer.Option("--to", metavar="WHO")], token: Token = None
) -> Exit:
    """Assign a review to somebody else. Needs a terminal or the start-up token."""
    return _decide(here, token, lambda support, caller: support.room.reviews.reassign(ticket, to, caller=caller))


def outbox(here: Here, limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, max=1_000)] = 50) -> None:
    """List outgoing messages, and the reason for withheld ones."""
    with here.gate(plugins=True) as gate, _support(gate).service.store.reading() as tx:
        found, total = tx.outbox(limit=limit)
    rows = [(one.ticket_id, one.channel, one.state, one.note) for one in found]
    here.screen.data(
        {
            "items": [dict(zip(("ticket_id", "channel", "state", "note"), row, strict=True)) for row in rows],
            "total": total,
        }
    )
    here.screen.table(["ticket", "channel", "state", "note"], rows)


def metrics(here: Here) -> None:
    """Show counts of verdicts, overrides and waiting tickets."""
    from tallystick.rooms.desk.service import figures

    with here.gate(plugins=True) as gate, _support(gate).service.store.reading() as tx:
        found = figures(tx)
    here.screen.data(found)
    here.screen.table(["what", "number"], [(name, value) for name, value in found.items() if value is not None])


def _decide(here: Here, token: str | None, how: "Callable[[DeskRunner, Any], Any]", *, ask: str | None = None) -> Exit:
    from tallystick.agents.problem import Problem
    from tallystick.gate.role_names import OWNER_ROLE
    from tallystick.gate.session import Caller

    person = require_person(here, token)
    caller = Caller(subject=person.name, roles=frozenset({OWNER_ROLE}), channel=person.channel)
    with here.gate(plugins=True) as gate:
        support = _support(gate)
        if ask is not None:
            # Who is asked at a terminal sees what about, also with --json and --quiet.
            screen = Screen() if person.channel == TERMINAL else here.screen
            _show_draft(screen, support.room.reviews.undecided(ask, caller=caller))
            if not person.agrees("Send this draft?", yes=False):
                raise Refused("Nothing was decided.", code="not_answered")
        after = how(support, caller)
    if isinstance(after, Problem):
        raise _refused(after)
    here.screen.data({"ticket_id": after.ticket_id, "state": after.state, "person": after.person})
    here.screen.line(f"{after.ticket_id}: {after.state}")
    return Exit.OK


def _show_draft(screen: Screen, found: "ReviewItem | Problem") -> None:
    """What a person is about to let go out.

    Raises:
        Refused: There is nothing to decide, or nothing to send.
    """
    from tallystick.agents.problem import Problem

    if isinstance(found, Problem):
        raise _refused(found)
    if not found.review.draft.strip():
        raise Refused(HERE["draft_missing"], code="draft_missing")
    screen.note(f"{found.review.ticket_id}  {found.review.rule_id}: {found.review.reason}")
    say_text(screen.note, "customer", found.ticket.content or "(no words)")
    say_text(screen.note, "draft", found.review.draft)


def _refused(problem: "Problem") -> Refused:
    return Refused(HERE.get(problem.code, problem.message), code=problem.code)


def _support(gate: Any) -> "DeskRunner":
    from tallystick.rooms.desk.trial import DeskRunner

    return DeskRunner(gate)

"""`tally desk queue|take|approve|edit|reject|more|reassign|replies|gaps|outbox|metrics`: the work of people."""

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
    command(desk, "replies")(replies)
    command(desk, "gaps")(gaps)
    command(desk, "outbox")(outbox)
    command(desk, "metrics")(metrics)


def queue(
    here: Here,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, max=1_000)] = 50,
    owner: Annotated[str, typer.Option("--owner", metavar="WHO", help="Only what was given to this person.")] = "",
) -> None:
    """List what waits for people, the oldest first, with rule, customer and age."""
    from tallystick.rooms.desk.assistance.card import span_in_words

    with here.gate(plugins=True) as gate:
        found, total = _support(gate).room.reviews.queue(limit=limit, owner=owner or None)
    here.screen.data({"items": [one.as_dict() for one in found], "total": total})
    for one in found:
        card = one.card
        here.screen.line(f"{one.review.ticket_id}  {one.review.rule_id}: {one.review.reason}")
        here.screen.line(f"    {' '.join(str(one.ticket.event.get('content', '')).split())[:160]}")
        facts = [card.customer or "unknown customer", f"{span_in_words(card.age_ms)} old"]
        facts += ["overdue"] if card.overdue else []
        facts += [f"with {card.owner}"] if card.owner else []
        facts += [f"no draft: {card.no_draft}"] if card.no_draft else ["draft ready"]
        here.screen.line(f"    {', '.join(facts)}")
    here.screen.note(_shown(len(found), total, "waits for people"))


def _shown(many: int, total: int, what: str) -> str:
    if not total:
        return f"Nothing {what}."
    return f"{total} in all." if many == total else f"{many} of {total} shown; --limit shows more."


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
    text: Annotated[Path | None, typer.Option("--from", metavar="FILE", help="The text to send instead.")] = None,
    reply: Annotated[str, typer.Option("--reply", metavar="NAME", help="A ready reply: tally desk replies.")] = "",
    insist: Annotated[bool, typer.Option("--insist", help="Send it even if a sentence has no citation.")] = False,
    token: Token = None,
) -> Exit:
    """Send another text; it is checked again. Needs a terminal or the start-up token."""
    if (text is None) == (not reply):
        raise Refused("Give either --from FILE or --reply NAME.", code="text_missing")
    words = "" if text is None else read_file(text, MAX_TEXT_BYTES).decode("utf-8", "replace")

    def how(support: "DeskRunner", caller: Any) -> Any:
        reviews = support.room.reviews
        told = words or reviews.help.replies().get(reply)
        if told is None:
            raise Refused(f"There is no ready reply {reply!r}. `tally desk replies` lists them.", code="reply_unknown")
        return reviews.edit(ticket, told, caller=caller, insist=insist)

    return _decide(here, token, how)


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


def replies(here: Here) -> None:
    """List the ready replies of `desk/replies.toml`."""
    with here.gate(plugins=True) as gate:
        found = _support(gate).room.reviews.help.replies()
    here.screen.data({"replies": dict(found)})
    here.screen.table(["name", "text"], [(name, " ".join(text.split())[:100]) for name, text in found.items()])
    if not found:
        here.screen.note('None. Write some in desk/replies.toml: name = "text".')


def gaps(
    here: Here, days: Annotated[int, typer.Option("--days", metavar="N", min=1, max=3_650, help="How far back.")] = 7
) -> None:
    """Report what customers asked that no document answers, together where it is about the same."""
    with here.gate(plugins=True) as gate:
        found = _support(gate).room.reviews.gaps(days=days)
    here.screen.data({"days": days, "gaps": [one.as_dict() for one in found]})
    for one in found:
        many = "1 ticket" if one.tickets == 1 else f"{one.tickets} tickets"
        here.screen.line(f"{many} asked about {', '.join(one.about)}; no document says.")
        here.screen.line(f"    {' '.join(one.example.split())[:160]}")
    if not found:
        here.screen.note(f"In the last {days} days every message that was looked up found an answer.")


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
    here.screen.note(_shown(len(rows), total, "is in the outbox"))


def metrics(here: Here) -> None:
    """Show counts of verdicts, overrides and waiting tickets."""
    with here.gate(plugins=True) as gate:
        found = _support(gate).service.figures()
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

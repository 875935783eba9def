"""One ticket in a dialog, and short lists of tickets."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from nicegui import run, ui

from tallystick.doors.web.kit import block, text
from tallystick.rooms.insight.room import Insight

if TYPE_CHECKING:
    from tallystick.rooms.insight.model import Ticket

CUT = 160
_FACTS = ("external_id", "department", "product", "category", "priority", "status", "customer", "reassignments")


async def open_ticket(room: Insight, ticket_id: int) -> None:
    """Show a ticket whole."""
    ticket: Ticket | None = await run.io_bound(room.store.ticket, ticket_id)
    with ui.dialog().props('aria-label="The ticket"') as dialog, ui.card().classes("tally-dialog"):
        with ui.row().classes("tally-row"):
            ui.label(f"Ticket {ticket_id}").classes("text-weight-bold")
            ui.space()
            ui.button(icon="close", on_click=dialog.close).props('flat round dense aria-label="Close"')
        if ticket is None:
            ui.label("It is not there any more.").classes("tally-bad")
        else:
            _whole(ticket)
    dialog.on("hide", dialog.delete)
    dialog.open()


def _whole(ticket: "Ticket") -> None:
    said = ticket.said
    if said.summary:
        ui.label(said.summary).classes("text-weight-medium tally-text")
    block(said.text)
    facts: list[tuple[str, Any]] = [(name, getattr(said, name)) for name in _FACTS]
    facts += [("came", _moment(said.created_at)), ("resolved", _moment(said.resolved_at))]
    with ui.element("dl").classes("tally-facts"):
        for name, value in facts:
            if value not in (None, ""):
                text("dt", name.replace("_", " "))
                text("dd", str(value))
    if said.resolution:
        ui.label("How it was resolved").classes("tally-soft")
        block(said.resolution)


def ticket_chip(room: Insight, ticket_id: int, words: str = "") -> None:
    """A ticket that can be opened, with the words of it that matter."""
    with ui.element("button").classes("tally-chip").props('type="button"') as chip:
        ui.icon("format_quote" if words else "confirmation_number").props('aria-hidden="true"')
        ui.label(f"“{words}” {ticket_id}" if words else f"ticket {ticket_id}")
    chip.on("click", lambda: open_ticket(room, ticket_id))


def ticket_lines(room: Insight, tickets: "Sequence[Ticket]") -> None:
    """Tickets one below the other, each a button that opens it."""
    for ticket in tickets:
        plain = " ".join(ticket.said.text.split())
        with ui.element("button").classes("tally-ticket-line").props('type="button"') as line:
            ui.label(str(ticket.ticket_id)).classes("tally-mono tally-soft")
            ui.label(plain[:CUT] + ("…" if len(plain) > CUT else "")).classes("tally-text")
        line.on("click", lambda ticket_id=ticket.ticket_id: open_ticket(room, ticket_id))


def _moment(seconds: int | None) -> str:
    return "" if seconds is None else datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")

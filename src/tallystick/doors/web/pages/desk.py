"""Desk: tickets by phase, and the review pane where a person decides with the evidence beside the draft."""

from typing import Any

from nicegui import run, ui

from tallystick.doors.web.frame import page
from tallystick.doors.web.house import House, Place, Visitor
from tallystick.doors.web.parts.badge import badge
from tallystick.doors.web.parts.desk_ticket import TicketView
from tallystick.doors.web.parts.states import empty, heading, section
from tallystick.rooms.desk.room import Desk

SOON_S = 0.9
SHOWN = 60
"""Tickets of one column that are sent at once."""
ATTENTION = "For a person"
COLUMNS = (
    ("TRIAGE", ("pending", "running"), "Triage"), ("TOOL", ("pending", "running"), "Gathering"),
    ("", ("review",), ATTENTION), ("REPLY", ("pending", "running"), "Replying"),
    ("", ("done",), "Done"), ("", ("blocked", "failed"), "Blocked or failed"),
)  # fmt: skip
Line = tuple[str, str, str, str]
"""A ticket on the board: id, kind, status, the first words."""


def register(house: House) -> tuple[str, ...]:
    """Make the pages."""
    house.places.append(Place(path="/desk", name="Desk", icon="support_agent"))

    @page(house, "/desk", "Desk")
    async def board(visitor: Visitor) -> None:
        heading("Desk", "Every answer rests on a document; what cannot be settled waits for you")
        room = house.room("desk")
        if not isinstance(room, Desk):
            empty("The desk is not installed", "pip install 'tallystick[all]'", icon="block")
            return
        await _Board(room, visitor).show()

    @page(house, "/desk/{ticket_id}", "Ticket")
    async def one(visitor: Visitor, ticket_id: str) -> None:
        room = house.room("desk")
        found = room.office.tickets.show(ticket_id) if isinstance(room, Desk) else None
        if found is None or not isinstance(room, Desk):
            empty("There is no such ticket", "It may stand in another workspace.", icon="search_off")
            return
        await TicketView(house, room, visitor, found).show()

    return ("/desk",)


class _Board:
    """The tickets by phase."""

    def __init__(self, room: Desk, visitor: Visitor) -> None:
        self._room = room
        self._visitor = visitor
        self._seen: Any = None

    async def show(self) -> None:
        self._asking()
        self._place = ui.element("div").classes("tally-board")
        await self._again()
        ui.timer(SOON_S, self._again)

    def _asking(self) -> None:
        with ui.row().classes("tally-row"):
            text = ui.input("A customer writes…").props("outlined dense maxlength=5000").classes("col-grow")

            async def take() -> None:
                if not (text.value or "").strip():
                    return
                event = {"type": "message", "content": text.value, "actor": self._visitor.caller.subject}
                got = await run.io_bound(self._room.office.intake.take, event)
                if got is not None and got.status == "queued":
                    text.value = ""
                elif got is not None:
                    ui.notify(f"{got.status}: {got.reason}", type="warning")
                await self._again()

            text.on("keydown.enter", take)
            ui.button("Take it", icon="inbox", on_click=take).props("outline")

    async def _again(self) -> None:
        now = await run.io_bound(self._look)
        if now is None or now == self._seen:
            return
        self._seen = now
        self._place.clear()
        with self._place:
            if not any(total for _, total in now):
                empty("No tickets yet", "Write one above, or: tally desk import tickets.csv", icon="support_agent")
                return
            for (_, _, title), (tickets, total) in zip(COLUMNS, now, strict=True):
                _column(title, tickets, total)

    def _look(self) -> list[tuple[list[Line], int]]:
        with self._room.store.reading() as tx:
            columns = []
            for kind, statuses, _ in COLUMNS:
                found, total = tx.list(status=statuses, kind=kind or None, limit=SHOWN)
                lines = [
                    (one.ticket_id, str(one.kind or ""), one.status, " ".join(one.content.split())[:120])
                    for one in found
                ]
                columns.append((lines, total))
            return columns


def _column(title: str, tickets: list[Line], total: int) -> None:
    with ui.column().classes("tally-column gap-2" + ("" if total else " tally-column-none")) as column:
        if title == ATTENTION:
            column.classes("tally-column-first")
        section(f"{title} {total:,}")
        with ui.column().classes("tally-column-list gap-2").props(f'tabindex="0" role="region" aria-label="{title}"'):
            for ticket_id, kind, status, words in tickets:
                with ui.link(target=f"/desk/{ticket_id}").classes("tally-card tally-ticket"):
                    with ui.row().classes("tally-row"):
                        badge(status)
                        ui.label(kind.lower()).classes("tally-soft")
                    ui.label(words or "(no text)").classes("tally-text")
            if total > len(tickets):
                ui.label(f"and {total - len(tickets):,} more").classes("tally-soft")

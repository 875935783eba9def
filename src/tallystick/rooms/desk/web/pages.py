"""The desk's board: tickets by phase."""

from collections.abc import Awaitable, Callable
from typing import Any

from nicegui import run, ui

from tallystick.app.rooms import room_in
from tallystick.doors.web.kit import NavigationItem, PageContext, Visitor, badge, empty, heading, may_act, page, text
from tallystick.gate.role_names import DESK_READERS, DESK_ROLES
from tallystick.rooms.desk.model import Ticket
from tallystick.rooms.desk.room import Desk
from tallystick.rooms.desk.store import Transaction
from tallystick.rooms.desk.web.review_help import facts_of
from tallystick.rooms.desk.web.ticket import TicketView

SOON_S = 0.6
SHOWN = 30
"""Tickets of one column that are sent at once."""
ATTENTION = "For a person"
COLUMNS = (
    ("TRIAGE", ("pending", "running"), "Triage"),
    ("TOOL", ("pending", "running"), "Gathering"),
    ("", ("review",), ATTENTION),
    ("REPLY", ("pending", "running"), "Replying"),
    ("", ("done",), "Done"),
    ("", ("blocked", "failed"), "Blocked or failed"),
)
Line = tuple[str, str, str, str, str]
"""A ticket on the board: id, kind, status, the first words, and what a person must know of one that waits."""


def register(house: PageContext) -> tuple[str, ...]:
    """Make the pages."""
    house.places.append(NavigationItem(path="/desk", name="Desk", icon="support_agent", order=48, roles=DESK_READERS))

    @page(house, "/desk", "Desk", roles=DESK_READERS)
    async def board(visitor: Visitor) -> None:
        heading("Desk", "Every answer rests on a document; what cannot be settled waits for you")
        await _Board(room_in(house.gate, "desk", Desk), visitor).show()

    @page(house, "/desk/{ticket_id}", "Ticket", roles=DESK_READERS)
    async def one(visitor: Visitor, ticket_id: str) -> None:
        room = room_in(house.gate, "desk", Desk)
        found = room.service.tickets.show(ticket_id)
        if found is None:
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
        self._limits = [SHOWN] * len(COLUMNS)
        self._columns: list[_Column] = []

    async def show(self) -> None:
        self._asking()
        self._place = ui.element("div").classes("tally-board")
        await self._again()
        ui.timer(SOON_S, self._again)

    def _asking(self) -> None:
        with ui.row().classes("tally-row"):
            text = ui.input("A customer writes…").props("outlined dense maxlength=5000").classes("col-grow")

            async def take() -> None:
                if not may_act(self._visitor, DESK_ROLES):
                    return
                if not (text.value or "").strip():
                    return
                event = {"type": "message", "content": text.value, "actor": self._visitor.caller.subject}
                got = await run.io_bound(self._room.service.intake.take, event)
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
        if not any(total for _, total in now):
            self._columns = []
            self._place.clear()
            with self._place:
                empty("No tickets yet", "Write one above, or: tally desk import tickets.csv", icon="support_agent")
            return
        if not self._columns:
            self._place.clear()
            with self._place:
                self._columns = [_Column(place, self._more) for place in range(len(COLUMNS))]
        for column, (tickets, total) in zip(self._columns, now, strict=True):
            column.draw(tickets, total)

    async def _more(self, place: int) -> None:
        self._limits[place] += SHOWN
        await self._again()

    def _look(self) -> list[tuple[list[Line], int]]:
        with self._room.store.reading() as tx:
            columns = []
            for (kind, statuses, _), limit in zip(COLUMNS, self._limits, strict=True):
                found, total = tx.list(status=statuses, kind=kind or None, limit=limit, last=True)
                columns.append(([self._line(tx, one) for one in found], total))
            return columns

    def _line(self, tx: Transaction, ticket: Ticket) -> Line:
        review = tx.review(ticket.ticket_id, lock=False) if ticket.status == "review" else None
        facts = "" if review is None else facts_of(self._room.reviews.help.card(tx, review, ticket))
        return ticket.ticket_id, str(ticket.kind or ""), ticket.status, " ".join(ticket.content.split())[:120], facts


class _Column:
    """One phase. Only what came or went is drawn: of thousands of tickets a few move at a time."""

    def __init__(self, place: int, more: Callable[[int], Awaitable[None]]) -> None:
        self._title = COLUMNS[place][2]
        self._shown: dict[Line, ui.link] = {}
        self._column = ui.column().classes("tally-column gap-2")
        if self._title == ATTENTION:
            self._column.classes("tally-column-first")
        with self._column:
            self._heading = text("h2", self._title)
            self._list = ui.column().classes("tally-column-list gap-2").props('tabindex="0" role="region"')
            self._list.props["aria-label"] = self._title
            self._rest = ui.button("", on_click=lambda: more(place)).props("flat dense no-caps")

    def draw(self, tickets: list[Line], total: int) -> None:
        """Show these, and how many there are."""
        self._heading.text = f"{self._title} {total:,}"
        self._column.classes(remove="tally-column-none") if total else self._column.classes("tally-column-none")
        for line in set(self._shown) - set(tickets):
            self._shown.pop(line).delete()
        for place, line in enumerate(tickets):
            if line not in self._shown:
                with self._list:
                    self._shown[line] = _card(line)
                if place < len(self._shown) - 1:
                    self._shown[line].move(self._list, target_index=place)
        left = total - len(tickets)
        self._rest.set_visibility(left > 0)
        self._rest.text = f"{min(left, SHOWN):,} more of {left:,}"


def _card(line: Line) -> ui.link:
    ticket_id, kind, status, words, facts = line
    with ui.link(target=f"/desk/{ticket_id}").classes("tally-card tally-ticket") as card:
        with ui.row().classes("tally-row"):
            badge(status)
            ui.label(kind.lower()).classes("tally-soft")
        ui.label(words or "(no text)").classes("tally-text")
        if facts:
            ui.label(facts).classes("tally-soft tally-text")
    return card

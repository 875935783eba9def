"""Memory: what agents may come to believe, how each of it stands, why, since when, and what if."""

from typing import Any

from nicegui import run, ui

from tallystick.app.rooms import room_in
from tallystick.doors.web.kit import NavigationItem, PageContext, Visitor, empty, heading, page
from tallystick.gate.role_names import EVERY_ROLE
from tallystick.rooms.memory.recall import listings
from tallystick.rooms.memory.room import Memory
from tallystick.rooms.memory.web.add_form import add_form
from tallystick.rooms.memory.web.proposition import PropositionPage
from tallystick.rooms.memory.web.proposition_list import PropositionList, nothing_yet

LOOK_S = 0.8


def register(context: PageContext) -> tuple[str, ...]:
    """Make the pages."""
    context.places.append(NavigationItem(path="/memory", name="Memory", icon="psychology", order=45, roles=EVERY_ROLE))

    @page(context, "/memory", "Memory", roles=EVERY_ROLE)
    async def every(_visitor: Visitor) -> None:
        heading("Memory", "Nothing is believed because somebody said so: evidence decides, and can be asked for")
        await _whole(context, room_in(context.gate, "memory", Memory))

    @page(context, "/memory/{proposition_id}", "Proposition", roles=EVERY_ROLE)
    async def one(_visitor: Visitor, proposition_id: str) -> None:
        room = room_in(context.gate, "memory", Memory)
        found: dict[str, Any] | None = await run.io_bound(room.queries.explain, proposition_id)
        if found is None:
            heading("Memory")
            empty("There is no such proposition", "The page before lists those there are.", icon="search_off")
            return
        PropositionPage(context, room, found).show()

    return ("/memory",)


async def _whole(context: PageContext, room: Memory) -> None:
    place = ui.column().classes("w-full gap-2")

    async def fill() -> bool:
        counts = (await run.io_bound(listings.status, room.projection, room.now()) or {}).get("counts", {})
        place.clear()
        with place:
            if counts.get("propositions") or counts.get("observations"):
                await PropositionList(context, room).show()
                return True
            nothing_yet()
            return False

    if not await fill():
        seen = context.gate.ledger.size()

        async def look() -> None:
            nonlocal seen
            if context.gate.ledger.size() != seen:
                seen = context.gate.ledger.size()
                if await fill():
                    timer.cancel()

        timer = ui.timer(LOOK_S, look)
    add_form(context, room)

"""Memory: what agents may come to believe, how each of it stands, why, since when, and what if."""

from typing import Any

from nicegui import run, ui

from tallystick.app.rooms import room_in
from tallystick.doors.web.kit import PageContext, Place, Visitor, empty, heading, page
from tallystick.gate.role_names import EVERY_ROLE
from tallystick.rooms.memory import account
from tallystick.rooms.memory.room import Memory
from tallystick.rooms.memory.web.add_form import add_form
from tallystick.rooms.memory.web.proposition import One
from tallystick.rooms.memory.web.proposition_list import Listing, nothing_yet

LOOK_S = 0.8


def register(house: PageContext) -> tuple[str, ...]:
    """Make the pages."""
    house.places.append(Place(path="/memory", name="Memory", icon="psychology", order=45, roles=EVERY_ROLE))

    @page(house, "/memory", "Memory", roles=EVERY_ROLE)
    async def every(_visitor: Visitor) -> None:
        heading("Memory", "Nothing is believed because somebody said so: evidence decides, and can be asked for")
        await _whole(house, room_in(house.gate, "memory", Memory))

    @page(house, "/memory/{proposition_id}", "Proposition", roles=EVERY_ROLE)
    async def one(_visitor: Visitor, proposition_id: str) -> None:
        room = room_in(house.gate, "memory", Memory)
        found: dict[str, Any] | None = await run.io_bound(room.reading.explain, proposition_id)
        if found is None:
            heading("Memory")
            empty("There is no such proposition", "The page before lists those there are.", icon="search_off")
            return
        One(house, room, found).show()

    return ("/memory",)


async def _whole(house: PageContext, room: Memory) -> None:
    place = ui.column().classes("w-full gap-2")

    async def fill() -> bool:
        counts = (await run.io_bound(account.status, room.projection, room.now()) or {}).get("counts", {})
        place.clear()
        with place:
            if counts.get("propositions") or counts.get("observations"):
                await Listing(house, room).show()
                return True
            nothing_yet()
            return False

    if not await fill():
        seen = house.gate.ledger.size()

        async def look() -> None:
            nonlocal seen
            if house.gate.ledger.size() != seen:
                seen = house.gate.ledger.size()
                if await fill():
                    timer.cancel()

        timer = ui.timer(LOOK_S, look)
    add_form(house, room)

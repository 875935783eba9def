"""What the open rooms bring, gathered. Nothing here knows a room by name."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from decimal import Decimal
from typing import Protocol, TypeVar

from tallystick.app.discovery import manifests, unavailable
from tallystick.errors import PartMissing
from tallystick.plugin import Room
from tallystick.turns.wording import Wording, Wordings

R = TypeVar("R")


class HasRooms(Protocol):
    """An open gate, as far as its rooms are concerned."""

    def rooms(self) -> Mapping[str, Room]:
        """All open rooms, by name."""
        ...


def room_in(gate: HasRooms, name: str, kind: type[R]) -> R:
    """A room of an open workspace, for a door that cannot do without it.

    Raises:
        PartMissing: It is not installed or not switched on; the message holds the command that changes that.
    """
    room = gate.rooms().get(name)
    if isinstance(room, kind):
        return room
    manifest = manifests().get(name)
    raise PartMissing(f"The room {name} is not installed here.") if manifest is None else unavailable(manifest)


def close_rooms(rooms: Iterable[Room]) -> None:
    """Close every room, also when one of them fails to."""
    with ExitStack() as stack:
        for room in rooms:
            stack.callback(room.close)


def wordings_of(rooms: Iterable[Room]) -> Wordings:
    """How the rooms word tools for models."""
    wordings: dict[str, Wording] = {}
    for room in rooms:
        wordings |= room.wordings()
    return wordings


class RoomRecords(Mapping[str, Callable[[str], str | None]]):
    """What replies may cite of the rooms: prefix (`ticket`) → what gives a record's text. Rooms may open later."""

    def __init__(self, rooms: Mapping[str, Room]) -> None:
        self._rooms = rooms

    def __getitem__(self, prefix: str) -> Callable[[str], str | None]:
        """The function of one prefix."""
        return self._all()[prefix]

    def __iter__(self) -> Iterator[str]:
        """The prefixes."""
        return iter(self._all())

    def __len__(self) -> int:
        """The number of prefixes."""
        return len(self._all())

    def _all(self) -> dict[str, Callable[[str], str | None]]:
        return {prefix: text for room in self._rooms.values() for prefix, text in room.records().items()}


def recompute(rooms: Mapping[str, Room], query: str) -> Decimal | None:
    """A figure, from the first room that knows the query."""
    values = (room.figure(query) for room in rooms.values())
    return next((value for value in values if value is not None), None)


def texts_by(rooms: Mapping[str, Room], agent_id: str, tool_id: str) -> Iterator[str]:
    """Texts that an agent wrote in the rooms by other ways than calls, as far as a tool may show them."""
    for room in rooms.values():
        yield from room.texts_by(agent_id, tool_id)

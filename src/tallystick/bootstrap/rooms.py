"""What an installed room gives."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any, Protocol, TypeVar

from tallystick.errors import PartMissing
from tallystick.gate.tool import Tool
from tallystick.turns.wording import Wording, Wordings

R = TypeVar("R")


class Room(Protocol):
    """What an installed room gives: its tools. The entry point is a function from the joined parts to a room."""

    name: str

    def tools(self) -> Iterable[Tool]:
        """The room's tools."""
        ...


class Housing(Protocol):
    """What has rooms: an open gate."""

    rooms: dict[str, Room]
    unavailable_rooms: dict[str, PartMissing]


def room_in(gate: Housing, name: str, kind: type[R]) -> R:
    """A room of an open workspace, for a door that cannot do without it.

    Raises:
        PartMissing: Its packages are not installed; the message holds the command that installs them.
    """
    room = gate.rooms.get(name)
    if isinstance(room, kind):
        return room
    raise gate.unavailable_rooms.get(name) or PartMissing(f"The room {name} is not installed here.")


def close_rooms(rooms: Iterable[Room]) -> None:
    """Let rooms that hold something finish with it."""
    for room in rooms:
        close = getattr(room, "close", None)
        if close is not None:
            close()


def wordings_of(rooms: Iterable[Room]) -> Wordings:
    """How rooms that have an opinion word tools for models."""
    wordings: dict[str, Wording] = {}
    for room in rooms:
        words = getattr(room, "wordings", None)
        if words is not None:
            wordings |= words()
    return wordings


class RoomRecords(Mapping[str, Callable[[str], str | None]]):
    """What replies may cite of the rooms (`ticket:12`): prefix → what gives a record's text. Rooms may come later."""

    def __init__(self, rooms: Mapping[str, Room]) -> None:
        self._rooms = rooms

    def __getitem__(self, prefix: str) -> Callable[[str], str | None]:
        """The room's own, by prefix."""
        return self._all()[prefix]

    def __iter__(self) -> Iterator[str]:
        """The prefixes there are."""
        return iter(self._all())

    def __len__(self) -> int:
        """How many."""
        return len(self._all())

    def _all(self) -> dict[str, Callable[[str], str | None]]:
        offered = [getattr(room, "records", None) for room in self._rooms.values()]
        return {prefix: text for records in offered if records is not None for prefix, text in records().items()}


def recomputed(rooms: Mapping[str, Room], query: str) -> Decimal | None:
    """A figure, from the first room that knows the query."""
    offered: list[Any] = [getattr(room, "figures", None) for room in rooms.values()]
    values = (figures(query) for figures in offered if figures is not None)
    return next((value for value in values if value is not None), None)


def texts_by(rooms: Mapping[str, Room], agent_id: str, tool_id: str) -> Iterator[str]:
    """What the room of a tool knows an agent to have written in it, by other ways than calls."""
    for room in rooms.values():
        texts = getattr(room, "texts_by", None)
        if texts is not None:
            yield from texts(agent_id, tool_id)

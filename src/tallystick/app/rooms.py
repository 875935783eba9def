"""Collect the contributions of all open rooms. Nothing here depends on a particular room."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from decimal import Decimal
from typing import Protocol, TypeVar

from tallystick.app.discovery import closed_room, manifests, room_unknown
from tallystick.plugin import Room
from tallystick.turns.tool_prompts import ToolPrompt, ToolPrompts

R = TypeVar("R")


class HasRooms(Protocol):
    """The rooms of an open gate."""

    def rooms(self) -> Mapping[str, Room]:
        """All open rooms, by name."""
        ...


def room_in(gate: HasRooms, name: str, kind: type[R]) -> R:
    """Return a room that a door requires.

    Raises:
        PartMissing: The room is not installed or is off; the message has the command that changes it.
    """
    room = gate.rooms().get(name)
    if isinstance(room, kind):
        return room
    manifest = manifests().get(name)
    raise room_unknown(name) if manifest is None else closed_room(manifest)


def close_rooms(rooms: Iterable[Room]) -> None:
    """Close every room, even if closing one of them fails."""
    with ExitStack() as stack:
        for room in rooms:
            stack.callback(room.close)


def wordings_of(rooms: Iterable[Room]) -> ToolPrompts:
    """Merge the rooms' tool descriptions for models."""
    wordings: dict[str, ToolPrompt] = {}
    for room in rooms:
        wordings |= room.wordings()
    return wordings


class RoomRecords(Mapping[str, Callable[[str], str | None]]):
    """Room records that replies may cite: prefix (`ticket`) → function that returns a record's text.

    It reads the rooms on each access, since rooms may open later.
    """

    def __init__(self, rooms: Mapping[str, Room]) -> None:
        self._rooms = rooms

    def __getitem__(self, prefix: str) -> Callable[[str], str | None]:
        """Return the function of one prefix."""
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
    """Recompute a figure with the first room that knows the query; None if none does."""
    values = (room.figure(query) for room in rooms.values())
    return next((value for value in values if value is not None), None)


def texts_by(rooms: Mapping[str, Room], agent_id: str, tool_id: str) -> Iterator[str]:
    """Yield texts that an agent wrote in the rooms other than by calls and that the tool may return."""
    for room in rooms.values():
        yield from room.texts_by(agent_id, tool_id)

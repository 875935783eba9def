"""What an installed room gives."""

from collections.abc import Iterable
from typing import Protocol

from tallystick.gate.tool import Tool
from tallystick.turns.wording import Wording, Wordings


class Room(Protocol):
    """What an installed room gives: its tools. The entry point is a function from the joined parts to a room."""

    name: str

    def tools(self) -> Iterable[Tool]:
        """The room's tools."""
        ...


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

"""What is read from a file, and where in it that stood."""

from typing import Any

from tallystick.records import record


@record
class Placed:
    """An event, with its place."""

    place: str
    """As `Left` has it."""
    event: dict[str, Any]


@record
class Left:
    """A row, a message or a ticket that was left out."""

    place: str
    """Where in the file: `row 7`, `message 3`, `ticket 35`."""
    reason: str
    """A fixed code."""


def whole(text: str) -> str:
    """A text that any encoding can hold: half a character is shown as what it is."""
    return text.encode("utf-8", "replace").decode()

"""An event read from a file, or a skipped item, with its position in the file."""

from typing import Any

from tallystick.records import record


@record
class FileEvent:
    """An event and its position in the file."""

    place: str
    """As `Left` has it."""
    event: dict[str, Any]


@record
class SkippedItem:
    """A row, message or ticket that was skipped."""

    place: str
    """Where in the file: `row 7`, `message 3`, `ticket 35`."""
    reason: str
    """A fixed code."""


def whole(text: str) -> str:
    """A text that any encoding can hold: half a character is shown as what it is."""
    return text.encode("utf-8", "replace").decode()

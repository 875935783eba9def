"""What of a book could not be read, told beside whatever was done with the rest."""

from typing import Any

from tallystick.doors.cli.kit import Screen
from tallystick.rooms.studio.cli.source import place_words


def tell_complaints(screen: Screen, found: dict[str, Any]) -> None:
    """Name each file, what is wrong with it, and whether the book is without it."""
    told = found["complaints"]
    for one in told:
        lacking = f"left out ({one['left_out']}): " if one["left_out"] else ""
        screen.note(f"{lacking}{place_words(one)}: {one['code']}: {one['message']}")
    if found["complaints_total"] > len(told):
        screen.note(f"and {found['complaints_total'] - len(told)} more of the kind")

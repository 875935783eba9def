"""The desk's pages."""

from tallystick.doors.web.kit import House
from tallystick.rooms.desk.web import pages


def register(context: House) -> tuple[str, ...]:
    """Make the pages; gives the first segments of their paths."""
    parts = (pages,)
    return tuple(path for part in parts for path in part.register(context))

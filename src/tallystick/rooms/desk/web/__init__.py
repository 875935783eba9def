"""The desk's pages."""

from tallystick.doors.web.kit import PageContext
from tallystick.rooms.desk.web import pages


def register(context: PageContext) -> tuple[str, ...]:
    """Register the pages and return the first segments of their paths."""
    parts = (pages,)
    return tuple(path for part in parts for path in part.register(context))

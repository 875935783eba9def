"""Memory's tables, on SQLite or PostgreSQL. The only modules of the room that use SQL.

This module imports no SQL toolkit, so that a caller can catch `StaleSnapshot` without loading one.
"""


class StaleSnapshot(Exception):  # noqa: N818 - a signal to retry, not an error
    """Another process has written the tables since this one read them."""

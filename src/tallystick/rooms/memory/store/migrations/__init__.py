"""The versions of memory's tables, as Alembic revisions in `versions/`."""

HEAD = "0008"
"""The last revision."""
SHARED = (
    "0002",
    "0006",
    "0007",
    "0008",
)
"""Revisions that databases made before 0.2 have in the one history that all rooms then shared."""

"""The versions of insight's tables, as Alembic revisions in `versions/`."""

HEAD = "0011"
"""The last revision."""
SHARED = (
    "0003",
    "0005",
)
"""Revisions that databases made before 0.2 have in the one history that all rooms then shared."""

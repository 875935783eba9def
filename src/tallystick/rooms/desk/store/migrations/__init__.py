"""The versions of desk's tables, as Alembic revisions in `versions/`."""

HEAD = "0004"
"""The last revision."""
SHARED = ("0004",)
"""Revisions that databases made before 0.2 have in the one history that all rooms then shared."""

"""The versions of the room's table."""

HEAD = "0001"
"""The last revision."""

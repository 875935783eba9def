"""Memory's tables, on SQLite or PostgreSQL. The only modules of the room that speak SQL."""

from tallystick.rooms.memory.store.rows import Store

__all__ = ["Store"]

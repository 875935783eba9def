"""Insight's tables, on SQLite or PostgreSQL; the only modules of the room with SQL.

Everything that can be large is streamed. A dataset counts once its last ticket is written: either all of a file is
there or nothing of it.
"""

from tallystick.rooms.insight.store.cells import Cells
from tallystick.rooms.insight.store.query_rows import QueryRows
from tallystick.rooms.insight.store.results import PromptsAndMappings, Results
from tallystick.rooms.insight.store.tickets import Tickets
from tallystick.rooms.insight.store.vectors import PgVectors, Vectors


class Store(Tickets, Cells, QueryRows, Vectors, PgVectors, Results, PromptsAndMappings):
    """Reads and writes the tables of one workspace."""

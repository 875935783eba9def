"""Insight's tables, on SQLite or PostgreSQL. The only modules of the room that speak SQL.

Everything that can be large is streamed. A dataset counts once its last ticket is written: either all of a file is
there or nothing of it.
"""

from tallystick.rooms.insight.store.dataset_writer import AlreadyStored, DatasetWriter, Sums
from tallystick.rooms.insight.store.near import NearVectors
from tallystick.rooms.insight.store.results import Results
from tallystick.rooms.insight.store.tickets import Tickets
from tallystick.rooms.insight.store.vectors import Vectors
from tallystick.rooms.insight.store.waiting import Waiting
from tallystick.rooms.insight.store.wording import Wording


class Store(Tickets, Vectors, NearVectors, Results, Wording):
    """Reads and writes the tables of one workspace."""


__all__ = ["AlreadyStored", "DatasetWriter", "Store", "Sums", "Waiting"]

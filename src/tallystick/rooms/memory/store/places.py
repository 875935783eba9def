"""Where the rows of a thing lie: by its id, the places of the log at which something was made of it.

The tables are in the order of the log, so what is new lies together. Ids are hashes: in their order each new one would
change another page, and with a million of them pages are what writing costs. So they are kept here alone, as numbers,
and in two tables. What is new comes into the small one; with each batch one slice of it moves into the large one,
where all of a slice then share a few pages.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from random import randrange
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from tallystick.rooms.memory.naming import number_in
from tallystick.rooms.memory.store.tables import FOUND, LATELY

SLICES = 16
"""Of all ids, moved one after the other. More of them: fewer pages change, and more ids lie in the small table."""
_BITS = 2
_WIDTH = 1 << (60 + _BITS)
OBSERVATION, PROPOSITION, TOUCHED = 0, 1, 2
"""What a place says: there an observation was made, or a proposition, or an edge or a change of a proposition."""
_SPACES = {"observations": OBSERVATION, "propositions": PROPOSITION}


def key_of(name: str, space: int) -> int:
    """What stands for an id here. Two may have the same: whoever reads compares what was found."""
    return number_in(name) << _BITS | space


def places_of(key: Any, *, several: bool) -> Any:
    """A query for the places of one key, or of several."""
    return sa.union_all(*(
        sa.select(table.c.seq).where(table.c.key.in_(key) if several else table.c.key == key)
        for table in (LATELY, FOUND)
    ))  # fmt: skip


def numbers_of(table: str) -> list[Any]:
    """Queries for the keys of all things of a table."""
    chosen = _SPACES[table]
    return [sa.select(kept.c.key).where(kept.c.key.bitwise_and((1 << _BITS) - 1) == chosen) for kept in (LATELY, FOUND)]


def number_behind(key: int) -> int:
    """The number of the id that a key stands for."""
    return key >> _BITS


def places_in(rows: Mapping[str, Sequence[tuple[Any, ...]]]) -> Collection[tuple[int, int]]:
    """Where the things of a batch lie, each key with its place."""
    found = {(key_of(row[1], OBSERVATION), row[0]) for row in rows["observations"]}
    found.update((key_of(row[1], PROPOSITION), row[0]) for row in rows["propositions"])
    found.update((key_of(row[1], TOUCHED), row[0]) for row in rows["edges"])
    found.update((key_of(row[2], TOUCHED), row[0]) for row in rows["transitions"])
    return found


class Mover:
    """Puts places into the tables. Which slice is next matters to nobody, so each process begins anywhere."""

    def __init__(self, *, sign: str) -> None:
        """Make the statements.

        Args:
            sign: What stands for a value in the driver's statements.
        """
        lately, found = LATELY.name, FOUND.name
        slice_ = f"key >= {sign} AND key < {sign}"
        self._add = f"INSERT INTO {lately} (key, seq) VALUES ({sign}, {sign}) ON CONFLICT DO NOTHING"  # noqa: S608 - constants
        self._copy = (
            f"INSERT INTO {found} (key, seq) SELECT key, seq FROM {lately} WHERE {slice_} ORDER BY key, seq"  # noqa: S608 - constants
            " ON CONFLICT DO NOTHING"
        )
        self._drop = f"DELETE FROM {lately} WHERE {slice_}"  # noqa: S608 - constants
        self._next = randrange(SLICES)  # noqa: S311 - no secret

    def put(self, connection: Connection, places: Iterable[tuple[int, int]]) -> None:
        """Keep places, and move what is next."""
        new = list(places)
        if new:
            connection.exec_driver_sql(self._add, new)
        step = _WIDTH // SLICES
        bounds = (self._next * step, (self._next + 1) * step)
        self._next = (self._next + 1) % SLICES
        connection.exec_driver_sql(self._copy, bounds)
        connection.exec_driver_sql(self._drop, bounds)

"""Statements on memory's tables, each compiled once, and the index from an id to the positions of its rows.

The tables are in the order of the log, so new rows lie together. Ids are hashes: an index in their order would change
another page for each new row, and with a million rows pages are what writing costs. So ids are kept as numbers in two
index tables. New ones go into the small one; with each batch one slice of it moves into the large one, where all ids of
a slice share a few pages.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from random import randrange
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Connection, Engine

from tallystick.rooms.memory.ids import number_in
from tallystick.rooms.memory.store.tables import (
    EDGES,
    OBSERVATIONS,
    PROPOSITIONS,
    RECENT_ROWS,
    RECORDS,
    ROW_INDEX,
    TRANSITIONS,
)

SLICES = 16
"""Of all ids, moved one after the other. More of them: fewer pages change, and more ids lie in the small table."""
_BITS = 2
_WIDTH = 1 << (60 + _BITS)
OBSERVATION, PROPOSITION, TOUCHED = 0, 1, 2
"""What a position holds: an observation, a proposition, or an edge or transition of a proposition."""
_SPACES = {"observations": OBSERVATION, "propositions": PROPOSITION}


def key_of(name: str, space: int) -> int:
    """Return the index key of an id. Two ids may share one, so readers compare what they find."""
    return number_in(name) << _BITS | space


def positions_of(key: Any, *, several: bool) -> Any:
    """Return a query for the positions of one key, or of several."""
    return sa.union_all(
        *(
            sa.select(table.c.seq).where(table.c.key.in_(key) if several else table.c.key == key)
            for table in (RECENT_ROWS, ROW_INDEX)
        )
    )


def numbers_of(table: str) -> list[Any]:
    """Queries for the keys of all things of a table."""
    chosen = _SPACES[table]
    return [
        sa.select(kept.c.key).where(kept.c.key.bitwise_and((1 << _BITS) - 1) == chosen)
        for kept in (RECENT_ROWS, ROW_INDEX)
    ]


def number_of_key(key: int) -> int:
    """Return the number of the id behind a key."""
    return key >> _BITS


def positions_in(rows: Mapping[str, Sequence[tuple[Any, ...]]]) -> Collection[tuple[int, int]]:
    """Return the index rows of a batch: each key with its position."""
    found = {(key_of(row[1], OBSERVATION), row[0]) for row in rows["observations"]}
    found.update((key_of(row[1], PROPOSITION), row[0]) for row in rows["propositions"])
    found.update((key_of(row[1], TOUCHED), row[0]) for row in rows["edges"])
    found.update((key_of(row[2], TOUCHED), row[0]) for row in rows["transitions"])
    return found


class RowIndexWriter:
    """Writes the row index. The order of slices does not matter, so each process begins at a random one."""

    def __init__(self, *, sign: str) -> None:
        """Make the statements.

        Args:
            sign: The driver's placeholder.
        """
        lately, found = RECENT_ROWS.name, ROW_INDEX.name
        slice_ = f"key >= {sign} AND key < {sign}"
        self._add = f"INSERT INTO {lately} (key, seq) VALUES ({sign}, {sign}) ON CONFLICT DO NOTHING"  # noqa: S608 - constants
        self._copy = (
            f"INSERT INTO {found} (key, seq) SELECT key, seq FROM {lately} WHERE {slice_} ORDER BY key, seq"  # noqa: S608 - constants
            " ON CONFLICT DO NOTHING"
        )
        self._drop = f"DELETE FROM {lately} WHERE {slice_}"  # noqa: S608 - constants
        self._next = randrange(SLICES)  # noqa: S311 - no secret

    def put(self, connection: Connection, places: Iterable[tuple[int, int]]) -> None:
        """Add positions, and move the next slice."""
        new = list(places)
        if new:
            connection.exec_driver_sql(self._add, new)
        step = _WIDTH // SLICES
        bounds = (self._next * step, (self._next + 1) * step)
        self._next = (self._next + 1) % SLICES
        connection.exec_driver_sql(self._copy, bounds)
        connection.exec_driver_sql(self._drop, bounds)


Span = tuple[int, int | None]
"""Events after the first of these, up to and with the second; None: to the end of the log."""


def _by_name(table: sa.Table, name: str, space: int) -> tuple[Any, Any, int]:
    """How the rows of a named thing are read, how those of several are, and what their keys are made with."""
    found = sa.select(table.c[name].label("id"), table.c.body)
    one: Any = sa.bindparam("key")
    several: Any = sa.bindparam("key", expanding=True)
    return (
        found.where(table.c.seq.in_(positions_of(one, several=False))),
        found.where(table.c.seq.in_(positions_of(several, several=True))),
        space,
    )


def _records(column: str) -> tuple[Any, Any]:
    found = sa.select(RECORDS.c.id, RECORDS.c.body).where(RECORDS.c.kind == sa.bindparam("kind"))
    chosen = RECORDS.c[column]
    return found.where(chosen == sa.bindparam("key")), found.where(chosen.in_(sa.bindparam("key", expanding=True)))


BY_ID = {
    "observations": _by_name(OBSERVATIONS, "id", OBSERVATION),
    "propositions": _by_name(PROPOSITIONS, "id", PROPOSITION),
}
EDGES_OF = _by_name(EDGES, "proposition_id", TOUCHED)
TRANSITIONS_OF = (
    sa.select(TRANSITIONS.c.body)
    .where(TRANSITIONS.c.seq.in_(positions_of(sa.bindparam("key"), several=False)))
    .where(TRANSITIONS.c.proposition_id == sa.bindparam("name"))
    .order_by(TRANSITIONS.c.seq, TRANSITIONS.c.place)
)
REPLACED = (
    sa.delete(EDGES)
    .where(EDGES.c.seq.in_(positions_of(sa.bindparam("key"), several=False)))
    .where(EDGES.c.proposition_id == sa.bindparam("proposition"))
    .where(EDGES.c.observation_id == sa.bindparam("observation"))
    .where(EDGES.c.stance == sa.bindparam("stance_"))
)
RECORDS_BY_ID, RECORDS_REFERRING = _records("id"), _records("ref")


def within(table: sa.Table, between: Span) -> list[sa.ColumnElement[bool]]:
    """Return the conditions for the rows of a span."""
    after, upto = between
    return [table.c.seq > after] if upto is None else [table.c.seq > after, table.c.seq <= upto]


def upsert(engine: Engine, table: sa.Table) -> str:
    """Return the driver's statement, for rows as tuples: the toolkit would double the cost of each row."""
    postgres = engine.dialect.name == "postgresql"
    kind: Any = postgresql.dialect if postgres else sqlite.dialect
    dialect = kind(paramstyle="format" if postgres else "qmark")
    made: Any = insert_on(engine)(table)
    keys = [column.name for column in table.primary_key]
    whole = made.on_conflict_do_update(
        index_elements=keys,
        set_={column.name: made.excluded[column.name] for column in table.columns if column.name not in keys},
    )
    return str(whole.compile(dialect=dialect))


def insert_on(engine: Engine) -> Any:
    """Return the insert of this database that supports `ON CONFLICT`."""
    return postgresql.insert if engine.dialect.name == "postgresql" else sqlite.insert

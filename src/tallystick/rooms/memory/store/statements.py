"""Statements on memory's tables, each made once: to put one together takes longer than to find a row with it."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Engine

from tallystick.rooms.memory.store.places import OBSERVATION, PROPOSITION, TOUCHED, places_of
from tallystick.rooms.memory.store.tables import EDGES, OBSERVATIONS, PROPOSITIONS, THINGS, TRANSITIONS

Span = tuple[int, int | None]
"""Events after the first of these, up to and with the second; None: to the end of the log."""


def _by_name(table: sa.Table, name: str, space: int) -> tuple[Any, Any, int]:
    """How the rows of a named thing are read, how those of several are, and what their keys are made with."""
    found = sa.select(table.c[name].label("id"), table.c.body)
    one: Any = sa.bindparam("key")
    several: Any = sa.bindparam("key", expanding=True)
    return (
        found.where(table.c.seq.in_(places_of(one, several=False))),
        found.where(table.c.seq.in_(places_of(several, several=True))),
        space,
    )


def _things(column: str) -> tuple[Any, Any]:
    found = sa.select(THINGS.c.id, THINGS.c.body).where(THINGS.c.kind == sa.bindparam("kind"))
    chosen = THINGS.c[column]
    return found.where(chosen == sa.bindparam("key")), found.where(chosen.in_(sa.bindparam("key", expanding=True)))


BY_ID = {
    "observations": _by_name(OBSERVATIONS, "id", OBSERVATION),
    "propositions": _by_name(PROPOSITIONS, "id", PROPOSITION),
}
EDGES_OF = _by_name(EDGES, "proposition_id", TOUCHED)
TRANSITIONS_OF = (
    sa.select(TRANSITIONS.c.body)
    .where(TRANSITIONS.c.seq.in_(places_of(sa.bindparam("key"), several=False)))
    .where(TRANSITIONS.c.proposition_id == sa.bindparam("name"))
    .order_by(TRANSITIONS.c.seq, TRANSITIONS.c.place)
)
REPLACED = (
    sa.delete(EDGES)
    .where(EDGES.c.seq.in_(places_of(sa.bindparam("key"), several=False)))
    .where(EDGES.c.proposition_id == sa.bindparam("proposition"))
    .where(EDGES.c.observation_id == sa.bindparam("observation"))
    .where(EDGES.c.stance == sa.bindparam("stance_"))
)
THINGS_BY_ID, THINGS_REFERRING = _things("id"), _things("ref")


def within(table: sa.Table, between: Span) -> list[sa.ColumnElement[bool]]:
    """What the rows of a span have in common."""
    after, upto = between
    return [table.c.seq > after] if upto is None else [table.c.seq > after, table.c.seq <= upto]


def upsert(engine: Engine, table: sa.Table) -> str:
    """The statement as the driver takes it, for rows as tuples: through the toolkit each row costs as much again."""
    postgres = engine.dialect.name == "postgresql"
    kind: Any = postgresql.dialect if postgres else sqlite.dialect
    dialect = kind(paramstyle="format" if postgres else "qmark")
    made: Any = inserting(engine)(table)
    keys = [column.name for column in table.primary_key]
    whole = made.on_conflict_do_update(
        index_elements=keys,
        set_={column.name: made.excluded[column.name] for column in table.columns if column.name not in keys},
    )
    return str(whole.compile(dialect=dialect))


def inserting(engine: Engine) -> Any:
    """How a row is put in on this database, with a way out where it is there already."""
    return postgresql.insert if engine.dialect.name == "postgresql" else sqlite.insert

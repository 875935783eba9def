"""Vectors where PostgreSQL can rank them itself: a copy in pgvector's own form, with an HNSW index for each set.

The copy is made when a set is prepared for searching and carries the stamp it was made at; who finds another stamp
there asks elsewhere. A server without the extension has no such tables.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property
from hashlib import sha256
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection
from sqlalchemy.exc import SQLAlchemyError

from tallystick.rooms.insight.nouns import Where
from tallystick.rooms.insight.store.tables import Tables
from tallystick.storage.database import writing

OLDEST = (0, 8)
"""From this version on an index is read further until enough rows pass the filters."""
MOST_NUMBERS = 2_000
"""Its index takes no longer vectors."""
_SEARCHING = ("hnsw.ef_search = 400", "hnsw.iterative_scan = strict_order", "hnsw.max_scan_tuples = 200000")
"""Rows kept in view while the index is searched; and it is read on until enough rows pass the filters."""
_ROWS = """CREATE TABLE IF NOT EXISTS tally_insight_near (
    set_key text NOT NULL, ticket_id integer NOT NULL, department text, product text, vector vector NOT NULL,
    PRIMARY KEY (set_key, ticket_id))"""
_SETS = """CREATE TABLE IF NOT EXISTS tally_insight_near_sets (
    set_key text PRIMARY KEY, stamp integer NOT NULL, many integer NOT NULL, mean bytea NOT NULL)"""
NearRow = tuple[int, str | None, str | None, str]
"""Ticket, department, product, the vector as `[0.1,…]`."""


class NearVectors(Tables):
    """Ranking by the database."""

    @cached_property
    def ranks(self) -> bool:
        """Whether the database can do it."""
        if not self.postgres:
            return False
        try:
            with writing(self.engine) as connection:
                offered = connection.execute(
                    sa.text("SELECT default_version FROM pg_available_extensions WHERE name = 'vector'")
                ).scalar()
                if offered is None:
                    return False
                connection.execute(sa.text("CREATE EXTENSION IF NOT EXISTS vector"))
                there = sa.text("SELECT extversion FROM pg_extension WHERE extname = 'vector'")
                version = str(connection.execute(there).scalar_one())
                for table in (_ROWS, _SETS):
                    connection.execute(sa.text(table))
        except SQLAlchemyError:
            # Not everybody may add an extension; the vectors are then ranked here.
            return False
        return tuple(int(part) for part in version.split(".")[:2]) >= OLDEST

    def near_set(self, dataset_id: int, model_name: str) -> tuple[int, int, bytes] | None:
        """(stamp, count, mean) of the copy; None: there is none."""
        query = sa.text("SELECT stamp, many, mean FROM tally_insight_near_sets WHERE set_key = :key")
        rows = self.rows(query.bindparams(key=_key(dataset_id, model_name)))
        return (int(rows[0].stamp), int(rows[0].many), bytes(rows[0].mean)) if rows else None

    def put_near(
        self, dataset_id: int, model_name: str, rows: Iterable[Sequence[NearRow]], *, stamp: int, mean: bytes, dim: int
    ) -> None:
        """Make the copy anew, all of it or nothing."""
        key, count = _key(dataset_id, model_name), 0
        with writing(self.engine) as connection:
            for table in ("tally_insight_near", "tally_insight_near_sets"):
                connection.execute(sa.text(f"DELETE FROM {table} WHERE set_key = :key"), {"key": key})  # noqa: S608 - constants
            for chunk in rows:
                _insert(connection, key, chunk)
                count += len(chunk)
            # Names and numbers that are ours: an index's condition takes no parameters.
            name = f"tally_near_{sha256(key.encode()).hexdigest()[:16]}_{dim}"
            connection.execute(
                sa.text(
                    f"CREATE INDEX IF NOT EXISTS {name} ON tally_insight_near "
                    f"USING hnsw ((vector::vector({dim})) vector_cosine_ops) WHERE set_key = '{key}'"
                )
            )
            insert = (
                "INSERT INTO tally_insight_near_sets (set_key, stamp, many, mean) VALUES (:key, :stamp, :many, :mean)"
            )
            connection.execute(sa.text(insert), {"key": key, "stamp": stamp, "many": count, "mean": mean})

    def rank(
        self, dataset_id: int, model_name: str, query: str, k: int, where: Where, *, dim: int, exact: bool = False
    ) -> list[int]:
        """Tickets that are near, about the nearest first; `exact` compares all that are meant."""
        key = _key(dataset_id, model_name)
        conditions, given = _meant(where)
        with self.engine.connect() as connection:
            for setting in ("enable_indexscan = off",) if exact else _SEARCHING:
                connection.execute(sa.text(f"SET LOCAL {setting}"))
            # Written out: an index with a condition is not chosen for a parameter.
            found = connection.execute(
                sa.text(
                    f"SELECT ticket_id FROM tally_insight_near WHERE set_key = '{key}'{conditions} "  # noqa: S608 - ours
                    f"ORDER BY (vector::vector({dim})) <=> CAST(:query AS vector({dim})) LIMIT :k"
                ),
                {**given, "query": query, "k": k},
            ).all()
        return [int(row.ticket_id) for row in found]


def _meant(where: Where) -> tuple[str, dict[str, Any]]:
    """The filters as conditions, and what they are given."""
    chosen = {column: list(names) for column in ("department", "product") if (names := getattr(where, column))}
    return "".join(f" AND {column} = ANY(:{column})" for column in chosen), chosen


def _insert(connection: Connection, key: str, rows: Sequence[NearRow]) -> None:
    values = [
        {"key": key, "ticket_id": ticket, "department": department, "product": product, "vector": vector}
        for ticket, department, product, vector in rows
    ]
    insert = (
        "INSERT INTO tally_insight_near (set_key, ticket_id, department, product, vector) "
        "VALUES (:key, :ticket_id, :department, :product, CAST(:vector AS vector))"
    )
    connection.execute(sa.text(insert), values)


def _key(dataset_id: int, model_name: str) -> str:
    """A set's name; nothing of what others wrote stands in it."""
    return f"{dataset_id}-{sha256(model_name.encode()).hexdigest()[:16]}"

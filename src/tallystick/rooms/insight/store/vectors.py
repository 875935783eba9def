"""One vector for each ticket and model."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from hashlib import sha256
from typing import Any

import orjson
import sqlalchemy as sa
from sqlalchemy.engine import Connection
from sqlalchemy.exc import SQLAlchemyError

from tallystick.rooms.insight.model import Ticket, Where
from tallystick.rooms.insight.store.tables import BATCH, MAX_ID, TICKETS, VECTOR_SETS, VECTORS, Tables
from tallystick.rooms.insight.store.tickets import ticket_of
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


class PgVectors(Tables):
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


CHUNK = BATCH * 10
"""Vectors read at once: small beside all of them, large beside what a question costs."""


class Vectors(Tables):
    """Vectors."""

    def without_vector(self, dataset_id: int, model_name: str, *, after: int = 0, limit: int = BATCH) -> list[Ticket]:
        """Tickets that have no vector of this model yet."""
        query = sa.select(TICKETS).where(*_unembedded(dataset_id, model_name), TICKETS.c.id > after)
        return [ticket_of(row) for row in self.rows(query.order_by(TICKETS.c.id).limit(limit))]

    def texts_without_vector(
        self, dataset_id: int, model_name: str, *, after: int = 0, limit: int = BATCH
    ) -> list[tuple[int, str, str | None]]:
        """(ticket, text, summary) of the same; a million tickets need not be read whole for that."""
        c = TICKETS.c
        query = sa.select(c.id, c.body).where(*_unembedded(dataset_id, model_name), c.id > after)
        bodies = [(row.id, orjson.loads(row.body)) for row in self.rows(query.order_by(c.id).limit(limit))]
        return [(ticket_id, body["text"], body.get("summary")) for ticket_id, body in bodies]

    def count_without_vector(self, dataset_id: int, model_name: str) -> int:
        """How many there are."""
        query = sa.select(sa.func.count()).select_from(TICKETS).where(*_unembedded(dataset_id, model_name))
        return int(self.rows(query)[0][0])

    def put_vectors(self, dataset_id: int, model_name: str, vectors: Iterable[tuple[int, bytes]]) -> None:
        """Write vectors (float32, little-endian); again for the same ticket replaces it."""
        rows = [
            {"dataset_id": dataset_id, "model_name": model_name, "ticket_id": ticket_id, "vector": vector}
            for ticket_id, vector in vectors
        ]
        if not rows:
            return
        insert = self.insert(VECTORS)
        upsert = insert.on_conflict_do_update(
            index_elements=["dataset_id", "model_name", "ticket_id"], set_={"vector": insert.excluded.vector}
        )
        first = self.insert(VECTOR_SETS).values(dataset_id=dataset_id, model_name=model_name, stamp=1)
        stamped = first.on_conflict_do_update(
            index_elements=["dataset_id", "model_name"], set_={"stamp": VECTOR_SETS.c.stamp + 1}
        )
        with writing(self.engine) as connection:
            connection.execute(upsert, rows)
            connection.execute(stamped)

    def vectors(self, dataset_id: int, model_name: str) -> Iterator[Sequence[tuple[int, bytes]]]:
        """All vectors by ticket id, in chunks."""
        after = 0
        while True:
            mine = (VECTORS.c.dataset_id == dataset_id, VECTORS.c.model_name == model_name)
            query = sa.select(VECTORS.c.ticket_id, VECTORS.c.vector).where(*mine, VECTORS.c.ticket_id > after)
            rows = self.rows(query.order_by(VECTORS.c.ticket_id).limit(CHUNK))
            if rows:
                yield [(row.ticket_id, row.vector) for row in rows]
            if len(rows) < CHUNK:
                return
            after = rows[-1].ticket_id

    def vectors_of(self, dataset_id: int, model_name: str, ticket_ids: Sequence[int]) -> dict[int, bytes]:
        """The vectors of some tickets."""
        c = VECTORS.c
        query = sa.select(c.ticket_id, c.vector).where(c.dataset_id == dataset_id, c.model_name == model_name)
        found: dict[int, bytes] = {}
        for start in range(0, len(ticket_ids), BATCH):
            some = query.where(c.ticket_id.in_(ticket_ids[start : start + BATCH]))
            found.update((row.ticket_id, row.vector) for row in self.rows(some))
        return found

    def kinds(self, dataset_id: int, model_name: str) -> Iterator[Sequence[tuple[int, str | None, str | None]]]:
        """(ticket, department, product) of all that have a vector, by ticket id, in chunks."""
        after, c = 0, TICKETS.c
        has = sa.and_(
            VECTORS.c.dataset_id == dataset_id, VECTORS.c.model_name == model_name, VECTORS.c.ticket_id == c.id
        )
        while True:
            query = sa.select(c.id, c.department, c.product).where(c.dataset_id == dataset_id, c.id > after)
            rows = self.rows(query.where(sa.exists().where(has)).order_by(c.id).limit(CHUNK))
            if rows:
                yield [(row.id, row.department, row.product) for row in rows]
            if len(rows) < CHUNK:
                return
            after = rows[-1].id

    def vector_stamps(self, dataset_id: int) -> dict[str, int]:
        """Model → how often its vectors were written; a question that costs next to nothing."""
        if dataset_id > MAX_ID:
            return {}
        query = sa.select(VECTOR_SETS).where(VECTOR_SETS.c.dataset_id == dataset_id)
        return {row.model_name: row.stamp for row in self.rows(query)}

    def vector_stand(self, dataset_id: int) -> dict[str, tuple[int, int]]:
        """Model → how many vectors there are, and the largest ticket id."""
        c = VECTORS.c
        query = sa.select(c.model_name, sa.func.count().label("many"), sa.func.max(c.ticket_id).label("last")).where(
            c.dataset_id == dataset_id
        )
        return {row.model_name: (int(row.many), int(row.last)) for row in self.rows(query.group_by(c.model_name))}


def _unembedded(dataset_id: int, model_name: str) -> tuple[sa.ColumnElement[bool], ...]:
    has = sa.and_(
        VECTORS.c.dataset_id == dataset_id, VECTORS.c.model_name == model_name, VECTORS.c.ticket_id == TICKETS.c.id
    )
    return TICKETS.c.dataset_id == dataset_id, ~sa.exists().where(has)


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
    """The name of a set; it contains no user input."""
    return f"{dataset_id}-{sha256(model_name.encode()).hexdigest()[:16]}"

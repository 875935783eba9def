"""One vector for each ticket and model."""

from collections.abc import Iterable, Iterator, Sequence

import orjson
import sqlalchemy as sa

from tallystick.rooms.insight.nouns import Ticket
from tallystick.rooms.insight.store.tables import BATCH, MAX_ID, TICKETS, VECTOR_SETS, VECTORS, Tables
from tallystick.rooms.insight.store.tickets import ticket_of
from tallystick.storage.database import writing

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

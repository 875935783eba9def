"""One vector for each ticket and model."""

from collections.abc import Iterable, Iterator, Sequence

import sqlalchemy as sa

from tallystick.rooms.insight.nouns import Ticket
from tallystick.rooms.insight.store.tables import BATCH, TICKETS, VECTORS, Tables
from tallystick.rooms.insight.store.tickets import ticket_of
from tallystick.storage.database import writing


class Vectors(Tables):
    """Vectors."""

    def without_vector(self, dataset_id: int, model_name: str, *, after: int = 0, limit: int = BATCH) -> list[Ticket]:
        """Tickets that have no vector of this model yet."""
        has = sa.and_(
            VECTORS.c.dataset_id == dataset_id, VECTORS.c.model_name == model_name,
            VECTORS.c.ticket_id == TICKETS.c.id,
        )  # fmt: skip
        query = sa.select(TICKETS).where(TICKETS.c.dataset_id == dataset_id, TICKETS.c.id > after)
        query = query.where(~sa.exists().where(has)).order_by(TICKETS.c.id).limit(limit)
        return [ticket_of(row) for row in self.rows(query)]

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
        with writing(self.engine) as connection:
            connection.execute(upsert, rows)

    def vectors(self, dataset_id: int, model_name: str) -> Iterator[Sequence[tuple[int, bytes]]]:
        """All vectors by ticket id, in chunks."""
        after = 0
        while True:
            mine = (VECTORS.c.dataset_id == dataset_id, VECTORS.c.model_name == model_name)
            query = sa.select(VECTORS.c.ticket_id, VECTORS.c.vector).where(*mine, VECTORS.c.ticket_id > after)
            rows = self.rows(query.order_by(VECTORS.c.ticket_id).limit(BATCH * 10))
            if rows:
                yield [(row.ticket_id, row.vector) for row in rows]
            if len(rows) < BATCH * 10:
                return
            after = rows[-1].ticket_id

    def vector_stand(self, dataset_id: int) -> dict[str, tuple[int, int]]:
        """Model → how many vectors there are, and the largest ticket id: changes when vectors are added."""
        c = VECTORS.c
        query = sa.select(c.model_name, sa.func.count().label("many"), sa.func.max(c.ticket_id).label("last")).where(
            c.dataset_id == dataset_id
        )
        return {row.model_name: (int(row.many), int(row.last)) for row in self.rows(query.group_by(c.model_name))}

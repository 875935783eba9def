"""Tables of datasets and tickets: written atomically, read as a stream."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import orjson
import sqlalchemy as sa
from sqlalchemy.engine import Row

from tallystick.rooms.insight.model import EVERYWHERE, Dataset, NewTicket, Ticket, Where
from tallystick.rooms.insight.store.dataset_writer import DatasetWriter, dataset_writer
from tallystick.rooms.insight.store.tables import BATCH, DATASETS, MAX_ID, TICKETS, UNFINISHED, Tables, dataset_of

_FINISHED = DATASETS.c.row_count != UNFINISHED


class Tickets(Tables):
    """Datasets and tickets."""

    def write_dataset(
        self, name: str, file_hash: str, mapping: Mapping[str, str], created_at: int
    ) -> AbstractContextManager[DatasetWriter]:
        """Write a dataset; see `dataset_writer`."""
        return dataset_writer(self.engine, name, file_hash, mapping, created_at)

    def datasets(self) -> list[Dataset]:
        """All of them, oldest first."""
        return [dataset_of(row) for row in self.rows(sa.select(DATASETS).where(_FINISHED).order_by(DATASETS.c.id))]

    def dataset(self, dataset_id: int) -> Dataset | None:
        """One of them."""
        if dataset_id > MAX_ID:
            return None
        rows = self.rows(sa.select(DATASETS).where(DATASETS.c.id == dataset_id, _FINISHED))
        return dataset_of(rows[0]) if rows else None

    def dataset_by_hash(self, file_hash: str) -> Dataset | None:
        """The one that a file became."""
        rows = self.rows(sa.select(DATASETS).where(DATASETS.c.file_hash == file_hash))
        return dataset_of(rows[0]) if rows else None

    def tickets(self, dataset_id: int, where: Where = EVERYWHERE) -> Iterator[Ticket]:
        """Tickets in the order of the file, streamed."""
        after = 0
        while True:
            query = sa.select(TICKETS).where(*_where(dataset_id, where), TICKETS.c.id > after)
            rows = self.rows(query.order_by(TICKETS.c.id).limit(BATCH))
            yield from map(ticket_of, rows)
            if len(rows) < BATCH:
                return
            after = rows[-1].id

    def ticket(self, ticket_id: int) -> Ticket | None:
        """One ticket."""
        if ticket_id > MAX_ID:
            return None
        of_finished = TICKETS.c.dataset_id.in_(sa.select(DATASETS.c.id).where(_FINISHED))
        rows = self.rows(sa.select(TICKETS).where(TICKETS.c.id == ticket_id, of_finished))
        return ticket_of(rows[0]) if rows else None

    def tickets_of(self, ticket_ids: Sequence[int]) -> dict[int, Ticket]:
        """Some tickets, by id."""
        found: dict[int, Ticket] = {}
        for start in range(0, len(ticket_ids), BATCH):
            query = sa.select(TICKETS).where(TICKETS.c.id.in_(ticket_ids[start : start + BATCH]))
            found.update((row.id, ticket_of(row)) for row in self.rows(query))
        return found

    def count(self, dataset_id: int, where: Where = EVERYWHERE) -> int:
        """How many tickets are meant."""
        query = sa.select(sa.func.count()).select_from(TICKETS).where(*_where(dataset_id, where))
        return int(self.rows(query)[0][0])

    def ticket_ids(self, dataset_id: int, where: Where = EVERYWHERE) -> list[int]:
        """Their ids, in order."""
        query = sa.select(TICKETS.c.id).where(*_where(dataset_id, where)).order_by(TICKETS.c.id)
        return [row.id for row in self.rows(query)]


def ticket_of(row: Row[Any]) -> Ticket:
    """A row of the table, read."""
    body = orjson.loads(row.body)
    said = NewTicket(
        external_id=body.pop("external_id", None),
        text=body.pop("text"),
        created_at=row.created_at,
        department=row.department,
        product=row.product,
        category=row.category,
        **body,
    )
    return Ticket(ticket_id=row.id, dataset_id=row.dataset_id, said=said)


def _where(dataset_id: int, where: Where) -> list[Any]:
    c = TICKETS.c
    wanted: list[Any] = [c.dataset_id == dataset_id]
    for name in ("department", "product", "category"):
        values = getattr(where, name)
        if values:
            wanted.append(c[name].in_(values))
    if where.since is not None:
        wanted.append(c.created_at >= where.since)
    if where.until is not None:
        wanted.append(c.created_at < where.until)
    if where.ids:
        wanted.append(c.id.in_(where.ids))
    return wanted

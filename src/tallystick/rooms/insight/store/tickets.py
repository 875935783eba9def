"""Datasets and their tickets: written all or nothing, read as a stream."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any

import orjson
import sqlalchemy as sa
from sqlalchemy.engine import Connection, Row
from sqlalchemy.exc import IntegrityError

from tallystick.records import record
from tallystick.rooms.insight.nouns import EVERYWHERE, BadRow, Dataset, NewTicket, Ticket, Where
from tallystick.rooms.insight.store.tables import BATCH, DATASETS, MAX_ID, TICKETS, Tables
from tallystick.rooms.insight.store.waiting import COLUMNS, Waiting, body_of
from tallystick.storage.database import writing


class AlreadyStored(Exception):  # noqa: N818 - reads as what it is
    """Another process stored the same file in the meantime."""


@record
class Sums:
    """What is known of a file once its last row was read."""

    row_count: int
    department_count: int
    bad_row_count: int
    bad_rows: tuple[BadRow, ...]


class Tickets(Tables):
    """Datasets and tickets."""

    @contextmanager
    def adding(self, name: str, file_hash: str, mapping: Mapping[str, str], created_at: int) -> Iterator["Adding"]:
        """Write a dataset: `add` tickets, then `finish`; left without that, nothing is stored.

        Raises:
            AlreadyStored: There is a dataset of this file.
        """
        with writing(self.engine) as connection:
            adding = Adding(connection, name, file_hash, mapping, created_at)
            yield adding
            if adding.dataset is None:
                # Somebody thought better of it.
                connection.rollback()

    def datasets(self) -> list[Dataset]:
        """All of them, oldest first."""
        return [_dataset(row) for row in self.rows(sa.select(DATASETS).order_by(DATASETS.c.id))]

    def dataset(self, dataset_id: int) -> Dataset | None:
        """One of them."""
        if dataset_id > MAX_ID:
            return None
        rows = self.rows(sa.select(DATASETS).where(DATASETS.c.id == dataset_id))
        return _dataset(rows[0]) if rows else None

    def dataset_by_hash(self, file_hash: str) -> Dataset | None:
        """The one that a file became."""
        rows = self.rows(sa.select(DATASETS).where(DATASETS.c.file_hash == file_hash))
        return _dataset(rows[0]) if rows else None

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
        rows = self.rows(sa.select(TICKETS).where(TICKETS.c.id == ticket_id))
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


class Adding:
    """A dataset that is being written, inside its transaction."""

    def __init__(
        self, connection: Connection, name: str, file_hash: str, mapping: Mapping[str, str], created_at: int
    ) -> None:
        self._connection = connection
        self._mapping = mapping
        self.dataset: Dataset | None = None
        values = {
            "name": name, "file_hash": file_hash, "row_count": 0, "department_count": 0, "created_at": created_at,
            "body": b"{}",
        }  # fmt: skip
        insert = sa.insert(DATASETS).values(**values).returning(DATASETS.c.id)
        try:
            self.dataset_id = int(connection.execute(insert).scalar_one())
        except IntegrityError:
            raise AlreadyStored from None

    def add(self, tickets: Sequence[NewTicket]) -> None:
        """Write some tickets."""
        if tickets:
            self._connection.execute(sa.insert(TICKETS), [_row(self.dataset_id, ticket) for ticket in tickets])

    def add_waiting(self, waiting: Waiting) -> None:
        """Write all that waits."""
        batches = waiting.batches(self.dataset_id)
        if self._connection.dialect.name == "postgresql":
            # Six times as fast as statements; within the same transaction.
            cursor: Any = self._connection.connection.cursor()
            with cursor, cursor.copy(_COPY) as copy:
                for row in chain.from_iterable(batches):
                    copy.write_row([row[name] for name in _COPIED])
            return
        for rows in batches:
            self._connection.execute(sa.insert(TICKETS), rows)

    def finish(self, sums: Sums) -> Dataset:
        """Say what the file came to; with this it counts."""
        body = {
            "mapping": dict(self._mapping), "bad_row_count": sums.bad_row_count,
            "bad_rows": [[bad.line, bad.reason, bad.detail] for bad in sums.bad_rows],
        }  # fmt: skip
        values = {"row_count": sums.row_count, "department_count": sums.department_count, "body": orjson.dumps(body)}
        self._connection.execute(sa.update(DATASETS).where(DATASETS.c.id == self.dataset_id).values(**values))
        row = self._connection.execute(sa.select(DATASETS).where(DATASETS.c.id == self.dataset_id)).one()
        self.dataset = _dataset(row)
        return self.dataset


_COPIED = ("dataset_id", *COLUMNS, "body")
_COPY = f"COPY {TICKETS.name} ({', '.join(_COPIED)}) FROM STDIN"


def _row(dataset_id: int, ticket: NewTicket) -> dict[str, Any]:
    return {
        "dataset_id": dataset_id, "body": body_of(ticket), **{name: getattr(ticket, name) for name in COLUMNS}
    }  # fmt: skip


def ticket_of(row: Row[Any]) -> Ticket:
    """A row of the table, read."""
    body = orjson.loads(row.body)
    said = NewTicket(
        external_id=body.pop("external_id", None), text=body.pop("text"), created_at=row.created_at,
        department=row.department, product=row.product, category=row.category, **body,
    )  # fmt: skip
    return Ticket(ticket_id=row.id, dataset_id=row.dataset_id, said=said)


def _dataset(row: Row[Any]) -> Dataset:
    body = orjson.loads(row.body)
    return Dataset(
        dataset_id=row.id, name=row.name, file_hash=row.file_hash, row_count=row.row_count,
        department_count=row.department_count, created_at=row.created_at, mapping=body.get("mapping", {}),
        bad_row_count=body.get("bad_row_count", 0),
        bad_rows=tuple(BadRow(line=line, reason=why, detail=more) for line, why, more in body.get("bad_rows", ())),
    )  # fmt: skip


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

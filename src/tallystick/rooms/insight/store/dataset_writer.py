"""Writes a dataset in many short transactions; it becomes visible with the last.

One long transaction would keep every other writer of a SQLite workspace waiting. So the dataset's row comes first,
marked as unfinished, its tickets follow batch by batch, and the last transaction gives it its hash and counts. What
was left behind by a process that died is removed by the next import.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from tempfile import SpooledTemporaryFile
from types import TracebackType
from typing import Any

import orjson
import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.exc import IntegrityError

from tallystick.records import record
from tallystick.rooms.insight.model import BadRow, Dataset, NewTicket
from tallystick.rooms.insight.store.tables import BATCH, DATASETS, TICKETS, UNFINISHED, dataset_of
from tallystick.storage.database import writing

IN_MEMORY = 16 * 1024 * 1024
"""Small files never touch the disk on their way."""
BATCH_BYTES = 2 * 1024 * 1024
"""Written in one transaction at most: some tens of milliseconds."""
COLUMNS = ("created_at", "department", "product", "category")
"""Fields that tickets are filtered by have columns; the rest is in the body."""
BODY = (
    "external_id",
    "text",
    "summary",
    "priority",
    "status",
    "customer",
    "resolution",
    "resolved_at",
    "reassignments",
    "extra",
)


class RowBuffer:
    """Buffers rows in a temporary file that is deleted on exit."""

    def __init__(self) -> None:
        self._file = SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115 - closed on leaving
        self.size = 0
        """Bytes that wait."""

    def __enter__(self) -> "RowBuffer":
        """Begin."""
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _at: TracebackType | None
    ) -> None:
        """Nothing stays."""
        self._file.close()

    def add(self, ticket: NewTicket) -> None:
        """One more."""
        row = [getattr(ticket, name) for name in COLUMNS]
        self.size += self._file.write(orjson.dumps([*row, body_of(ticket).decode()], option=orjson.OPT_APPEND_NEWLINE))

    def batches(self, dataset_id: int) -> Iterator[list[dict[str, Any]]]:
        """All of them as rows of the table, in batches that one short transaction writes."""
        self._file.seek(0)
        rows: list[dict[str, Any]] = []
        size = 0
        for line in self._file:
            created_at, department, product, category, body = orjson.loads(line)
            rows.append(
                {
                    "dataset_id": dataset_id,
                    "created_at": created_at,
                    "department": department,
                    "product": product,
                    "category": category,
                    "body": body.encode(),
                }
            )
            size += len(line)
            if len(rows) == BATCH or size >= BATCH_BYTES:
                yield rows
                rows, size = [], 0
        if rows:
            yield rows


ABANDONED_S = 2 * 3600
"""An unfinished dataset of this age has no writer any more: a call that takes a file ends after an hour."""
LONGEST_PAUSE_S = 0.1
"""Between two batches, for other writers: as long as the batch took, up to this. SQLite's waiters ask that often."""
REMOVED_AT_ONCE = 200
_COPIED = ("dataset_id", *COLUMNS, "body")
_COPY = f"COPY {TICKETS.name} ({', '.join(_COPIED)}) FROM STDIN"


class AlreadyStored(Exception):  # noqa: N818 - reads as what it is
    """Another process stored the same file in the meantime."""


@record
class ImportTotals:
    """Totals of an import, known after its last row."""

    row_count: int
    department_count: int
    bad_row_count: int
    bad_rows: tuple[BadRow, ...]


@contextmanager
def dataset_writer(
    engine: Engine, name: str, file_hash: str, mapping: Mapping[str, str], created_at: int
) -> Iterator["DatasetWriter"]:
    """Write a dataset: `add` tickets, then `finish`; left without that, nothing is stored.

    Raises:
        AlreadyStored: There is a dataset of this file.
    """
    _remove_abandoned(engine, created_at - ABANDONED_S)
    begun = DatasetWriter(engine, name, file_hash, mapping, created_at)
    try:
        yield begun
    finally:
        if begun.dataset is None:
            _remove(engine, begun.dataset_id)


class DatasetWriter:
    """Writes one dataset."""

    def __init__(self, engine: Engine, name: str, file_hash: str, mapping: Mapping[str, str], created_at: int) -> None:
        self._engine, self._file_hash, self._mapping = engine, file_hash, mapping
        self._postgres = engine.dialect.name == "postgresql"
        self._pause_s = 0.0
        self.dataset: Dataset | None = None
        # Unique until it is finished: two processes may take the same file at once.
        token: Any = sa.func.hex(sa.func.randomblob(16))
        if self._postgres:
            token = sa.cast(sa.func.gen_random_uuid(), sa.String)
        values = {
            "name": name,
            "file_hash": token,
            "row_count": UNFINISHED,
            "department_count": 0,
            "created_at": created_at,
            "body": b"{}",
        }
        with writing(engine) as connection:
            known = sa.select(DATASETS.c.id).where(DATASETS.c.file_hash == file_hash)
            if connection.execute(known).first() is not None:
                raise AlreadyStored
            insert = sa.insert(DATASETS).values(**values).returning(DATASETS.c.id)
            self.dataset_id = int(connection.execute(insert).scalar_one())

    def add(self, tickets: Sequence[NewTicket]) -> None:
        """Write some tickets."""
        if tickets:
            self._write([_row(self.dataset_id, ticket) for ticket in tickets])

    def add_waiting(self, waiting: RowBuffer) -> None:
        """Write all that waits."""
        for rows in waiting.batches(self.dataset_id):
            self._write(rows)

    def finish(self, sums: ImportTotals) -> Dataset:
        """Store the totals and make the dataset visible.

        Raises:
            AlreadyStored: Another process was faster.
        """
        body = {
            "mapping": dict(self._mapping),
            "bad_row_count": sums.bad_row_count,
            "bad_rows": [[bad.line, bad.reason, bad.detail] for bad in sums.bad_rows],
        }
        values = {
            "file_hash": self._file_hash,
            "row_count": sums.row_count,
            "department_count": sums.department_count,
            "body": orjson.dumps(body),
        }
        mine = DATASETS.c.id == self.dataset_id
        try:
            with writing(self._engine) as connection:
                connection.execute(sa.update(DATASETS).where(mine).values(**values))
                row = connection.execute(sa.select(DATASETS).where(mine)).one()
        except IntegrityError:
            raise AlreadyStored from None
        self.dataset = dataset_of(row)
        return self.dataset

    def _write(self, rows: list[dict[str, Any]]) -> None:
        """One batch in a transaction of its own, after a pause in which other writers get their turn."""
        time.sleep(self._pause_s)
        begun = time.monotonic()
        with writing(self._engine) as connection:
            (_copy if self._postgres else _insert)(connection, rows)
        self._pause_s = 0.0 if self._postgres else min(LONGEST_PAUSE_S, time.monotonic() - begun)


def _insert(connection: Connection, rows: list[dict[str, Any]]) -> None:
    connection.execute(sa.insert(TICKETS), rows)


def _copy(connection: Connection, rows: list[dict[str, Any]]) -> None:
    # Six times as fast as statements; within the same transaction.
    cursor: Any = connection.connection.cursor()
    with cursor, cursor.copy(_COPY) as copy:
        for row in rows:
            copy.write_row([row[name] for name in _COPIED])


def _row(dataset_id: int, ticket: NewTicket) -> dict[str, Any]:
    return {"dataset_id": dataset_id, "body": body_of(ticket), **{name: getattr(ticket, name) for name in COLUMNS}}


def _remove_abandoned(engine: Engine, before: int) -> None:
    query = sa.select(DATASETS.c.id).where(DATASETS.c.row_count == UNFINISHED, DATASETS.c.created_at < before)
    with engine.connect() as connection:
        found = connection.execute(query).scalars().all()
    for dataset_id in found:
        _remove(engine, dataset_id)


def _remove(engine: Engine, dataset_id: int) -> None:
    """Remove an unfinished dataset, in turns too."""
    some = sa.select(TICKETS.c.id).where(TICKETS.c.dataset_id == dataset_id).limit(REMOVED_AT_ONCE)
    delete = sa.delete(TICKETS).where(TICKETS.c.id.in_(some.scalar_subquery()))
    removed = REMOVED_AT_ONCE
    while removed == REMOVED_AT_ONCE:
        with writing(engine) as connection:
            removed = connection.execute(delete).rowcount
    with writing(engine) as connection:
        connection.execute(sa.delete(DATASETS).where(DATASETS.c.id == dataset_id, DATASETS.c.row_count == UNFINISHED))


def body_of(ticket: NewTicket) -> bytes:
    """The fields of a ticket that are stored in its body."""
    return orjson.dumps({name: value for name in BODY if (value := getattr(ticket, name)) is not None})

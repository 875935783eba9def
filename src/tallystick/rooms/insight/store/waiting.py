"""Tickets that were read and are not in the database yet, in a file that nobody else sees."""

from collections.abc import Iterator
from tempfile import SpooledTemporaryFile
from types import TracebackType
from typing import Any

import orjson

from tallystick.rooms.insight.nouns import NewTicket
from tallystick.rooms.insight.store.tables import BATCH

IN_MEMORY = 16 * 1024 * 1024
"""Small files never touch the disk on their way."""
BATCH_BYTES = 2 * 1024 * 1024
"""Written in one transaction at most: some tens of milliseconds."""
COLUMNS = ("created_at", "department", "product", "category")
"""What tickets are filtered by has columns of its own; all else stands in the body."""
BODY = (
    "external_id", "text", "summary", "priority", "status", "customer", "resolution", "resolved_at", "reassignments",
    "extra",
)  # fmt: skip


class Waiting:
    """Rows on their way; gone when it is left."""

    def __init__(self) -> None:
        self._file = SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115 - closed on leaving
        self.size = 0
        """Bytes that wait."""

    def __enter__(self) -> "Waiting":
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
            rows.append({
                "dataset_id": dataset_id, "created_at": created_at, "department": department, "product": product,
                "category": category, "body": body.encode(),
            })  # fmt: skip
            size += len(line)
            if len(rows) == BATCH or size >= BATCH_BYTES:
                yield rows
                rows, size = [], 0
        if rows:
            yield rows


def body_of(ticket: NewTicket) -> bytes:
    """What of a ticket stands in the body."""
    return orjson.dumps({name: value for name in BODY if (value := getattr(ticket, name)) is not None})

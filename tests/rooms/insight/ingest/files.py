"""Files of tickets, written as other programs write them."""

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from openpyxl import Workbook  # type: ignore[import-untyped]

from tallystick.import_limits import DEFAULT, ImportLimits
from tallystick.rooms.insight.ingest.dataset_import import ImportRequest, ImportResult, take
from tallystick.rooms.insight.ingest.source_file import opened
from tallystick.rooms.insight.ingest.table import Row, Table
from tallystick.rooms.insight.model import BadRow, NewTicket
from tallystick.rooms.insight.pii import Placeholders
from tallystick.rooms.insight.store import Store

PLACEHOLDERS = Placeholders(b"k" * 32)
Rows = Sequence[Mapping[str, str]]


def as_csv(rows: Rows, *, delimiter: str = ",") -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def as_xlsx(rows: Rows) -> bytes:
    return sheet([list(rows[0]), *(list(row.values()) for row in rows)])


def as_json(rows: Rows) -> bytes:
    return json.dumps(rows).encode()


def as_jsonl(rows: Rows) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def as_wrapped(rows: Rows) -> bytes:
    return json.dumps({"tickets": rows, "count": len(rows), "next_page": None}).encode()


FORMATS: Mapping[str, Callable[[Rows], bytes]] = {
    "tickets.csv": as_csv,
    "tickets.tsv": lambda rows: as_csv(rows, delimiter="\t"),
    "tickets.xlsx": as_xlsx,
    "tickets.json": as_json,
    "wrapped.json": as_wrapped,
    "tickets.jsonl": as_jsonl,
    "utf-16.csv": lambda rows: as_csv(rows).decode().encode("utf-16"),
}


def sheet(rows: Sequence[Sequence[Any]], *, before: Sequence[str] = ()) -> bytes:
    """A workbook with one sheet of these rows, and empty ones before it."""
    book = Workbook()
    assert book.active is not None
    book.remove(book.active)
    for title in before:
        book.create_sheet(title)
    page = book.create_sheet("tickets")
    for row in rows:
        page.append(list(row))
    data = io.BytesIO()
    book.save(data)
    book.close()
    return data.getvalue()


def read(table: Table) -> list[Row | BadRow]:
    return list(table.rows())


def cells(rows: Sequence[Row | BadRow]) -> list[list[str]]:
    return [row.cells for row in rows if isinstance(row, Row)]


def rows_of(
    make: Callable[[Any], Table], folder: Path, data: bytes, name: str = "file", limits: ImportLimits = DEFAULT
) -> list[Row | BadRow]:
    """The rows that a reader finds in a file of these bytes."""
    (folder / name).write_bytes(data)
    with opened(folder, name, limits=limits) as file:
        return read(make(file))


def take_bytes(store: Store, folder: Path, file: str, data: bytes, **more: Any) -> ImportResult:
    (folder / file).write_bytes(data)
    return take(ImportRequest(workspace=folder, file_path=file, **more), store, PLACEHOLDERS, now=1_700_000_000)


def tickets(store: Store, taken: ImportResult) -> list[NewTicket]:
    return [ticket.said for ticket in store.tickets(taken.dataset.dataset_id)]

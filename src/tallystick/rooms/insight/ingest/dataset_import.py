"""Import of a whole file: all of it, or nothing.

Rows wait in a file of their own, already without personal data, until the last one was read: a file that is refused
never reaches the database. Then they are written in short transactions, so that other writers get their turns, under a
dataset that counts only once its last row is there.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tallystick.import_limits import DEFAULT, ImportLimits
from tallystick.records import record
from tallystick.rooms.insight.ingest.bounds import check_expanded
from tallystick.rooms.insight.ingest.formats import table_of
from tallystick.rooms.insight.ingest.layout import Layout, layout_of
from tallystick.rooms.insight.ingest.source_file import SourceFile, opened
from tallystick.rooms.insight.ingest.table import Row, Table, UnusableFile
from tallystick.rooms.insight.ingest.tickets import MAX_NAME, TicketReader
from tallystick.rooms.insight.model import BadRow, Dataset, NewTicket
from tallystick.rooms.insight.pii import Placeholders

if TYPE_CHECKING:
    from tallystick.rooms.insight.store import Store
    from tallystick.rooms.insight.store.dataset_writer import ImportTotals, RowBuffer

KEPT_BAD_ROWS = 100
TOLD_EVERY = 5_000
"""Rows between two reports of progress."""


@record
class Progress:
    """Progress of an import."""

    rows: int
    share: float
    """Of the file's bytes, from 0 to 1."""


@record
class ImportResult:
    """The result of an import."""

    dataset: Dataset
    inserted: int
    """Tickets that were written now; 0: the file was taken before."""


@record
class ImportRequest:
    """The file to import, and how."""

    workspace: Path
    file_path: str
    name: str | None = None
    """Of the dataset; the file's own if not given."""
    mapping: Mapping[str, str] | None = None
    """Field → column; what it does not say is found by the header. None: as was kept under its name, if it was."""
    limits: ImportLimits = DEFAULT


def take(
    asked: ImportRequest,
    store: "Store",
    placeholders: Placeholders,
    *,
    now: int,
    progress: Callable[[Progress], None] = lambda _: None,
) -> ImportResult:
    """Take a file; the same bytes again are found, not stored.

    Raises:
        UnusableFile: It cannot be taken; nothing is stored. Message and hint hold no personal data.
    """
    try:
        with opened(asked.workspace, asked.file_path, limits=asked.limits) as file:
            known = store.dataset_by_hash(file.sha256)
            if known is not None:
                _same_columns(known, kept_mapping(asked, store), file, placeholders)
                return ImportResult(dataset=known, inserted=0)
            return _take(asked, file, store, placeholders, now, progress)
    except UnusableFile as refused:
        # A file without a header shows its first ticket in place of column names.
        clean = placeholders.clean
        raise UnusableFile(
            refused.code, clean(str(refused)), hint=clean(refused.hint or ""), status=refused.status or 400
        ) from None


def _take(
    asked: ImportRequest,
    file: SourceFile,
    store: "Store",
    placeholders: Placeholders,
    now: int,
    progress: Callable[[Progress], None],
) -> ImportResult:
    from tallystick.rooms.insight.store.dataset_writer import AlreadyStored, RowBuffer  # noqa: PLC0415 - the SQL toolkit

    table = table_of(file)
    layout = layout_of(table, kept_mapping(asked, store), file.limits)
    name = placeholders.clean(asked.name or file.name)[:MAX_NAME]
    with RowBuffer() as buffer:
        sums = _read(_told(table, layout, file, progress), TicketReader(layout, placeholders), buffer, file)
        file.check_unchanged()
        mapping = {field: placeholders.clean(column) for field, column in layout.mapping().items()}
        try:
            with store.write_dataset(name, file.sha256, mapping, now) as adding:
                adding.add_waiting(buffer)
                dataset = adding.finish(sums)
            # Questions are asked of the columns; to read them now spares the first question that time.
            store.index_columns(dataset.dataset_id)
        except AlreadyStored:
            # Somebody else took the same file at the same time.
            known = store.dataset_by_hash(file.sha256)
            if known is None:
                raise
            return ImportResult(dataset=known, inserted=0)
    progress(Progress(rows=sums.row_count + sums.bad_row_count, share=1.0))
    return ImportResult(dataset=dataset, inserted=sums.row_count)


def _same_columns(known: Dataset, said: Mapping[str, str] | None, file: SourceFile, placeholders: Placeholders) -> None:
    """Refuse to pass off a dataset that was read by some columns as one that was read by others.

    Raises:
        UnusableFile: What was said of the columns does not fit the file, or not how it was read.
    """
    if said is None:
        return
    asked = {
        field: placeholders.clean(column)
        for field, column in layout_of(table_of(file), said, file.limits).mapping().items()
    }
    if asked != dict(known.mapping):
        was = ", ".join(f"{field}={column}" for field, column in known.mapping.items())
        message = f"This very file is dataset {known.dataset_id} already, and was read with {was}."
        hint = "Its figures stay what they are. To read it by other columns, take a copy with an empty line at its end."
        raise UnusableFile("taken_otherwise", message, hint=hint, status=409)


def kept_mapping(asked: ImportRequest, store: "Store") -> Mapping[str, str] | None:
    """What was said, or what is kept under the dataset's name or the file's."""
    if asked.mapping is not None:
        return asked.mapping
    file_name = asked.file_path.rpartition("/")[2]
    given = asked.name or ""
    for name in (given, given.rpartition(".")[0], file_name, file_name.rpartition(".")[0]):
        kept = store.mapping(name) if name else None
        if kept is not None:
            return kept
    return None


def _told(
    table: Table, layout: Layout, file: SourceFile, progress: Callable[[Progress], None]
) -> Iterator[Row | BadRow]:
    rows = (row for row in table.rows() if row.line > layout.header_line)
    for number, row in enumerate(rows, start=1):
        if number % TOLD_EVERY == 0:
            progress(Progress(rows=number, share=file.share_read()))
        yield row


def _read(rows: Iterator[Row | BadRow], reader: TicketReader, buffer: "RowBuffer", file: SourceFile) -> "ImportTotals":
    from tallystick.rooms.insight.store.dataset_writer import ImportTotals  # noqa: PLC0415 - as above

    departments: set[str] = set()
    bad: list[BadRow] = []
    bad_count = taken = 0
    most = file.limits.expanded(file.size)
    for row in rows:
        found = reader.ticket(row) if isinstance(row, Row) else row
        if isinstance(found, NewTicket):
            buffer.add(found)
            # Column names are stored with every row, and placeholders may be longer than what they replace.
            check_expanded(buffer.size, most, file.limits)
            taken += 1
            if found.department is not None:
                departments.add(found.department)
        else:
            bad_count += 1
            if len(bad) < KEPT_BAD_ROWS:
                bad.append(found)
    if not taken:
        raise _nothing(bad, bad_count)
    return ImportTotals(
        row_count=taken, department_count=len(departments), bad_row_count=bad_count, bad_rows=tuple(bad)
    )


def _nothing(bad: list[BadRow], count: int) -> UnusableFile:
    if not count:
        return UnusableFile(
            "header_only", "The file has a header and no tickets.", hint="Export it again with its rows."
        )
    first = bad[0]
    message = f"None of the {count:,} rows can be taken; the first, in line {first.line}: {first.reason} {first.detail}"
    return UnusableFile("no_good_rows", message.rstrip() + ".", hint="Check which column is which, or the delimiter.")

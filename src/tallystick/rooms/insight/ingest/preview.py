"""Preview of an import: columns, recognised fields and the first tickets."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING

from tallystick.import_limits import ImportLimits
from tallystick.records import record
from tallystick.rooms.insight.ingest.columns import known_columns, plain
from tallystick.rooms.insight.ingest.dataset_import import ImportRequest, kept_mapping
from tallystick.rooms.insight.ingest.formats import table_of
from tallystick.rooms.insight.ingest.layout import Layout, check_mapping, header_of, layout_of
from tallystick.rooms.insight.ingest.source_file import opened
from tallystick.rooms.insight.ingest.table import Row, Table, UnusableFile
from tallystick.rooms.insight.ingest.tickets import TicketReader
from tallystick.rooms.insight.model import BadRow, Dataset, NewTicket
from tallystick.rooms.insight.pii import Placeholders

if TYPE_CHECKING:
    from tallystick.rooms.insight.store import Store

SHOWN = 3
"""Tickets that are enough to see whether the columns are right."""
LOOKED_AT = 50
"""Rows among which they are looked for."""
ABOUT_MAPPING = frozenset({"no_text_column", "mapping_invalid"})
"""What can be wrong that another mapping puts right."""


@record
class Preview:
    """The expected result of an import."""

    columns: tuple[str, ...]
    """As the file names them."""
    mapping: Mapping[str, str]
    """Field → column: what was said, and for the rest what the header says."""
    tickets: tuple[NewTicket, ...]
    """The first, as they would be stored: personal data replaced."""
    bad_rows: tuple[BadRow, ...]
    """Among the previewed rows."""
    trouble: str = ""
    """Why it cannot be taken with this mapping; empty: it can."""
    hint: str = ""
    known: Dataset | None = None
    """The dataset that this very file is already."""
    notices: tuple[str, ...] = ()
    """What was decided that could have been read otherwise: dates of two readings, columns of one name."""


def preview(asked: ImportRequest, store: "Store", placeholders: Placeholders) -> Preview:
    """Look at a file without taking it.

    Raises:
        UnusableFile: It cannot be taken, whatever is said about its columns.
    """
    with opened(asked.workspace, asked.file_path, limits=asked.limits) as file:
        table, mapping = table_of(file), kept_mapping(asked, store)
        known = store.dataset_by_hash(file.sha256)
        try:
            layout = layout_of(table, mapping, file.limits)
        except UnusableFile as refused:
            if refused.code not in ABOUT_MAPPING:
                raise
            return _unread(table, mapping or {}, refused, file.limits)
        reader = TicketReader(layout, placeholders)
        read = [reader.ticket(row) for row in _first(table, layout.header_line)]
    return Preview(
        columns=layout.columns,
        mapping=layout.mapping(),
        known=known,
        notices=(*_guessed(layout), *_same_names(layout)),
        tickets=tuple(one for one in read if isinstance(one, NewTicket))[:SHOWN],
        bad_rows=tuple(one for one in read if isinstance(one, BadRow)),
    )


def _guessed(layout: Layout) -> tuple[str, ...]:
    if not layout.guessed:
        return ()
    field = layout.guessed[0]
    column, order = layout.mapping()[field], "day/month" if layout.day_first[field] else "month/day"
    said = f"Dates in '{column}' could be day/month or month/day; read as {order}. Write them as 2026-01-31 to be sure."
    return (said,)


def _same_names(layout: Layout) -> tuple[str, ...]:
    """Columns whose names differ in nothing but case and signs, or not at all."""
    alike: dict[str, list[str]] = {}
    for place, column in enumerate(layout.columns, start=1):
        alike.setdefault(plain(column.removesuffix(f" ({place})")), []).append(column)
    used = set(layout.mapping().values())
    found = []
    for columns in (each for each in alike.values() if len(each) > 1):
        taken = ", ".join(f"'{one}'" for one in columns if one in used) or "none of them"
        found.append(f"{len(columns)} columns have one name: {', '.join(columns)}. Read as a field: {taken}.")
    return tuple(found)


def _unread(table: Table, mapping: Mapping[str, str], refused: UnusableFile, limits: ImportLimits) -> Preview:
    """Only what the header says; what was said is kept, as far as there are such columns."""
    try:
        wanted = check_mapping(mapping)
    except UnusableFile:
        wanted = {}
    _, columns = header_of(table, wanted, limits)
    found = {field: columns[place] for field, place in known_columns(columns).items()}
    said = {field: column for field, column in mapping.items() if column in columns}
    return Preview(
        columns=columns, mapping=found | said, tickets=(), bad_rows=(), trouble=str(refused), hint=refused.hint or ""
    )


def _first(table: Table, header_line: int) -> Iterator[Row]:
    return islice((row for row in table.rows() if isinstance(row, Row) and row.line > header_line), LOOKED_AT)

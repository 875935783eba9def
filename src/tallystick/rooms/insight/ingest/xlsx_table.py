"""Spreadsheets, read row by row.

A cell's formula is taken as the text it is; nothing is ever computed, and the value some program last computed is not
believed either.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime, time
from itertools import islice
from typing import Any

from tallystick.rooms.insight.ingest.columns import known_columns
from tallystick.rooms.insight.ingest.dialect import HEADER_ROWS
from tallystick.rooms.insight.ingest.opening import Opened
from tallystick.rooms.insight.ingest.refusing import Unusable
from tallystick.rooms.insight.ingest.rows import MAX_ROW_CHARS, Row, is_blank
from tallystick.rooms.insight.ingest.zip_guard import check_archive
from tallystick.rooms.insight.nouns import BadRow

MAX_ROWS = 1_048_576
"""What the format allows; a row number beyond it would make us count to it."""


class XlsxTable:
    """The sheet of a workbook that holds tickets: the first whose header we know, else the first with rows."""

    def __init__(self, opened: Opened) -> None:
        self._opened = opened
        with opened.reader() as file:
            check_archive(file)
        with self._book() as book:
            heads = {sheet.title: list(islice(_rows(sheet), HEADER_ROWS)) for sheet in book.worksheets}
        known = {
            title: max((len(known_columns(row.cells)) for row in rows), default=0) for title, rows in heads.items()
        }
        full = [title for title in heads if known[title]] or [title for title, rows in heads.items() if rows]
        self._title = full[0] if full else None

    def rows(self) -> Iterator[Row | BadRow]:
        """The rows."""
        if self._title is None:
            return
        with self._book() as book:
            for row in _rows(book[self._title]):
                if sum(map(len, row.cells)) > MAX_ROW_CHARS:
                    yield BadRow(line=row.line, reason="row_too_long")
                else:
                    yield row

    @contextmanager
    def _book(self) -> Iterator[Any]:
        # Costs a tenth of a second, and most files are none.
        from openpyxl import load_workbook  # type: ignore[import-untyped]  # noqa: PLC0415

        # It warns of styles and extensions that it leaves out; rows are all that is read.
        warnings.filterwarnings("ignore", category=UserWarning, module=r"openpyxl\.")
        with self._opened.reader() as file:
            try:
                book = load_workbook(file, read_only=True, data_only=False, keep_links=False)
                try:
                    yield book
                finally:
                    book.close()
            except Unusable:
                raise
            except Exception as error:
                # What the libraries below raise over a damaged or hostile file has no common kind.
                raise Unusable(
                    "not_a_spreadsheet", "The spreadsheet is damaged.",
                    hint="Open it in a spreadsheet program and save it again, best as CSV.",
                ) from error  # fmt: skip


def _rows(sheet: Any) -> Iterator[Row]:
    # What the sheet says about its own size is often wrong.
    sheet.reset_dimensions()
    for number, values in enumerate(sheet.iter_rows(values_only=True), start=1):
        if number > MAX_ROWS:
            message = f"The sheet names rows beyond {MAX_ROWS:,}."
            raise Unusable("too_many_rows", message, hint="Save it as CSV.")
        if values:
            cells = [_text(value) for value in values]
            if not is_blank(cells):
                yield Row(line=number, cells=cells)


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    # An array's formula is an object with its text in it.
    return str(getattr(value, "text", value))

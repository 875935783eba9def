"""Spreadsheets, read row by row.

A cell's formula is taken as the text it is; nothing is ever computed, and the value some program last computed is not
believed either.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

from tallystick.rooms.insight.ingest.bounds import HEADER_ROWS
from tallystick.rooms.insight.ingest.columns import known_columns
from tallystick.rooms.insight.ingest.opening import Opened
from tallystick.rooms.insight.ingest.refusing import Unusable
from tallystick.rooms.insight.ingest.rows import Row, is_blank
from tallystick.rooms.insight.ingest.sheet_rows import Book, sheet_rows
from tallystick.rooms.insight.ingest.zip_guard import check_archive
from tallystick.rooms.insight.nouns import BadRow


class XlsxTable:
    """The sheet of a workbook that holds tickets: the first whose header we know, else the first with rows."""

    def __init__(self, opened: Opened) -> None:
        with opened.reader() as file:
            check_archive(file)
        with _damage_refused():
            # Held open: the texts that cells share are read once.
            self._sheets = list(_sheets(opened))
            heads = [[row.cells for row in islice(_rows(*sheet), HEADER_ROWS)] for sheet in self._sheets]
        known = [place for place, rows in enumerate(heads) if any(map(known_columns, rows))]
        full = known or [place for place, rows in enumerate(heads) if rows]
        self._sheet = self._sheets[full[0]] if full else None

    def rows(self) -> Iterator[Row | BadRow]:
        """The rows."""
        if self._sheet is None:
            return
        with _damage_refused():
            yield from _rows(*self._sheet)


def _sheets(opened: Opened) -> Iterator[tuple[Any, Book]]:
    # Costs a tenth of a second, and most files are no workbooks.
    from openpyxl import load_workbook  # type: ignore[import-untyped]  # noqa: PLC0415
    from openpyxl.utils.datetime import from_excel  # type: ignore[import-untyped]  # noqa: PLC0415

    # It warns of styles and extensions that it leaves out; rows are all that is read.
    warnings.filterwarnings("ignore", category=UserWarning, module=r"openpyxl\.")
    workbook = load_workbook(opened.reader(), read_only=True, data_only=False, keep_links=False)
    for sheet in workbook.worksheets:
        dates = workbook._date_formats  # noqa: SLF001 - it has no other name for them
        book = Book(
            strings=sheet._shared_strings,  # noqa: SLF001 - as above
            dates=dates, to_date=lambda number: from_excel(number, workbook.epoch), limits=opened.limits,
        )  # fmt: skip
        yield sheet, book


def _rows(sheet: Any, book: Book) -> Iterator[Row]:
    with sheet._get_source() as source:  # noqa: SLF001 - as above
        for number, cells in sheet_rows(source, book):
            if not is_blank(cells):
                yield Row(line=number, cells=cells)


@contextmanager
def _damage_refused() -> Iterator[None]:
    try:
        yield
    except Unusable:
        raise
    except Exception as error:
        # What the libraries below raise over a damaged or hostile file has no common kind.
        raise Unusable(
            "not_a_spreadsheet", "The spreadsheet is damaged.",
            hint="Open it in a spreadsheet program and save it again, best as CSV.",
        ) from error  # fmt: skip

"""Spreadsheets, read row by row.

A cell's formula is taken as the text it is; nothing is ever computed, and the value some program last computed is not
believed either.
"""

import re
import warnings
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import IO, Any, BinaryIO
from xml.etree.ElementTree import Element, iterparse
from zipfile import ZipFile

from tallystick.import_limits import ImportLimits
from tallystick.records import record
from tallystick.rooms.insight.ingest.bounds import HEADER_ROWS, too_wide
from tallystick.rooms.insight.ingest.columns import known_columns
from tallystick.rooms.insight.ingest.source_file import SourceFile
from tallystick.rooms.insight.ingest.table import Row, UnusableFile, is_blank
from tallystick.rooms.insight.model import BadRow
from tallystick.text.documents.archive import DAMAGED

MAX_PARTS = 5_000
MAX_UNPACKED = 4 * 1024**3
"""A million rows of a hundred columns."""
MAX_STRINGS = 192 * 1024**2
"""Texts that cells share are held in memory, at about twice this."""
MAX_RATIO = 250
"""Sheets of real tickets pack to a tenth; those of numbers alone to a fortieth."""
FREE_OF_RATIO = 32 * 1024**2
"""What a bomb of this size can do is no harm."""
_PROLOG = 4_096
_DOCTYPE = re.compile(rb"<\0?!\0?(?:D\0?O\0?C|E\0?N\0?T)", re.IGNORECASE)
_HINT = "Open it in a spreadsheet program and save it as CSV."
MAX_ROWS = 1_048_576
"""What the format allows; a number beyond it would make us count to it."""
MAX_CELLS = 16_384
"""Cells of a row that the format allows, empty ones among them."""
_LETTERS = re.compile(r"[A-Z]{1,3}")


@record
class Book:
    """Shared strings and formats of a workbook."""

    strings: list[str]
    dates: Container[int]
    """Numbers of the styles that show a number as a date."""
    to_date: Callable[[float], object]
    limits: ImportLimits


_columns: dict[str, int] = {}


class XlsxTable:
    """The sheet of a workbook that holds tickets: the first whose header we know, else the first with rows."""

    def __init__(self, opened: SourceFile) -> None:
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


def _sheets(opened: SourceFile) -> Iterator[tuple[Any, Book]]:
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
            dates=dates,
            to_date=lambda number: from_excel(number, workbook.epoch),
            limits=opened.limits,
        )
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
    except UnusableFile:
        raise
    except Exception as error:
        # What the libraries below raise over a damaged or hostile file has no common kind.
        raise UnusableFile(
            "not_a_spreadsheet",
            "The spreadsheet is damaged.",
            hint="Open it in a spreadsheet program and save it again, best as CSV.",
        ) from error


def check_archive(file: BinaryIO) -> None:
    """Refuse a file that is not an archive, would unpack to too much, or defines entities.

    Raises:
        UnusableFile: `not_a_spreadsheet`, `zip_bomb`, `too_large` or `doctype`.
    """
    try:
        with ZipFile(file) as archive:
            _check_sizes(archive)
            _check_prologs(archive)
    except DAMAGED:
        raise UnusableFile("not_a_spreadsheet", "The file is no spreadsheet that can be opened.", hint=_HINT) from None


def _check_sizes(archive: ZipFile) -> None:
    parts = archive.infolist()
    unpacked = sum(part.file_size for part in parts)
    packed = sum(part.compress_size for part in parts)
    shared = sum(part.file_size for part in parts if part.filename.lower().endswith("sharedstrings.xml"))
    if len(parts) > MAX_PARTS or (unpacked > FREE_OF_RATIO and unpacked > packed * MAX_RATIO):
        message = f"The spreadsheet would unpack from {packed:,} to {unpacked:,} bytes in {len(parts):,} parts."
        raise UnusableFile("zip_bomb", message, hint=_HINT)
    if unpacked > MAX_UNPACKED or shared > MAX_STRINGS:
        raise UnusableFile(
            "too_large", f"The spreadsheet holds {unpacked:,} bytes, more than is read at once.", hint=_HINT
        )


def _check_prologs(archive: ZipFile) -> None:
    """Refuse entity definitions, which precede the first element of a part."""
    for part in archive.infolist():
        if part.filename.lower().endswith((".xml", ".rels")):
            with archive.open(part) as opened:
                if _DOCTYPE.search(opened.read(_PROLOG)):
                    message = "The spreadsheet defines entities, which no spreadsheet program writes."
                    raise UnusableFile("doctype", message, hint=_HINT)


def sheet_rows(source: IO[bytes], book: Book) -> Iterator[tuple[int, list[str]]]:
    """Number and cells of each row that is there."""
    number, cells, is_first = 0, 0, True
    for _, element in iterparse(source, events=("end",)):  # noqa: S314 - see above
        if element.tag.endswith("}c"):
            cells += 1
            if cells > MAX_CELLS:
                raise too_wide(cells, book.limits)
        elif element.tag.endswith("}row"):
            number = int(element.get("r") or number + 1)
            if number > MAX_ROWS:
                raise UnusableFile(
                    "too_many_rows", f"The sheet names rows beyond {MAX_ROWS:,}.", hint="Save it as CSV."
                )
            read = _cells(element, book)
            if is_first and len(read) > book.limits.columns:
                raise too_wide(cells, book.limits)
            is_first = is_first and not any(read)
            yield number, read
            element.clear()
            cells = 0


def _cells(row: Element, book: Book) -> list[str]:
    cells: list[str] = []
    for cell in row:
        place, text = _place(cell.get("r"), len(cells)), _text(cell, book)
        if place >= book.limits.columns:
            # Spreadsheet programs write empty cells to the edge of the sheet where somebody formatted a row. One that
            # says something makes the row too wide, and that is all it does.
            if not text:
                continue
            place = book.limits.columns
        if place > len(cells):
            cells.extend([""] * (place - len(cells)))
        if place == len(cells):
            cells.append(text)
        else:
            cells[place] = text
    return cells


def _place(reference: str | None, following: int) -> int:
    """`C5` → 2."""
    letters = _LETTERS.match(reference or "")
    if letters is None:
        return following
    place = _columns.get(letters[0])
    if place is None:
        place = 0
        for letter in letters[0]:
            place = place * 26 + ord(letter) - 64
        place -= 1
        _columns[letters[0]] = place
    return place


def _text(cell: Element, book: Book) -> str:
    value = ""
    for part in cell:
        kind = part.tag.rpartition("}")[2]
        if kind == "f":
            # Whatever it was last computed to, the formula itself is what somebody wrote.
            return f"={part.text or ''}"
        if kind == "is":
            return _rich(part)
        if kind == "v":
            value = part.text or ""
    kind = cell.get("t", "n")
    if not value or kind in {"str", "e", "d"}:
        return value
    if kind == "s":
        return book.strings[int(value)]
    if kind == "b":
        return "true" if value == "1" else "false"
    return _number(value, int(cell.get("s", 0)), book)


def _rich(part: Element) -> str:
    """The text without how it is to be pronounced."""
    return "".join(
        text.text or ""
        for run in part
        for text in (run, *run)
        if text.tag.endswith("}t") and not run.tag.endswith("}rPh")
    )


def _number(value: str, style: int, book: Book) -> str:
    number = float(value)
    if style in book.dates:
        moment = book.to_date(number)
        return getattr(moment, "isoformat", moment.__str__)()
    return str(int(number)) if number.is_integer() and abs(number) < 10**17 else value

"""The rows of one sheet of a workbook, cell by cell as text.

The library that opens workbooks reads rows in pure Python when entities are guarded against, at a tenth of this speed.
Here they need no guard: an archive whose parts define any was refused before.
"""

import re
from collections.abc import Callable, Container, Iterator
from typing import IO
from xml.etree.ElementTree import Element, iterparse

from tallystick.import_limits import ImportLimits
from tallystick.records import record
from tallystick.rooms.insight.ingest.bounds import too_wide
from tallystick.rooms.insight.ingest.refusing import Unusable

MAX_ROWS = 1_048_576
"""What the format allows; a number beyond it would make us count to it."""
MAX_CELLS = 16_384
"""Cells of a row that the format allows, empty ones among them."""
_LETTERS = re.compile(r"[A-Z]{1,3}")


@record
class Book:
    """What cells of all sheets refer to."""

    strings: list[str]
    dates: Container[int]
    """Numbers of the styles that show a number as a date."""
    to_date: Callable[[float], object]
    limits: ImportLimits


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
                raise Unusable("too_many_rows", f"The sheet names rows beyond {MAX_ROWS:,}.", hint="Save it as CSV.")
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


_columns: dict[str, int] = {}


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
        text.text or "" for run in part for text in (run, *run)
        if text.tag.endswith("}t") and not run.tag.endswith("}rPh")
    )  # fmt: skip


def _number(value: str, style: int, book: Book) -> str:
    number = float(value)
    if style in book.dates:
        moment = book.to_date(number)
        return getattr(moment, "isoformat", moment.__str__)()
    return str(int(number)) if number.is_integer() and abs(number) < 10**17 else value

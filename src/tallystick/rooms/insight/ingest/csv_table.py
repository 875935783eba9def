"""CSV, read line by line.

A quote that is never closed would swallow the rest of the file. So the lines of a row are remembered while it is read;
when its quotes do not fit, when it grows too long, or when the file ends inside it, its first line alone is bad and
reading goes on with the next.
"""

import csv
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import islice
from typing import IO

from tallystick.records import record
from tallystick.rooms.insight.ingest.bounds import HEADER_ROWS
from tallystick.rooms.insight.ingest.columns import known_columns
from tallystick.rooms.insight.ingest.encoding import text_of
from tallystick.rooms.insight.ingest.source_file import SourceFile
from tallystick.rooms.insight.ingest.table import Row, UnusableFile, is_blank
from tallystick.rooms.insight.model import BadRow

DELIMITERS = (",", ";", "\t", "|")
NO_DELIMITER = "\x1f"
"""For files of one column: a character that no text holds."""
SAMPLE_ROWS = 200
_SAID = re.compile(r'^(?:"?)sep=(.)(?:"?)\s*$', re.IGNORECASE)
_BACKSLASHED = re.compile(r'\\"(?![,;\t|\r\n]|$)')


@record
class Dialect:
    """Delimiter and quoting of a CSV file."""

    delimiter: str = ","
    quote: str = '"'
    escape: str | None = None
    said: bool = False
    """The first line says the delimiter, as Excel writes it, and is no row."""

    def reader(self, lines: Iterable[str], *, strict: bool = True) -> Iterator[list[str]]:
        """A reader of lines; a strict one stops at quotes that do not fit."""
        return csv.reader(
            lines,
            delimiter=self.delimiter,
            quotechar=self.quote,
            escapechar=self.escape,
            doublequote=self.escape is None,
            strict=strict,
        )


READ_AGAIN = 100
"""A bad row is read again from its second line; so many of the longest rows are read again in all."""
SAMPLE_LINE = 20_000


class CsvTable:
    """A file of delimited text."""

    def __init__(self, opened: SourceFile) -> None:
        self._opened = opened
        self._row_chars = opened.limits.row_chars
        # The standard library's limit holds for the whole process; rows are bounded here instead.
        csv.field_size_limit(max(csv.field_size_limit(), 2 * self._row_chars))
        with closing(text_of(opened.reader())) as text:
            # What the dialect is shows in the beginnings of lines.
            self._dialect = dialect_of(list(islice(_cut_lines(text), 2 * SAMPLE_ROWS)), opened.limits.columns)

    def rows(self) -> Iterator[Row | BadRow]:
        """The rows."""
        with closing(text_of(self._opened.reader())) as text:
            lines = _Lines(text, self._row_chars)
            if self._dialect.said:
                next(lines)
            yield from _rows(lines, self._dialect)


def _cut_lines(text: IO[str]) -> Iterator[str]:
    while line := text.readline(SAMPLE_LINE):
        yield line
        while line and not line.endswith(("\n", "\r")):
            line = text.readline(SAMPLE_LINE)


def _rows(lines: "_Lines", dialect: Dialect) -> Iterator[Row | BadRow]:
    again = 0
    reader = dialect.reader(lines)
    while True:
        line = lines.begin_row()
        try:
            cells = next(reader)
        except StopIteration:
            return
        except (_Runaway, csv.Error):
            cells = None
        if cells is None or lines.ended_inside:
            again += lines.chars
            if again > READ_AGAIN * lines.row_chars:
                raise _unbalanced(line)
            yield BadRow(line=line, reason="row_too_long" if lines.is_one_long else "bad_quotes")
            lines.give_back()
            reader = dialect.reader(lines)
        elif cells and not is_blank(cells):
            yield Row(line=line, cells=cells)


class _Runaway(Exception):  # noqa: N818 - ends a row, not the reading
    """A row without an end."""


class _Lines:
    """Yields lines, and remembers those of the current row."""

    def __init__(self, text: IO[str], row_chars: int) -> None:
        self._text = text
        self.row_chars = row_chars
        self._again: deque[str] = deque()
        self._row: list[str] = []
        self.chars = 0
        self._handed = 0
        self.ended_inside = False

    @property
    def is_one_long(self) -> bool:
        """Whether the row is a single line, and too long by itself."""
        return len(self._row) == 1 and self.chars >= self.row_chars

    def begin_row(self) -> int:
        """Begin a row and return the number of its first line."""
        self._row.clear()
        self.chars = 0
        self.ended_inside = False
        return self._handed + 1

    def give_back(self) -> None:
        """All lines of the row but its first are read again."""
        self._handed -= len(self._row) - 1
        self._again.extendleft(reversed(self._row[1:]))

    def __iter__(self) -> "_Lines":
        return self

    def __next__(self) -> str:
        line = self._again.popleft() if self._again else self._fresh()
        if not line:
            self.ended_inside = bool(self._row)
            raise StopIteration
        self._handed += 1
        self._row.append(line)
        self.chars += len(line)
        if self.chars >= self.row_chars:
            raise _Runaway
        return line

    def _fresh(self) -> str:
        """The next line of the file; the rest of one that is too long to be held is passed over."""
        line = rest = self._text.readline(self.row_chars)
        while len(line) >= self.row_chars and rest and not rest.endswith(("\n", "\r")):
            rest = self._text.readline(self.row_chars)
        return line


def _unbalanced(line: int) -> UnusableFile:
    return UnusableFile(
        "quotes_unbalanced",
        f"Quotes are opened and never closed in many rows, lastly in line {line}.",
        hint="Export the file again with every quote inside a cell doubled.",
    )


def dialect_of(sample: list[str], columns: int) -> Dialect:
    """The dialect of a file that begins with these lines and has at most so many columns."""
    said = _SAID.match(sample[0]) if sample else None
    text = "".join(sample)
    quote = "'" if '"' not in text and sample and sample[0].startswith("'") else '"'
    escape = "\\" if '""' not in text and _BACKSLASHED.search(text) else None
    if said:
        return Dialect(delimiter=said[1], quote=quote, escape=escape, said=True)
    tried = [Dialect(delimiter=delimiter, quote=quote, escape=escape) for delimiter in DELIMITERS]
    best = max(tried, key=lambda dialect: _fit(dialect, sample, columns))
    if not _fit(best, sample, columns)[1]:
        return Dialect(delimiter=NO_DELIMITER, quote=quote, escape=escape)
    return best


def _fit(dialect: Dialect, sample: list[str], most: int) -> tuple[int, bool, float, int]:
    """How well it fits: columns known, whether there are several, share of rows as wide as most, that width."""
    try:
        rows = [row for row in islice(dialect.reader(sample, strict=False), SAMPLE_ROWS) if row]
    except csv.Error:
        rows = []
    if not rows:
        return (-1, False, 0.0, 1)
    known, columns = max((len(known_columns(row[:most])), len(row)) for row in rows[:HEADER_ROWS])
    width, often = Counter(map(len, rows)).most_common(1)[0]
    return (known, columns > 1, round(often / len(rows), 2), width)

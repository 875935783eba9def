"""How a CSV file is written: what stands between its cells and around them.

Every delimiter is tried on the first rows. The one under which the header names most of what we know wins; among equals
one that tells columns apart, then the one that gives all rows the same width.
"""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice

from tallystick.records import record
from tallystick.rooms.insight.ingest.bounds import HEADER_ROWS
from tallystick.rooms.insight.ingest.columns import known_columns

DELIMITERS = (",", ";", "\t", "|")
NO_DELIMITER = "\x1f"
"""For files of one column: a character that no text holds."""
SAMPLE_ROWS = 200
_SAID = re.compile(r'^(?:"?)sep=(.)(?:"?)\s*$', re.IGNORECASE)
_BACKSLASHED = re.compile(r'\\"(?![,;\t|\r\n]|$)')


@record
class Dialect:
    """How cells are told apart."""

    delimiter: str = ","
    quote: str = '"'
    escape: str | None = None
    said: bool = False
    """The first line says the delimiter, as Excel writes it, and is no row."""

    def reader(self, lines: Iterable[str], *, strict: bool = True) -> Iterator[list[str]]:
        """A reader of lines; a strict one stops at quotes that do not fit."""
        return csv.reader(
            lines, delimiter=self.delimiter, quotechar=self.quote, escapechar=self.escape,
            doublequote=self.escape is None, strict=strict,
        )  # fmt: skip


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

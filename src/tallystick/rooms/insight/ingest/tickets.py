"""One row becomes one ticket without personal data, or a bad row with a reason."""

from functools import lru_cache

from tallystick.rooms.insight.ingest.columns import FIELDS, is_personal
from tallystick.rooms.insight.ingest.dates import read_moment
from tallystick.rooms.insight.ingest.layout import DATES, Layout
from tallystick.rooms.insight.ingest.table import Row
from tallystick.rooms.insight.model import BadRow, NewTicket
from tallystick.rooms.insight.pii import Placeholders

MAX_NAME = 200
"""Characters of a department, a product or a category: they are grouped by, not read."""
_SHORT = 80
"""Values up to this length come again and again."""
_EMPTY = frozenset({"", "-", "null", "none", "n/a", "na", "nan", "#n/a", "undefined", "0000-00-00 00:00:00", "(empty)"})
_NO_TIME = _EMPTY | {"true", "false", "yes", "no", "0", "1"}
"""Columns like `Resolved` may say when, or only whether."""
_NO_TEXT = frozenset({"", "null", "none", "nan", "n/a", "#n/a", "undefined"})


class TicketReader:
    """Reads the rows of one file."""

    def __init__(self, layout: Layout, placeholders: Placeholders) -> None:
        self._layout = layout
        self._columns = tuple(map(placeholders.clean, layout.columns))
        self._clean = placeholders.clean
        self._clean_short = lru_cache(maxsize=16_384)(placeholders.clean)
        self._identity = lru_cache(maxsize=65_536)(placeholders.identity)
        # A cell behind the last is always empty: what a file does not have lies there.
        self._at = {field: layout.places.get(field, len(self._columns)) for field in FIELDS}
        used = set(layout.places.values())
        self._others = [
            (column, place, is_personal(layout.columns[place]))
            for place, column in enumerate(self._columns)
            if place not in used
        ]
        self._seen: set[int] = set()

    def ticket(self, row: Row) -> NewTicket | BadRow:
        """What the row says."""
        cells, width = list(map(tidy, row.cells)), len(self._columns)
        if len(cells) > width and any(cells[width:]):
            return BadRow(line=row.line, reason="too_many_columns", detail=f"{len(cells)} cells, {width} columns")
        cells = cells[:width] + [""] * (width + 1 - len(cells[:width]))
        text, summary = self._words("text", cells), self._words("summary", cells)
        if text is None and summary is None:
            return BadRow(line=row.line, reason="no_text")
        moments = {field: self._moment(field, cells[self._at[field]]) for field in DATES}
        for field, moment in moments.items():
            if moment is False:
                return BadRow(line=row.line, reason="bad_date", detail=self._columns[self._at[field]])
        external_id = self._name("external_id", cells)
        if external_id is not None and not self._is_new(external_id):
            return BadRow(line=row.line, reason="duplicate_id", detail=external_id)
        return NewTicket(
            external_id=external_id,
            text=text or summary or "",
            summary=summary if text else None,
            created_at=moments["created_at"],
            resolved_at=moments["resolved_at"],
            department=self._name("department", cells),
            product=self._name("product", cells),
            category=self._name("category", cells),
            priority=self._name("priority", cells),
            status=self._name("status", cells),
            customer=self._customer(cells[self._at["customer"]]),
            resolution=self._words("resolution", cells),
            reassignments=_count(cells[self._at["reassignments"]]),
            extra=self._extra(cells),
        )

    def _words(self, field: str, cells: list[str]) -> str | None:
        cell = cells[self._at[field]]
        return None if not cell or cell.lower() in _NO_TEXT else self._cleaned(cell)

    def _name(self, field: str, cells: list[str]) -> str | None:
        cell = cells[self._at[field]]
        return None if not cell or cell.lower() in _EMPTY else self._cleaned(cell)[:MAX_NAME]

    def _cleaned(self, cell: str) -> str:
        return self._clean_short(cell) if len(cell) <= _SHORT else self._clean(cell)

    def _customer(self, cell: str) -> str | None:
        return None if cell.lower() in _EMPTY else self._identity(cell)

    def _moment(self, field: str, cell: str) -> int | bool | None:
        """Epoch seconds; None: there is none; False: there is one that cannot be read."""
        if cell.lower() in _NO_TIME:
            return None
        moment = read_moment(cell, day_first=self._layout.day_first.get(field, False))
        return False if moment is None else moment

    def _extra(self, cells: list[str]) -> dict[str, str] | None:
        return {
            column: self._identity(cell) if is_who else self._cleaned(cell)
            for column, place, is_who in self._others
            if (cell := cells[place])
        } or None

    def _is_new(self, external_id: str) -> bool:
        # Hashes only: a million ids would take a hundred megabytes.
        known = hash(external_id)
        if known in self._seen:
            return False
        self._seen.add(known)
        return True


def _count(cell: str) -> int | None:
    cell = cell.removesuffix(".0")
    return int(cell) if cell.isascii() and cell.isdigit() and len(cell) < 7 else None  # noqa: PLR2004 - more is no count


def tidy(cell: str) -> str:
    """A cell without what no database stores and no reader sees."""
    if "\0" in cell:
        cell = cell.replace("\0", "")
    if "\r" in cell:
        cell = cell.replace("\r\n", "\n").replace("\r", "\n")
    return cell.strip()

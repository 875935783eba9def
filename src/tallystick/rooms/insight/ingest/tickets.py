"""One row becomes one ticket without personal data, or a reason why not."""

from functools import lru_cache

from tallystick.rooms.insight.ingest.columns import is_personal
from tallystick.rooms.insight.ingest.dates import read_moment
from tallystick.rooms.insight.ingest.layout import DATES, Layout
from tallystick.rooms.insight.ingest.rows import Row
from tallystick.rooms.insight.nouns import BadRow, NewTicket
from tallystick.rooms.insight.pii import Placeholders

MAX_NAME = 200
"""Characters of a department, a product or a category: they are grouped by, not read."""
_NAMES = ("department", "product", "category", "priority", "status")
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
        used = {place for field, place in layout.places.items()}
        self._others = [place for place in range(len(layout.columns)) if place not in used]
        self._who = {place for place in self._others if is_personal(layout.columns[place])}
        self._seen: set[int] = set()

    def ticket(self, row: Row) -> NewTicket | BadRow:
        """What the row says."""
        cells = row.cells
        if len(cells) > len(self._columns) and any(cell.strip() for cell in cells[len(self._columns) :]):
            return BadRow(
                line=row.line, reason="too_many_columns", detail=f"{len(cells)} cells, {len(self._columns)} columns"
            )
        text, summary = self._text("text", cells), self._text("summary", cells)
        if text is None and summary is None:
            return BadRow(line=row.line, reason="no_text")
        moments = {field: self._moment(field, cells) for field in DATES}
        for field, moment in moments.items():
            if moment is False:
                return BadRow(line=row.line, reason="bad_date", detail=self._columns[self._layout.places[field]])
        external_id = self._short("external_id", cells)
        if external_id is not None and not self._is_new(external_id):
            return BadRow(line=row.line, reason="duplicate_id", detail=external_id[:MAX_NAME])
        return NewTicket(
            external_id=external_id, text=text or summary or "", summary=summary if text else None,
            created_at=moments["created_at"], resolved_at=moments["resolved_at"],
            customer=self._customer(cells), resolution=self._text("resolution", cells),
            reassignments=self._count(cells), extra=self._extra(cells), **self._names(cells),
        )  # fmt: skip

    def _cell(self, field: str, cells: list[str]) -> str:
        place = self._layout.places.get(field)
        return "" if place is None or place >= len(cells) else tidy(cells[place])

    def _text(self, field: str, cells: list[str]) -> str | None:
        cell = self._cell(field, cells)
        return None if cell.lower() in _NO_TEXT else self._cleaned(cell)

    def _short(self, field: str, cells: list[str]) -> str | None:
        cell = self._cell(field, cells)
        return None if cell.lower() in _EMPTY else self._cleaned(cell)

    def _cleaned(self, cell: str) -> str:
        return self._clean_short(cell) if len(cell) <= _SHORT else self._clean(cell)

    def _names(self, cells: list[str]) -> dict[str, str | None]:
        found = {field: self._short(field, cells) for field in _NAMES}
        return {field: None if value is None else value[:MAX_NAME] for field, value in found.items()}

    def _customer(self, cells: list[str]) -> str | None:
        cell = self._cell("customer", cells)
        return None if cell.lower() in _EMPTY else self._identity(cell)

    def _moment(self, field: str, cells: list[str]) -> int | bool | None:
        """Epoch seconds; None: there is none; False: there is one that cannot be read."""
        cell = self._cell(field, cells)
        if cell.lower() in _NO_TIME:
            return None
        moment = read_moment(cell, day_first=self._layout.day_first.get(field, False))
        return False if moment is None else moment

    def _count(self, cells: list[str]) -> int | None:
        cell = self._cell("reassignments", cells).removesuffix(".0")
        return int(cell) if cell.isascii() and cell.isdigit() and len(cell) < 7 else None  # noqa: PLR2004 - more is no count

    def _extra(self, cells: list[str]) -> dict[str, str] | None:
        extra: dict[str, str] = {}
        for place in self._others:
            if place < len(cells) and (cell := tidy(cells[place])):
                extra[self._columns[place]] = self._identity(cell) if place in self._who else self._cleaned(cell)
        return extra or None

    def _is_new(self, external_id: str) -> bool:
        # Hashes only: a million ids would take a hundred megabytes.
        known = hash(external_id)
        if known in self._seen:
            return False
        self._seen.add(known)
        return True


def tidy(cell: str) -> str:
    """A cell without what no database stores and no reader sees."""
    if "\0" in cell:
        cell = cell.replace("\0", "")
    if "\r" in cell:
        cell = cell.replace("\r\n", "\n").replace("\r", "\n")
    return cell.strip()

"""CSV: one message a row. Columns are known by their usual names."""

import csv
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TextIO

from tallystick.agents.problem import Problem
from tallystick.import_limits import DEFAULT, ImportLimits
from tallystick.rooms.desk.intake.file_event import FileEvent, SkippedItem, whole
from tallystick.text.encoding import encoding_of, text_reader

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "content": (
        "content",
        "body",
        "message",
        "text",
        "description",
        "comment",
        "question",
        "inquiry",
        "ticket description",
        "customer message",
        "instruction",
    ),
    "subject": ("subject", "title", "ticket subject", "summary"),
    "thread_id": ("thread id", "thread", "conversation id", "conversation", "ticket id", "ticket", "case id"),
    "event_id": ("event id", "message id", "id", "number"),
    "actor": ("actor", "from", "email", "customer email", "requester", "sender", "author", "customer", "user"),
    "timestamp": ("timestamp", "created at", "date", "sent at", "created", "time"),
}
"""Field of the event → names of its column, the surest first."""
DELIMITERS = ",;\t|"
HEAD = 64 * 1024


def csv_events(path: Path, limits: ImportLimits = DEFAULT) -> Iterator[FileEvent | SkippedItem] | Problem:
    """The events of a file; a problem if no column holds the words."""
    with _opened(path) as opened:
        head = opened.readline(HEAD)
    delimiter = max(DELIMITERS, key=head.count)
    header = next(csv.reader([head], delimiter=delimiter), [])
    places = _places(header)
    if "content" not in places:
        named = ", ".join(COLUMNS["content"])
        return Problem(code="content_column_missing", message=f"No column holds the words. Name one of: {named}.")
    if len(header) > limits.columns:
        message = f"The table has {len(header):,} columns. Leave some out, or raise {limits.named('columns')}."
        return Problem(code="too_many_columns", message=message)
    return _events(path, delimiter, places, limits)


def _events(
    path: Path, delimiter: str, places: Mapping[str, int], limits: ImportLimits
) -> Iterator[FileEvent | SkippedItem]:
    with _opened(path) as opened:
        for number, (line, row) in enumerate(_rows(_Lines(opened, limits.row_chars), delimiter), start=2):
            # A cell may hold line breaks: then an editor counts otherwise than a table does.
            place = f"row {number}" if line == number else f"row {number}, line {line}"
            if row is None or not _fits(row, limits):
                yield SkippedItem(place=place, reason="row_malformed")
            elif any(cell.strip() for cell in row):
                yield FileEvent(place=place, event=_event(row, places))


def _opened(path: Path) -> TextIO:
    file = path.open("rb")
    encoding = encoding_of(file.read(HEAD)) or "utf-8-sig"
    file.seek(0)
    return text_reader(file, encoding)


def _rows(lines: Iterable[str], delimiter: str) -> Iterator[tuple[int, list[str] | None]]:
    """Each row with the line on which it begins; None: it cannot be read."""
    reader = csv.reader(lines, delimiter=delimiter)
    next(reader, None)
    while True:
        line = reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error:
            yield line, None
        else:
            yield line, row


class _Lines:
    """The lines of a file; one that is longer than a row is an error of its own, and is passed over in pieces."""

    def __init__(self, opened: TextIO, most: int) -> None:
        self._opened, self._most = opened, most

    def __iter__(self) -> "_Lines":
        return self

    def __next__(self) -> str:
        line = rest = self._opened.readline(self._most)
        if not line:
            raise StopIteration
        if len(line) < self._most or line.endswith("\n"):
            return line
        while rest and not rest.endswith("\n"):
            rest = self._opened.readline(self._most)
        raise csv.Error("line too long")


def _fits(row: list[str], limits: ImportLimits) -> bool:
    return sum(map(len, row)) <= limits.row_chars and all(len(cell) <= limits.cell_chars for cell in row)


def _event(row: list[str], places: Mapping[str, int]) -> dict[str, Any]:
    cells = {field: whole(row[place]) for field, place in places.items() if place < len(row)}
    subject = cells.pop("subject", "").strip()
    content = cells.get("content", "")
    if subject and subject not in content:
        content = f"{subject}\n\n{content}" if content.strip() else subject
    told = {field: text.strip() for field, text in cells.items() if field != "content" and text.strip()}
    return {"type": "csv_row", "content": content, **told}


def _places(header: list[str]) -> dict[str, int]:
    names = [name.strip().lower().replace("_", " ").replace("-", " ") for name in header]
    found: dict[str, int] = {}
    for field, known in COLUMNS.items():
        place = next((names.index(name) for name in known if name in names), None)
        if place is not None:
            found[field] = place
    return found

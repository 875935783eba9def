"""What readers of all formats give: rows of plain text."""

from collections.abc import Iterator
from typing import Protocol

from tallystick.records import record
from tallystick.rooms.insight.nouns import BadRow


@record
class Row:
    """One row as it stands in the file."""

    line: int
    """Where it begins: line, sheet row or item, from 1."""
    cells: list[str]


class Table(Protocol):
    """A file that can be read from its beginning as often as needed."""

    def rows(self) -> Iterator[Row | BadRow]:
        """Its rows, the header among the first of them; empty rows are left out."""
        ...


def is_blank(cells: list[str]) -> bool:
    """Whether a row says nothing."""
    return not any(cell and not cell.isspace() for cell in cells)

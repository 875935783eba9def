"""Rows of plain text, as every reader returns them."""

from collections.abc import Iterator
from typing import Protocol

from tallystick.errors import ToolError
from tallystick.records import record
from tallystick.rooms.insight.model import BadRow


class UnusableFile(ToolError):  # noqa: N818 - reads as what it is
    """The file cannot be imported; nothing was stored."""

    def __init__(self, code: str, message: str, *, hint: str, status: int = 400) -> None:
        super().__init__(message, status=status, hint=hint)
        self.code = code


@record
class Row:
    """One row of the file."""

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

"""Limits on the size of a table, checked row by row while it is read."""

from collections.abc import Iterator

from tallystick.import_limits import ImportLimits
from tallystick.rooms.insight.ingest.source_file import SourceFile
from tallystick.rooms.insight.ingest.table import Row, Table, UnusableFile
from tallystick.rooms.insight.model import BadRow

HEADER_ROWS = 10
"""A header is searched for within these rows."""


class Bounded:
    """A table whose cells, rows and whole text stay within the limits."""

    def __init__(self, table: Table, opened: SourceFile) -> None:
        self._table = table
        self._limits = opened.limits
        self._most = opened.limits.expanded(opened.size)

    def rows(self) -> Iterator[Row | BadRow]:
        """Its rows; one that is too long is a bad row, a table that is too large ends the reading.

        Raises:
            UnusableFile: `too_many_columns`, `too_many_rows` or `expands_too_much`.
        """
        limits, chars = self._limits, 0
        for number, row in enumerate(self._table.rows(), start=1):
            if number > limits.rows:
                raise refused("too_many_rows", f"The file has more than {limits.rows:,} rows.", limits, "rows")
            if isinstance(row, BadRow):
                yield row
                continue
            if number == 1 and len(row.cells) > limits.columns:
                raise too_wide(len(row.cells), limits)
            lengths = list(map(len, row.cells))
            chars += sum(lengths)
            check_expanded(chars, self._most, limits)
            yield _fitting(row, lengths, limits)


def check_expanded(size: int, most: int, limits: ImportLimits) -> None:
    """Refuse a table that expands to more than a file of its size may.

    Raises:
        UnusableFile: `expands_too_much`.
    """
    if size <= most:
        return
    message = f"The file expands to more than {most:,} bytes of text."
    if most == limits.expanded_bytes:
        raise refused("expands_too_much", message, limits, "expanded_bytes")
    raise refused("expands_too_much", message, limits, "free_bytes", "expansion_factor")


def too_wide(columns: int, limits: ImportLimits) -> UnusableFile:
    """For a header that no export has."""
    message = f"The table has {columns:,} columns; {limits.columns:,} are read at most."
    return refused("too_many_columns", message, limits, "columns", advice="Check the delimiter, leave out columns")


def refused(code: str, message: str, limits: ImportLimits, *names: str, advice: str = "Split the file") -> UnusableFile:
    """A refusal that names the limits which decide."""
    return UnusableFile(code, message, hint=f"{advice}, or raise {' or '.join(map(limits.named, names))}.")


def _fitting(row: Row, lengths: list[int], limits: ImportLimits) -> Row | BadRow:
    if sum(lengths) > limits.row_chars:
        return BadRow(line=row.line, reason="row_too_long", detail=limits.named("row_chars"))
    if max(lengths, default=0) > limits.cell_chars:
        return BadRow(line=row.line, reason="cell_too_long", detail=limits.named("cell_chars"))
    return row

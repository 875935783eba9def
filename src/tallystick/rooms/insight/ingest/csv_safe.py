"""Cells for a CSV file that somebody will open in a spreadsheet program."""

import re

_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)*%?")
_BEGINS_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""Also in the full-width forms, which some programs take for the same."""


def csv_safe(cell: str) -> str:
    """The cell, with an apostrophe before it if a program would take it for a formula; numbers stay numbers."""
    if cell.lstrip(" ").startswith(_BEGINS_FORMULA) and not _NUMBER.fullmatch(cell):
        return f"'{cell}"
    return cell

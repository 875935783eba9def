"""Half-open ranges of characters, and the line numbers of their offsets."""

from bisect import bisect_right
from typing import NamedTuple


class Span(NamedTuple):
    """The characters `text[start:end]`."""

    start: int
    end: int

    def of(self, text: str) -> str:
        """Return the characters of this span."""
        return text[self.start : self.end]


class LineIndex:
    """Line numbers for the offsets of one text; each lookup costs a binary search."""

    def __init__(self, text: str, *, first: int = 1) -> None:
        """Index the line feeds of a text.

        Args:
            text: The text.
            first: Number of its first line, for a text that is part of a longer one.
        """
        self._first = first
        self._breaks: list[int] = []
        at = text.find("\n")
        while at >= 0:
            self._breaks.append(at)
            at = text.find("\n", at + 1)

    def line_at(self, offset: int) -> int:
        """Return the number of the line that contains the character at this offset."""
        return self._first + bisect_right(self._breaks, offset - 1)


def trim(text: str, start: int, end: int) -> Span:
    """Return the span without white space at its ends; an empty span stays at its start."""
    piece = text[start:end]
    left = len(piece) - len(piece.lstrip())
    return Span(start + left, start + max(left, len(piece.rstrip()))) if left < len(piece) else Span(start, start)

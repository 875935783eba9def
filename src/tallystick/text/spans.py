"""Half-open ranges of characters."""

from typing import NamedTuple


class Span(NamedTuple):
    """The characters `text[start:end]`."""

    start: int
    end: int

    def of(self, text: str) -> str:
        """Return the characters of this span."""
        return text[self.start : self.end]


def trim(text: str, start: int, end: int) -> Span:
    """Return the span without white space at its ends; an empty span stays at its start."""
    piece = text[start:end]
    left = len(piece) - len(piece.lstrip())
    return Span(start + left, start + max(left, len(piece.rstrip()))) if left < len(piece) else Span(start, start)

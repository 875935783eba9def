"""Resolve escape sequences in a text, and map positions in the result back to the original.

A run of backslashes counts as one, so nested quoting of any depth is resolved in one pass. Some plain text is thereby
mistaken for an escape, so the result is used only for searching and never stored.
"""

import re
from bisect import bisect_right

Span = tuple[int, int]

_HEX = "[0-9a-fA-F]"
# The lookbehind makes a run of backslashes match only from its start.
_ESCAPED = re.compile(
    rf"(?<!\\)\\++(?:u([dD][89abAB]{_HEX}{{2}})\\++u([dD][c-fC-F]{_HEX}{{2}})|u({_HEX}{{4}})|([nrtbf/]))"
)
_SHORT = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f", "/": "/"}


class Unescaped:
    """A text with its escapes resolved."""

    def __init__(self, written: str) -> None:
        self._after: list[int] = [0]
        """Positions after each escape, in the resolved text."""
        self._goes_on: list[int] = [0]
        """The same positions in the original text."""
        parts: list[str] = []
        size = 0
        for escape in _ESCAPED.finditer(written):
            parts += written[self._goes_on[-1] : escape.start()], _letter(escape)
            size += escape.start() - self._goes_on[-1] + 1
            self._after.append(size)
            self._goes_on.append(escape.end())
        self.text = "".join(parts) + written[self._goes_on[-1] :]

    def spot(self, found: re.Match[str]) -> Span:
        """Return the span in the original text of a match in the resolved text."""
        return self._written_at(found.start()), self._written_at(found.end())

    def _written_at(self, position: int) -> int:
        last = bisect_right(self._after, position) - 1
        return self._goes_on[last] + position - self._after[last]


def _letter(escape: re.Match[str]) -> str:
    high, low, alone, short = escape.groups()
    if short is not None:
        return _SHORT[short]
    if alone is not None:
        return chr(int(alone, 16))
    return chr(0x10000 + ((int(high, 16) - 0xD800) << 10) + int(low, 16) - 0xDC00)

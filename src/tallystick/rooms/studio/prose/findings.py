"""A prose finding: kind, message and places."""

from collections.abc import Iterable
from typing import Literal

from tallystick.gate.reply.sources import Source
from tallystick.records import record
from tallystick.rooms.studio.quotes import Place, place

Focus = Literal["pacing", "voice", "rhythm"]
MAX_PLACES = 3
_WITHIN = 40
"""Lines that a sentence may run over before the words that are shown."""


@record
class Finding:
    """Something an editor would mark. Never an error: prose has no errors, only effects."""

    kind: str
    """Fixed: `repeated_word`, `long_sentence`, `lint.cliches`, …"""
    focus: Focus
    message: str
    count: int
    """How often, whether shown or not."""
    places: tuple[Place, ...]

    def shown(self) -> dict[str, object]:
        """The JSON form."""
        return {
            "kind": self.kind,
            "focus": self.focus,
            "message": self.message,
            "count": self.count,
            "places": [one.shown() for one in self.places],
        }


def places_of(source: Source, marks: Iterable[tuple[int, str]]) -> tuple[Place, ...]:
    """The first places that can be quoted, one a line."""
    found: list[Place] = []
    for line, text in marks:
        made = place(source, line, text, within=_WITHIN)
        if made is not None and all(one.line != made.line for one in found):
            found.append(made)
        if len(found) == MAX_PLACES:
            break
    return tuple(found)


def around(text: str, start: int, end: int, *, margin: int = 45) -> tuple[int, str]:
    """A few whole words before and after a place: (where they begin, what they are)."""
    first = max(0, start - margin)
    if first:
        gap = next((at for at in range(first, start) if text[at].isspace()), start - 1)
        first = min(gap + 1, start)
    last = min(len(text), end + margin)
    if last < len(text):
        last = next((at for at in range(last, end - 1, -1) if text[at].isspace()), end)
    while first < start and text[first].isspace():
        first += 1
    return first, text[first:last]

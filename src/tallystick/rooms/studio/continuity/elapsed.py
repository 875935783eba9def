"""How many years the story may have moved on between two places, by what the narration says of time passing."""

import re
from collections.abc import Sequence

from tallystick.rooms.studio.continuity.prose import Prose
from tallystick.rooms.studio.continuity.vocabulary import NUMBER, number_of

UNTOLD = 25
"""`Years passed`: so many at most, or the novel would say more of them."""
_PASSING = re.compile(
    rf"\b(?:(?P<n>{NUMBER}|many|some|several|a\s+few|the|these|those|long)\s+years\s+(?:later|afterwards?|passed|"
    rf"went\s+by|rolled|elapsed|had\s+passed|had\s+gone\s+by|had\s+elapsed|slipped\s+by|flew)|"
    rf"[Aa]fter\s+(?P<m>{NUMBER}|many|some|several|a\s+few|long)\s+(?:\w+\s+)?years\s*,|"
    r"(?P<vague>years\s+(?:later|passed|went\s+by|rolled\s+(?:by|on)|flew\s+by)|as\s+the\s+years\s+\w+)|"
    r"(?P<one>[Tt]he\s+(?:next|following)\s+(?:year|spring|summer|autumn|winter|Christmas)|[Nn]ext\s+(?:year|spring|"
    r"summer|autumn|winter)|"
    r"[Aa]\s+(?:whole\s+|full\s+)?year\s+(?:later|passed|after|had\s+passed|went)|[Aa]nother\s+year|birthday))\b",
    re.IGNORECASE,
)

_WORDS = frozenset({"years", "year", "spring", "summer", "autumn", "winter", "christmas", "birthday"})


class Elapsed:
    """The years that may pass in some files, in reading order."""

    def __init__(self, proses: Sequence[Prose]) -> None:
        self._steps: list[tuple[tuple[int, int], int]] = []
        for prose in proses:
            for _, found in prose.matches(_PASSING, _WORDS):
                self._steps.append(((prose.order, found.start()), _years(found)))
        self._steps.sort()

    def between(self, first: tuple[int, int], second: tuple[int, int]) -> int:
        """At most so many years."""
        return sum(years for place, years in self._steps if first < place <= second)


def _years(found: re.Match[str]) -> int:
    if found.group("one"):
        return 1
    counted = number_of(found.group("n") or found.group("m") or "")
    return UNTOLD if counted is None else counted

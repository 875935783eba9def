"""Which evidence is independent of which: the same source must never count twice.

Each unit that counts stands for groups and for root texts of its own. Two units that share a group depend on each
other; two that share a text are copies. Of all choices of units that are pairwise independent the strongest counts.
Because it is the best of all choices, one more observation can only make it better.

Most evidence is of one group, and then the choice is a matching of groups with texts. Groups that can be matched form a
matroid, so taking the strongest that still fits is the best choice. Only what goes back to several groups at once (a
summary of two pages) has to be tried out, in and not in.
"""

from collections import deque
from collections.abc import Iterator

from tallystick.records import record

MANY = 64
"""A group with so many root texts has one of its own, whatever others copied from it."""
TRIED = 8
"""Units of several groups that are tried out, the strongest first: 256 choices at most."""
FULL = 10_000

Newest = dict[str, tuple[int, str]]
"""Class → when it was last observed, and by which observation."""


class Group:
    """The evidence of one independence group."""

    __slots__ = ("newest", "roots", "texts")

    def __init__(self) -> None:
        self.newest: Newest = {}
        self.roots: set[str] = set()
        """Texts that were observed themselves: these saturate."""
        self.texts: set[str] = set()
        """All texts that it can stand for, those behind summaries too."""


@record
class Unit:
    """Something that may count once."""

    groups: tuple[str, ...]
    texts: set[str]
    strength: int
    observation_id: str


def independent(units: list[Unit], joint: list[Unit], *, copied: bool) -> tuple[list[Unit], int]:
    """The strongest choice of independent units, strongest first, and the largest number of them there can be.

    Args:
        units: Of one group each.
        joint: Of several groups each.
        copied: Some text stands in two of `units`.
    """
    alive = sorted((unit for unit in units if unit.strength), key=_by_strength)
    several = sorted((unit for unit in joint if unit.strength), key=_by_strength)[:TRIED]
    if not several and not copied:
        return alive, len(alive)
    best: list[Unit] = []
    least, number = _doubt([]), 0
    for together in _disjoint(several):
        groups = {name for unit in together for name in unit.groups}
        texts = {text for unit in together for text in unit.texts}
        chosen = [*together, *_matched([unit for unit in alive if unit.groups[0] not in groups], texts)]
        number = max(number, len(chosen))
        doubt = _doubt(chosen)
        if doubt[0] * least[1] < least[0] * doubt[1]:
            best, least = chosen, doubt
    return sorted(best, key=_by_strength), number


def _by_strength(unit: Unit) -> tuple[int, tuple[str, ...], str]:
    return -unit.strength, unit.groups, unit.observation_id


def _disjoint(units: list[Unit]) -> Iterator[list[Unit]]:
    """Every choice of units that share neither group nor text; the empty one first."""
    yield []
    for place, unit in enumerate(units):
        rest = [
            other
            for other in units[place + 1 :]
            if not set(other.groups) & set(unit.groups) and not other.texts & unit.texts
        ]
        for more in _disjoint(rest):
            yield [unit, *more]


def _matched(units: list[Unit], used: set[str]) -> list[Unit]:
    """The strongest units that can each be given a text of its own, none of them used."""
    holders: dict[str, Unit] = {}
    chosen: list[Unit] = []
    for unit in units:
        if _give_text(unit, holders, set(used)):
            chosen.append(unit)
            # What is weaker than all of these would not be weighed.
            if len(chosen) >= MANY:
                break
    return chosen


def _give_text(unit: Unit, holders: dict[str, Unit], tried: set[str]) -> bool:
    """Find a free text for a unit, if need be by giving those that stand in its way another one."""
    if len(unit.texts) >= MANY:
        return True
    came: dict[str, tuple[Unit, str | None]] = {}
    """Text → who could take it, and the text he would give up for it."""
    waiting: deque[tuple[Unit, str | None]] = deque([(unit, None)])
    while waiting:
        asking, given_up = waiting.popleft()
        for text in sorted(asking.texts - tried):
            tried.add(text)
            came[text] = (asking, given_up)
            holder = holders.get(text)
            if holder is None:
                _pass_on(text, came, holders)
                return True
            waiting.append((holder, text))
    return False


def _pass_on(text: str, came: dict[str, tuple[Unit, str | None]], holders: dict[str, Unit]) -> None:
    """Let everyone on the way take the text he found, in place of the one he gives up."""
    place: str | None = text
    while place is not None:
        taker, given_up = came[place]
        holders[place] = taker
        place = given_up


def _doubt(units: list[Unit]) -> tuple[int, int]:
    """What is left of doubt, as an exact fraction."""
    left = whole = 1
    for unit in units:
        left *= FULL - unit.strength
        whole *= FULL
    return left, whole

"""Which evidence is independent of which: the same source never counts twice.

Each unit that counts stands for groups and for root texts of its own. Two units that share a group depend on each
other; two that share a text are copies. Of all choices of pairwise independent units the strongest counts. Because it
is the best of all choices, one more observation can only improve it.

Most evidence has one group, and then the choice is a matching of groups with texts. Groups that can be matched form a
matroid, so taking the strongest that still fits is optimal. What goes back to several groups at once (a summary of two
pages) has to be tried. Trying all combinations would be exponential, and trying a sample would let something new
displace something better. So the choices considered have a fixed shape: none of these, one beside what has one group,
or two of them and nothing else. More evidence adds choices and removes none.

`GroupRanks` yields groups by strength without weighing all of them. Among groups whose best evidence is of one class
and that have equally many root texts, the latest is the strongest at any time. So groups are kept in lists by class and
number of texts, sorted by time, and the strongest of all heads one of the lists.
"""

from bisect import bisect_left, insort
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from heapq import heapify, heappop, heapreplace
from itertools import islice

from tallystick.records import record

WEIGHED = 64
"""Independent groups that are weighed and counted; the cap is reached with a handful. A group with so many root texts
has one of its own, whatever others copied from it."""
COUNTED = 8
"""So many that are of one group each: with one more or less of several groups nothing is decided."""
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


def independent(
    ranked: Callable[[], Iterator[Unit]], joint: list[Unit], *, texts: int, copied: bool, cap: int = FULL
) -> tuple[list[Unit], int]:
    """The strongest choice of independent units, strongest first, and the largest number of them that was found.

    Args:
        ranked: Gives those that are of one group each and weigh anything, the strongest first.
        joint: Of several groups each.
        texts: How many texts those have.
        copied: Some text stands in two of them.
        cap: What all of them together may come to; who has reached it need not look further.
    """
    several = sorted((unit for unit in joint if unit.strength), key=by_strength)
    best = _matched(ranked(), set(), texts) if copied else list(islice(ranked(), WEIGHED))
    if not several:
        return best, len(best)
    least, number = _doubt(best), len(best)
    many = number >= COUNTED
    if many and least[0] * FULL <= (FULL - cap) * least[1]:
        return best, number
    for chosen in _with_several(several, list(ranked()), best, texts):
        # It grows by one at most: where it no longer hangs on these, it is not less than where it did.
        number = number if many else max(number, len(chosen))
        doubt = _doubt(chosen)
        if doubt[0] * least[1] < least[0] * doubt[1]:
            best, least = chosen, doubt
    return sorted(best, key=by_strength), number


def by_strength(unit: Unit) -> tuple[int, tuple[str, ...], str]:
    """The strongest first."""
    return -unit.strength, unit.groups, unit.observation_id


def _with_several(several: list[Unit], alive: list[Unit], alone: list[Unit], most: int) -> Iterator[list[Unit]]:
    """The choices with units of several groups: two of them, or one beside those of one group.

    Args:
        several: Units of several groups, by strength.
        alive: Those of one group, by strength.
        alone: The best choice of the latter.
        most: How many texts the latter have.
    """
    if not several:
        return
    yield _strongest_pair(several)
    names = {unit.groups[0] for unit in alive}
    texts = {text for unit in alive for text in unit.texts}
    tried: set[tuple[frozenset[str], frozenset[str]]] = set()
    for unit in several:
        taken = frozenset(names.intersection(unit.groups)), frozenset(texts & unit.texts)
        # What takes the same from the others as a stronger one leads to nothing better.
        if taken not in tried:
            tried.add(taken)
            groups, used = taken
            free = [other for other in alive if other.groups[0] not in groups] if groups else alive
            yield [unit, *(_matched(free, set(used), most) if groups or used else alone)]


def _strongest_pair(several: list[Unit]) -> list[Unit]:
    """The two strongest that share neither group nor text, of units that are sorted by strength."""
    marks = _marks(several)
    best: list[Unit] = []
    doubt = FULL * FULL
    for place, unit in enumerate(several):
        for other in range(place + 1, len(several)):
            left = (FULL - unit.strength) * (FULL - several[other].strength)
            if left >= doubt:
                # Those that follow are weaker still.
                break
            if not marks[place] & marks[other]:
                best, doubt = [unit, several[other]], left
                break
    return best


def _marks(units: Iterable[Unit]) -> list[int]:
    """For each unit one number with a bit for every group and text it has: quick to compare."""
    bits: dict[tuple[bool, str], int] = {}
    marks: list[int] = []
    for unit in units:
        mark = 0
        for name in (*((True, group) for group in unit.groups), *((False, text) for text in unit.texts)):
            mark |= bits.setdefault(name, 1 << len(bits))
        marks.append(mark)
    return marks


def _matched(units: Iterable[Unit], used: set[str], most: int) -> list[Unit]:
    """The strongest units that can each be given a text of its own, none of them used.

    Args:
        units: The strongest first.
        used: Texts that are taken.
        most: How many texts there are: when all are given, nobody else gets one.
    """
    holders: dict[str, Unit] = {}
    chosen: list[Unit] = []
    gone = set(used)
    """Texts that nobody can be given any more."""
    for unit in units:
        if len(unit.texts) >= WEIGHED + len(used) or _give_text(unit, holders, gone):
            chosen.append(unit)
            # What is weaker than all of these would not be weighed.
            if len(chosen) >= WEIGHED or len(holders) + len(used) >= most:
                break
    return chosen


def _give_text(unit: Unit, holders: dict[str, Unit], gone: set[str]) -> bool:
    """Find a free text for a unit, if need be by giving those that stand in its way another one."""
    came: dict[str, tuple[Unit, str | None]] = {}
    """Text → who could take it, and the text he would give up for it."""
    waiting: deque[tuple[Unit, str | None]] = deque([(unit, None)])
    while waiting:
        asking, given_up = waiting.popleft()
        for text in sorted(asking.texts - gone - came.keys()):
            came[text] = (asking, given_up)
            holder = holders.get(text)
            if holder is None:
                _pass_on(text, came, holders)
                return True
            waiting.append((holder, text))
    # Whoever holds one of these could only have it replaced by another of these: none will ever be free.
    gone.update(came)
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


SATURATED = 3
"""So many root texts, and more make no difference."""
Strength = Callable[[str, int, int], int]
"""Class, number of root texts, time of observation → strength."""


def level_of(group: Group) -> int:
    """The number of root texts as it counts."""
    return min(max(len(group.roots), 1), SATURATED)


class GroupRanks:
    """The groups of one side."""

    def __init__(self) -> None:
        self._lists: dict[tuple[str, int], list[tuple[int, str]]] = {}

    def put(self, name: str, group: Group) -> None:
        """Take a group in, as it is."""
        level = level_of(group)
        for kind, (when, _) in group.newest.items():
            insort(self._lists.setdefault((kind, level), []), (-when, name))

    def take_out(self, name: str, group: Group) -> None:
        """Take a group out that is about to change."""
        level = level_of(group)
        for kind, (when, _) in group.newest.items():
            there = self._lists[kind, level]
            del there[bisect_left(there, (-when, name))]

    def strongest(self, strength: Strength) -> Iterator[str]:
        """The names of those that weigh anything, the strongest first."""
        heads = [
            (-strength(kind, level, -there[0][0]), there[0][1], 0, kind, level)
            for (kind, level), there in self._lists.items()
            if there
        ]
        heapify(heads)
        told: set[str] = set()
        while heads:
            weight, name, at, kind, level = heads[0]
            if not weight:
                return
            if name not in told:
                told.add(name)
                yield name
            there = self._lists[kind, level]
            if at + 1 < len(there):
                since, after = there[at + 1]
                heapreplace(heads, (-strength(kind, level, -since), after, at + 1, kind, level))
            else:
                heappop(heads)

"""Groups by strength, without weighing all of them.

Of groups whose best evidence is of one class and that have equally many root texts, the one that spoke last is the
strongest, at any time. So they lie in lists by class and number of texts, sorted by when they spoke, and the strongest
of all is the head of one of the lists. Only as many are weighed as are asked for.
"""

from bisect import bisect_left, insort
from collections.abc import Callable, Iterator
from heapq import heapify, heappop, heapreplace

from tallystick.rooms.memory.independence import Group

SATURATED = 3
"""So many root texts, and more make no difference."""
Strength = Callable[[str, int, int], int]
"""Class, number of root texts, time of observation → strength."""


def level_of(group: Group) -> int:
    """The number of root texts as it counts."""
    return min(max(len(group.roots), 1), SATURATED)


class Ranks:
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

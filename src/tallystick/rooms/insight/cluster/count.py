"""The number of clusters: the one on which halves of the tickets agree.

Two halves are grouped apart, at every number of groups that comes into question. The centres of one half sort the
tickets of the other, and what comes out is compared with the other half's own groups. A number of groups that is in the
tickets is found in both halves; one that is not falls apart differently. Neighbouring numbers are averaged, because one
of them alone can agree by luck.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from tallystick.records import record
from tallystick.rooms.insight.cluster.points import middles, nearest
from tallystick.rooms.insight.cluster.quality import agreement
from tallystick.rooms.insight.cluster.rows import Floats, Ints, Matrix
from tallystick.rooms.insight.cluster.space import pooled
from tallystick.rooms.insight.cluster.ward import Tree, ward_tree

STEP = 1.12
"""From one number of groups that is tried to the next."""
MOST = 400
FEW = 0.3
"""Of the square root of the rows: fewer groups than this are stable in most data and say little."""
CLEAR_GAP, CLEAR_STABILITY = 1.8, 0.85
"""So few are taken only where the tree itself breaks off there, and halves agree."""
VISIBLE_GAP = 1.3
"""Among numbers that are as good as each other, a break in the tree that is at least this wide decides."""


@record
class ClusterCount:
    """The chosen number of clusters, and why."""

    count: int
    profile: tuple[tuple[int, float], ...]
    """Number of groups → how well halves agree on it."""


class Halves:
    """Halves of some points, clustered separately."""

    def __init__(self, points: Matrix, weights: Floats) -> None:
        self._points = points
        self._weights = weights

    def stability(self, counts: Sequence[int]) -> list[float]:
        """How well halves agree at some numbers of groups, on a scale where chance is 0."""
        sums = np.zeros(len(counts))
        sides = self._sides
        for here, there in ((0, 1), (1, 0), (2, 3), (3, 2)):
            one, other = sides[here], sides[there]
            pairs = zip(one.tree.cuts(counts), other.tree.cuts(counts), strict=True)
            for place, (mine, yours) in enumerate(pairs):
                sorted_by_me, _ = nearest(other.points, middles(one.points, mine, one.weights))
                sums[place] += agreement(yours, sorted_by_me)
        return [float(total) / 4 for total in sums]

    @property
    def smallest(self) -> int:
        """Points in the smaller half."""
        return len(self._points) // 2

    @cached_property
    def _sides(self) -> "list[_Side]":
        return [_Side.of(self._points[half], self._weights[half]) for half in halves(len(self._points))]


@record
class _Side:
    points: Matrix
    weights: Floats
    tree: Tree

    @staticmethod
    def of(points: Matrix, weights: Floats) -> "_Side":
        return _Side(points=points, weights=weights, tree=ward_tree(pooled(points), weights))


def halves(many: int) -> "Iterator[Ints]":
    """Two ways to halve so many rows. Their order is that of digests, so every second one is a fair half."""
    places = np.arange(many)
    for size in (1, 2):
        for side in (0, 1):
            yield places[places // size % 2 == side]


def choose(tree: Tree, halved: Halves) -> ClusterCount:
    """The number of groups of a tree's points."""
    counts = _counts(tree.points, halved.smallest)
    if len(counts) < 2:  # noqa: PLR2004 - nothing to choose between
        return ClusterCount(count=min(2, tree.points), profile=())
    found = halved.stability(counts)
    smooth = [float(np.mean(found[max(0, at - 1) : at + 2])) for at in range(len(found))]
    best = _best(tree, counts, smooth, found)
    return ClusterCount(
        count=_broken_off(tree, counts, best),
        profile=tuple((count, round(value, 4)) for count, value in zip(counts, found, strict=True)),
    )


def _counts(points: int, half: int) -> list[int]:
    most = min(MOST, round(2 * points**0.5), points // 5, half - 1)
    counts = [2]
    while (after := max(counts[-1] + 1, round(counts[-1] * STEP))) <= most:
        counts.append(after)
    return counts if most > 2 else []  # noqa: PLR2004 - two groups at least


def _best(tree: Tree, counts: Sequence[int], smooth: Sequence[float], found: Sequence[float]) -> int:
    """The place of the number that halves agree on most."""
    few = FEW * tree.points**0.5
    clear = [
        at
        for at, count in enumerate(counts)
        if count < few and tree.gap(count) >= CLEAR_GAP and found[at] >= CLEAR_STABILITY
    ]
    if clear:
        return max(clear, key=lambda at: tree.gap(counts[at]))
    enough = [at for at, count in enumerate(counts) if count >= few] or list(range(len(counts)))
    return max(enough, key=lambda at: (smooth[at], -at))


def _broken_off(tree: Tree, counts: Sequence[int], best: int) -> int:
    """The number itself, or one beside it that was passed over and at which the tree breaks off visibly."""
    low = counts[best - 1] if best else counts[best]
    high = counts[best + 1] if best + 1 < len(counts) else counts[best]
    widest = max(range(low, high + 1), key=lambda count: (tree.gap(count), -count))
    return widest if tree.gap(widest) >= max(VISIBLE_GAP, tree.gap(counts[best])) else counts[best]

"""Ward's tree over weighted points, in blocks.

Ward's distance is reducible: two points that are nearest to each other stay so whatever else is merged. So all such
pairs are merged at once, round by round, until few enough clusters are left for a table of their distances. The tree is
the one that merging pair by pair gives, without ever holding the distances of all points.
"""

from collections.abc import Sequence

import numpy as np

from tallystick.records import record
from tallystick.rooms.insight.cluster.points import blocks
from tallystick.rooms.insight.cluster.rows import Floats, Ints, Matrix

TABLE = 3_000
"""Clusters whose distances fit in a table (72 MB)."""


@record
class Tree:
    """The merges of a Ward tree, nearest first."""

    points: int
    pairs: Ints
    """Two points a row, one of each of the clusters that were merged."""
    heights: Floats
    """How far apart they were: what the merging adds to the sum of squared distances."""

    def cut(self, count: int) -> Ints:
        """The clusters when so many are left."""
        return self.cuts([count])[0]

    def cuts(self, counts: Sequence[int]) -> list[Ints]:
        """The clusters at several numbers of them, in one go through the tree."""
        found: dict[int, Ints] = {}
        parent = list(range(self.points))
        left = self.points
        wanted = set(counts)
        for first, second in self.pairs.tolist():
            if left in wanted:
                found[left] = _numbered(parent)
            one, other = _root(parent, first), _root(parent, second)
            parent[max(one, other)] = min(one, other)
            left -= 1
        found[left] = _numbered(parent)
        return [found[count] for count in counts]

    def gap(self, count: int) -> float:
        """How much further apart the clusters are at so many than the last two that were merged to get there."""
        at = self.points - count
        if at < 1 or count < 2:  # noqa: PLR2004 - one cluster lies apart from nothing
            return 1.0
        return float(self.heights[at] / max(self.heights[at - 1], 1e-12))


def ward_tree(points: Matrix, weights: Floats) -> Tree:
    """The tree of some points."""
    merging = _Merging(points, weights)
    while len(merging.ids) > TABLE:
        merging.round()
    merging.finish()
    heights = np.array(merging.heights, dtype=np.float64)
    order = np.argsort(heights, kind="stable")
    pairs = np.array(merging.pairs, dtype=np.int64).reshape(-1, 2)
    return Tree(points=len(points), pairs=pairs[order], heights=heights[order])


class _Merging:
    """Clusters that are not merged yet, each under the number of its first point."""

    def __init__(self, points: Matrix, weights: Floats) -> None:
        self.middles = points.astype(np.float32)
        self.weights = weights.astype(np.float32)
        self.ids = np.arange(len(points))
        self.pairs: list[tuple[int, int]] = []
        self.heights: list[float] = []

    def round(self) -> None:
        """Merge all pairs that are nearest to each other."""
        near, far = self._nearest()
        here = np.arange(len(near))
        low = np.flatnonzero((near[near] == here) & (here < near))
        if not len(low):
            # Rounding can make three points each nearest to the next; the nearest pair of all breaks the ring.
            one = int(far.argmin())
            low, near = np.array([min(one, near[one])]), np.full(len(near), max(one, near[one]))
            far = np.full(len(near), far[one])
        high = near[low]
        self._note(self.ids[low].tolist(), self.ids[high].tolist(), far[low].tolist())
        total = self.weights[low] + self.weights[high]
        sums = self.middles[low] * self.weights[low, None] + self.middles[high] * self.weights[high, None]
        self.middles[low] = sums / total[:, None]
        self.weights[low] = total
        kept = np.ones(len(near), dtype=np.bool_)
        kept[high] = False
        self.middles, self.weights, self.ids = self.middles[kept], self.weights[kept], self.ids[kept]

    def finish(self) -> None:
        """Merge the rest along chains of nearest neighbours in a table of distances."""
        table, weights = self._table(), self.weights.astype(np.float64)
        gone = np.zeros(len(weights), dtype=np.bool_)
        chain: list[int] = []
        for _ in range(len(weights) - 1):
            if not chain:
                chain = [int(np.argmin(gone))]
            while True:
                row = table[chain[-1]]
                near = int(row.argmin())
                if len(chain) > 1 and row[chain[-2]] <= row[near]:
                    break
                chain.append(near)
            low, high = sorted((chain.pop(), chain.pop()))
            self._note([self.ids[low]], [self.ids[high]], [float(table[low, high])])
            _merge(table, weights, gone, low, high)

    def _nearest(self) -> tuple[Ints, Matrix]:
        squares = np.einsum("ij,ij->i", self.middles, self.middles)
        near = np.empty(len(squares), dtype=np.int64)
        far = np.empty(len(squares), dtype=np.float32)
        for some in blocks(len(squares)):
            apart = self.middles[some] @ self.middles.T
            apart *= -2
            apart += squares
            apart += squares[some, None]
            np.maximum(apart, 0, out=apart)
            apart *= self.weights
            apart /= self.weights + self.weights[some, None]
            rows = np.arange(len(apart))
            apart[rows, rows + some.start] = np.inf
            near[some] = apart.argmin(axis=1)
            far[some] = apart[rows, near[some]] * self.weights[some]
        return near, far

    def _table(self) -> Floats:
        middles, weights = self.middles.astype(np.float64), self.weights.astype(np.float64)
        squares = np.einsum("ij,ij->i", middles, middles)
        table: Floats = np.maximum(squares[:, None] + squares - 2 * (middles @ middles.T), 0)
        table *= np.multiply.outer(weights, weights) / np.add.outer(weights, weights)
        np.fill_diagonal(table, np.inf)
        return table

    def _note(self, low: list[int], high: list[int], heights: list[float]) -> None:
        self.pairs.extend(zip(map(int, low), map(int, high), strict=True))
        self.heights.extend(heights)


def _merge(
    table: Floats, weights: Floats, gone: "np.ndarray[tuple[int], np.dtype[np.bool_]]", low: int, high: int
) -> None:
    """The formula of Lance and Williams for Ward's distance."""
    one, other = weights[low], weights[high]
    moved = (one + weights) * table[low] + (other + weights) * table[high] - weights * table[low, high]
    moved /= one + other + weights
    gone[high] = True
    moved[gone] = np.inf
    moved[low] = np.inf
    table[low] = table[:, low] = moved
    table[high] = table[:, high] = np.inf
    weights[low] = one + other


def _root(parent: list[int], point: int) -> int:
    while parent[point] != point:
        parent[point] = parent[parent[point]]
        point = parent[point]
    return point


def _numbered(parent: list[int]) -> Ints:
    roots = np.array(parent, dtype=np.int64)
    while not np.array_equal(roots, roots[roots]):
        roots = roots[roots]
    numbered: Ints = np.unique(roots, return_inverse=True)[1].astype(np.int64)
    return numbered

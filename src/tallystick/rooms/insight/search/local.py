"""Vectors on this machine: every one compared, or the graph asked."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tallystick.rooms.insight.nouns import Where
from tallystick.rooms.insight.search.exact import candidates, settled
from tallystick.rooms.insight.search.files import GRAPH, Mapped
from tallystick.rooms.insight.search.graph import Graph, Progress, build
from tallystick.rooms.insight.search.nouns import Limits, Matrix, Near, Vector

FEW_SLICES = 256
"""Filters that leave more pieces than this are read ticket by ticket."""
AT_LEAST = 64
"""Candidates from the graph at least: they are held as bytes, so the order of the very nearest is not exact there."""
AT_ONCE = 16_384
"""Scattered rows compared at once."""


class LocalRows:
    """One mapped state of a dataset's vectors."""

    def __init__(self, mapped: Mapped, limits: Limits) -> None:
        self._mapped = mapped
        self._limits = limits
        self.stamp = mapped.stamp
        self.count = len(mapped.ids)
        self.mean = mapped.mean

    def prepare(self, progress: Progress) -> None:
        """Make the graph, where one is needed and missing."""
        path = self._mapped.folder / GRAPH
        if self.count > self._limits.exact_rows and not path.exists():
            build(self._mapped.vectors, path, progress)
            self.__dict__.pop("_graph", None)

    def nearest(self, query: Vector, k: int, where: Where) -> list[Near]:
        """The nearest of those that are meant, ties by id."""
        if self.count == 0:
            return []
        slices = self._slices(where)
        meant = sum(stop - start for start, stop in slices)
        k = min(k, meant)
        if k == 0:
            return []
        enough = self._limits.exact_rows if meant == self.count else self._limits.scan_rows
        if meant > enough and self._graph is not None:
            found = self._by_graph(self._graph, query, k, slices, self.count / meant)
            if found is not None:
                return found
        return self._by_scan(query, k, slices)

    def vectors(self, ticket_ids: list[int]) -> Matrix:
        """The vectors of some, a row each."""
        wanted = np.array(ticket_ids, dtype=np.int64)
        by_id, ids = self._by_id, self._mapped.ids
        return np.asarray(self._mapped.vectors[by_id[np.searchsorted(ids, wanted, sorter=by_id)]])

    @cached_property
    def _by_id(self) -> NDArray[np.intp]:
        return np.argsort(self._mapped.ids, kind="stable")

    @cached_property
    def _graph(self) -> Graph | None:
        path = self._mapped.folder / GRAPH
        return Graph(path, self._mapped.vectors.shape[1]) if path.exists() else None

    def _slices(self, where: Where) -> list[tuple[int, int]]:
        """The pieces of the file that are meant."""
        mapped, runs = self._mapped, self._mapped.runs
        meant = np.ones(len(runs), dtype=bool)
        filters = ((where.department, mapped.departments), (where.product, mapped.products))
        for column, (names, known) in enumerate(filters):
            if names:
                meant &= np.isin(runs[:, column], [known[name] for name in names if name in known])
        ends = np.r_[runs[1:, 2], self.count]
        # Pieces that touch become one.
        first = np.flatnonzero(meant & ~np.r_[False, meant[:-1]])
        last = np.flatnonzero(meant & ~np.r_[meant[1:], False])
        return list(zip(runs[first, 2].tolist(), ends[last].tolist(), strict=True))

    def _by_scan(self, query: Vector, k: int, slices: Sequence[tuple[int, int]]) -> list[Near]:
        places = np.concatenate([np.arange(start, stop) for start, stop in slices])
        if len(slices) <= FEW_SLICES:
            scores = np.concatenate([np.asarray(self._mapped.vectors[start:stop]) @ query for start, stop in slices])
        else:
            pieces = (places[at : at + AT_ONCE] for at in range(0, len(places), AT_ONCE))
            scores = np.concatenate([self._mapped.vectors[piece] @ query for piece in pieces])
        return self._settled(query, k, places[candidates(scores, self._mapped.ids[places], k)])

    def _by_graph(
        self, graph: Graph, query: Vector, k: int, slices: Sequence[tuple[int, int]], thinned: float
    ) -> list[Near] | None:
        """Ask for more than is wanted, so that enough pass the filters; None: reading all is quicker by now."""
        starts, stops = np.array(slices).T
        wanted = max(4 * k, AT_LEAST)
        fetch = int(wanted * thinned) + 1
        while fetch < self.count // 8:
            places = graph.near(query, fetch)
            at = np.searchsorted(starts, places, side="right") - 1
            places = places[(at >= 0) & (places < stops[np.maximum(at, 0)])]
            if len(places) >= min(wanted // 2, fetch // 2) and len(places) >= k:
                return self._settled(query, k, places)
            fetch *= 4
        return None

    def _settled(self, query: Vector, k: int, places: NDArray[np.integer]) -> list[Near]:
        places = np.sort(places)
        return settled(np.asarray(self._mapped.vectors[places]), self._mapped.ids[places], query, k)

"""Local vectors: full scan, or an HNSW graph."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tallystick.rooms.insight.model import Where
from tallystick.rooms.insight.search.exact import candidates, settled
from tallystick.rooms.insight.search.files import GRAPH, VectorFiles
from tallystick.rooms.insight.search.model import Limits, Matrix, Near, Vector

CONNECTIVITY, EXPANSION_ADD, EXPANSION_SEARCH = 16, 128, 448
"""With these, of the ten nearest of a million tickets 99 in 100 are found, in a few milliseconds."""
WIDER = 4
"""The search keeps so many times what is asked for: who filters afterwards asks for more, and all must be right."""
ADDED_AT_ONCE = 20_000
"""Vectors added between two reports."""


class Progress(Protocol):
    """Hears how far the work is."""

    def __call__(self, done: int, total: int, /) -> None:
        """(done, of how many)."""
        ...


class Graph:
    """A graph that is there; it is mapped, not loaded."""

    def __init__(self, path: Path, dim: int) -> None:
        self._index = _index(dim)
        self._index.view(str(path))
        # The library keeps what a search works with by thread number, and calls from here all have number 0.
        self._lock = Lock()

    def near(self, query: Vector, count: int) -> NDArray[np.int64]:
        """Places that are near, about as many as asked for."""
        with self._lock:
            self._index.expansion_search = max(EXPANSION_SEARCH, WIDER * count)
            keys: NDArray[np.int64] = self._index.search(query, count, threads=1).keys.astype(np.int64)
        return keys


FEW_SLICES = 256
"""Filters that leave more pieces than this are read ticket by ticket."""
AT_LEAST = 64
"""Candidates from the graph at least: they are held as bytes, so the order of the very nearest is not exact there."""
AT_ONCE = 16_384
"""Scattered rows compared at once."""


class LocalRows:
    """One mapped state of a dataset's vectors."""

    def __init__(self, mapped: VectorFiles, limits: Limits) -> None:
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


def build(vectors: Matrix, path: Path, progress: Progress) -> None:
    """Make the graph, and put it into place when it is whole."""
    index = _index(vectors.shape[1])
    for start in range(0, len(vectors), ADDED_AT_ONCE):
        some = np.ascontiguousarray(vectors[start : start + ADDED_AT_ONCE])
        index.add(np.arange(start, start + len(some), dtype=np.uint64), some, copy=True)
        progress(start + len(some), len(vectors))
    beside = path.with_suffix(".making")
    index.save(str(beside))
    beside.replace(path)


def _index(dim: int) -> Any:
    from usearch.index import Index  # noqa: PLC0415 - only large datasets need it

    return Index(
        ndim=dim,
        metric="cos",
        dtype="i8",
        connectivity=CONNECTIVITY,
        expansion_add=EXPANSION_ADD,
        expansion_search=EXPANSION_SEARCH,
        enable_key_lookups=False,
    )

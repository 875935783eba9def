"""An HNSW graph over the mapped vectors.

It holds them as bytes, which is a quarter of the memory, and finds candidates; what is told is compared on the full
vectors. Its keys are places in the file.
"""

from pathlib import Path
from threading import Lock
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tallystick.rooms.insight.search.nouns import Matrix, Vector

CONNECTIVITY, EXPANSION_ADD, EXPANSION_SEARCH = 16, 128, 448
"""With these, of the ten nearest of a million tickets 99 in 100 are found, in a few milliseconds."""
WIDER = 4
"""The search keeps so many times what is asked for: who filters afterwards asks for more, and all must be right."""
AT_ONCE = 20_000
"""Vectors added between two reports."""


class Progress(Protocol):
    """Hears how far the work is."""

    def __call__(self, done: int, total: int, /) -> None:
        """(done, of how many)."""
        ...


def build(vectors: Matrix, path: Path, progress: Progress) -> None:
    """Make the graph, and put it into place when it is whole."""
    index = _index(vectors.shape[1])
    for start in range(0, len(vectors), AT_ONCE):
        some = np.ascontiguousarray(vectors[start : start + AT_ONCE])
        index.add(np.arange(start, start + len(some), dtype=np.uint64), some, copy=True)
        progress(start + len(some), len(vectors))
    beside = path.with_suffix(".making")
    index.save(str(beside))
    beside.replace(path)


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


def _index(dim: int) -> Any:
    from usearch.index import Index  # noqa: PLC0415 - only large datasets need it

    return Index(
        ndim=dim, metric="cos", dtype="i8", connectivity=CONNECTIVITY, expansion_add=EXPANSION_ADD,
        expansion_search=EXPANSION_SEARCH, enable_key_lookups=False,
    )  # fmt: skip

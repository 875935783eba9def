"""Exact ranking of rows: equal vectors give an equal order, on every backend."""

import numpy as np
from numpy.typing import NDArray

from tallystick.rooms.insight.search.model import Matrix, Near, Vector

SLACK = 1e-5
"""More than a sum of float32 products can be wrong by: rows this close to the last one are compared exactly."""
MOST_TIED = 5_000
"""Of more rows than this that all score alike (copies of one text), those with the smallest ids are compared."""
DIGITS = 6
"""Digits of a score that are shown and compared: further ones are noise and must not affect the order."""


def candidates(scores: NDArray[np.float32], ids: NDArray[np.int64], k: int) -> NDArray[np.intp]:
    """The places that can be among the best k."""
    if k >= len(scores):
        return np.arange(len(scores))
    last = np.partition(scores, len(scores) - k)[len(scores) - k]
    above = np.flatnonzero(scores > last + SLACK)
    tied = np.flatnonzero(np.abs(scores - last) <= SLACK)
    if len(tied) > max(MOST_TIED, k):
        tied = tied[np.argsort(ids[tied], kind="stable")[: max(MOST_TIED, k)]]
    return np.concatenate([above, tied])


def settled(rows: Matrix, ids: NDArray[np.int64], query: Vector, k: int) -> list[Near]:
    """The best k of a few rows, in order."""
    # Product by product and row by row: a matrix product may round the same row differently in another place.
    scores = np.round((rows.astype(np.float64) * query.astype(np.float64)).sum(axis=1), DIGITS)
    order = np.lexsort((ids, -scores))[:k]
    return [(int(ids[place]), float(scores[place])) for place in order]

"""Centres and the rows that are nearest to them; everything in blocks, so that memory does not grow with the rows."""

from collections.abc import Iterator

import numpy as np
from scipy.sparse import csr_matrix  # type: ignore[import-untyped]

from tallystick.rooms.insight.cluster.rows import Floats, Ints, Matrix

BLOCK = 1_024
"""Rows that are compared with everything at once."""
ROUNDS = 25
"""Centres hardly move after so many."""


def blocks(count: int, size: int = BLOCK) -> Iterator[slice]:
    """Slices that cover so many rows."""
    return (slice(start, min(start + size, count)) for start in range(0, count, size))


def distances(some: Matrix, centres: Matrix) -> Matrix:
    """Squared distances of some rows to all centres."""
    found: Matrix = some @ centres.T
    found *= -2
    found += np.einsum("ij,ij->i", centres, centres)
    found += np.einsum("ij,ij->i", some, some)[:, None]
    np.maximum(found, 0, out=found)
    return found


def nearest(points: Matrix, centres: Matrix) -> tuple[Ints, Matrix]:
    """The nearest centre of each point, and the squared distance to it."""
    places = np.empty(len(points), dtype=np.int64)
    far = np.empty(len(points), dtype=np.float32)
    for some in blocks(len(points)):
        found = distances(points[some], centres)
        places[some] = found.argmin(axis=1)
        far[some] = found[np.arange(len(found)), places[some]]
    return places, far


def middles(points: Matrix, labels: Ints, weights: Floats) -> Matrix:
    """The weighted mean of each label's points; labels run from 0 without gaps."""
    count = int(labels.max()) + 1
    belongs = csr_matrix((weights, (labels, np.arange(len(points)))), shape=(count, len(points)))
    total = np.bincount(labels, weights=weights, minlength=count)
    middle: Matrix = (belongs @ points / total[:, None]).astype(np.float32)
    return middle


def settle(points: Matrix, labels: Ints, weights: Floats, rounds: int = ROUNDS) -> Ints:
    """Let each point go to the nearest middle, again and again, as long as no group loses all its points."""
    count = int(labels.max()) + 1
    for _ in range(rounds):
        moved, _ = nearest(points, middles(points, labels, weights))
        if np.array_equal(moved, labels) or len(np.unique(moved)) < count:
            break
        labels = moved
    return labels


def without_gaps(labels: Ints) -> Ints:
    """The same groups, numbered from 0 without gaps."""
    places: Ints = np.unique(labels, return_inverse=True)[1].astype(np.int64)
    return places


def spread(points: Matrix, labels: Ints, weights: Floats) -> float:
    """The weighted sum of squared distances to the middles: what k-means makes small."""
    off = points - middles(points, labels, weights)[labels]
    return float(np.einsum("ij,ij,i->", off, off, weights, dtype=np.float64))

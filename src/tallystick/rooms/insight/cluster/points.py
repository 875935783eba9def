"""Points, centres and nearest centres, computed in blocks so that memory does not grow with the rows."""

from collections.abc import Iterator

import numpy as np
from scipy.sparse import csr_matrix  # type: ignore[import-untyped]

from tallystick.records import record
from tallystick.rooms.insight.cluster.rows import Floats, Ints, Matrix, Rows, normal

WHOLE = 20_000
"""Different texts up to here are all compared with each other."""
MICRO = 4_000
SAMPLE = 60_000
"""Rows that centres are learned from: fifteen for each."""
MICRO_ROUNDS = 4
_AT_ONCE = 16_384


@record
class Points:
    """The clustered points: rows, or weighted centres of many rows."""

    matrix: Matrix
    weights: Floats
    """The number of tickets of each point."""
    point_of: Ints
    """The point of each row."""
    micro: int | None = None
    """The number of centres; None: every row is its own point."""


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


def rows_as_points(matrix: Matrix, weights: Ints) -> Points:
    """Every row for itself."""
    return Points(matrix=matrix, weights=weights.astype(np.float64), point_of=np.arange(len(matrix)))


def centres_as_points(rows: Rows, micro: int = MICRO) -> Points:
    """Some centres for all rows."""
    sample = np.array(rows.vectors[:SAMPLE])
    mean = sample.mean(axis=0)
    sample = normal(sample - mean)
    ones = np.ones(len(sample))
    # The first rows are the centres to begin with.
    labels, _ = nearest(sample, sample[:micro])
    centres = middles(sample, settle(sample, without_gaps(labels), ones, MICRO_ROUNDS), ones)
    point_of = np.empty(len(rows), dtype=np.int64)
    for some in blocks(len(rows), _AT_ONCE):
        point_of[some], _ = nearest(normal(rows.vectors[some] - mean), centres)
    kept, point_of = np.unique(point_of, return_inverse=True)
    weights = np.bincount(point_of, weights=rows.weights).astype(np.float64)
    return Points(matrix=centres[kept], weights=weights, point_of=point_of.astype(np.int64), micro=len(kept))

"""More rows than can be compared with each other become weighted centres.

Centres are learned from the first rows, which are a fair sample because rows stand in the order of their digests. Then
every row goes to the nearest centre, a block at a time. From there on the centres stand for the rows.
"""

import numpy as np

from tallystick.records import record
from tallystick.rooms.insight.cluster.centres import blocks, middles, nearest, settle, without_gaps
from tallystick.rooms.insight.cluster.rows import Floats, Ints, Matrix, Rows, normal

WHOLE = 20_000
"""Different texts up to here are all compared with each other."""
MICRO = 4_000
SAMPLE = 60_000
"""Rows that centres are learned from: fifteen for each."""
ROUNDS = 4
_AT_ONCE = 16_384


@record
class Points:
    """What is grouped: rows, or centres that stand for many of them."""

    matrix: Matrix
    weights: Floats
    """Tickets that each stands for."""
    point_of: Ints
    """The point of each row."""
    micro: int | None = None
    """How many centres stand for the rows; None: every row is its own point."""


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
    centres = middles(sample, settle(sample, without_gaps(labels), ones, ROUNDS), ones)
    point_of = np.empty(len(rows), dtype=np.int64)
    for some in blocks(len(rows), _AT_ONCE):
        point_of[some], _ = nearest(normal(rows.vectors[some] - mean), centres)
    kept, point_of = np.unique(point_of, return_inverse=True)
    weights = np.bincount(point_of, weights=rows.weights).astype(np.float64)
    return Points(matrix=centres[kept], weights=weights, point_of=point_of.astype(np.int64), micro=len(kept))

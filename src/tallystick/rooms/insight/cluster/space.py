"""The space of comparison: vectors and words combined, each row pooled with its nearest neighbours.

A vector says what a text is about, words say which of two near things it is about; a third of the weight on words
helps small models and does not hurt large ones. Averaging a row with its neighbours removes what is only manner of
speaking: groups become denser and the gaps between them emptier.
"""

from collections.abc import Sequence
from math import sqrt

import numpy as np
from scipy.sparse import csr_matrix  # type: ignore[import-untyped]

from tallystick.rooms.insight.cluster.points import BLOCK, blocks
from tallystick.rooms.insight.cluster.rows import Matrix, normal
from tallystick.rooms.insight.pii import unkeyed

WORDS = 0.3
"""Length of the words' part beside a vector of length 1; from 0.2 to 0.5 the corpora tried differ little."""
WIDTH = 200
"""Directions that words are reduced to."""
READ = 2_000
"""Characters of a text whose words count."""
POOLINGS = 2
LEAST_POOLED, MOST_POOLED = 5, 30
_SEED = 0


def blended(vectors: Matrix, texts: Sequence[str] | None) -> Matrix:
    """Vectors around their mean, with the words of their texts beside them."""
    points = normal(vectors - vectors.mean(axis=0))
    words = None if texts is None else _words(texts)
    return points if words is None else normal(np.hstack([points, np.float32(WORDS) * words]))


def pooled(points: Matrix) -> Matrix:
    """Each point averaged with its nearest neighbours, twice, around the mean of all."""
    count = neighbours_for(len(points))
    if count > 1:
        graph = _neighbours(points, count)
        for _ in range(POOLINGS):
            points = normal((graph @ points).astype(np.float32))
    centred: Matrix = points - points.mean(axis=0)
    return centred


def neighbours_for(many: int) -> int:
    """How many neighbours, itself among them, a point is averaged with; 1: none."""
    wanted = max(LEAST_POOLED, round(sqrt(many) / 5))
    # Of few points, an eighth: the smallest theme must not be averaged with the next one.
    return max(1, min(wanted, MOST_POOLED, many // 8))


def _neighbours(points: Matrix, count: int) -> csr_matrix:
    """A table of points by points: 1 for each of the nearest neighbours of a row."""
    places = np.empty((len(points), count), dtype=np.int32)
    for some in blocks(len(points), BLOCK):
        alike = points[some] @ points.T
        places[some] = np.argpartition(-alike, count - 1, axis=1)[:, :count]
    # In order, because sums are taken in this order.
    places.sort(axis=1)
    starts = np.arange(0, len(points) * count + 1, count)
    ones = np.ones(len(points) * count, dtype=np.float32)
    return csr_matrix((ones, places.ravel(), starts), shape=(len(points), len(points)))


def _words(texts: Sequence[str]) -> Matrix | None:
    """The words and pairs of words of each text in a few directions; None: the texts share none."""
    # Half a second to load, and only large groupings need them.
    from sklearn.decomposition import TruncatedSVD  # type: ignore[import-untyped]  # noqa: PLC0415
    from sklearn.feature_extraction.text import TfidfVectorizer  # type: ignore[import-untyped]  # noqa: PLC0415

    counter = TfidfVectorizer(sublinear_tf=True, min_df=2, ngram_range=(1, 2), dtype=np.float32)
    try:
        counts = counter.fit_transform(unkeyed(text)[:READ] for text in texts)
    except ValueError:
        return None
    width = min(WIDTH, len(texts) // 3, counts.shape[1] - 1)
    if width < 1:
        return None
    return normal(TruncatedSVD(width, random_state=_SEED).fit_transform(counts).astype(np.float32))

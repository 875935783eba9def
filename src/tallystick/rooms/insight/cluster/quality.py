"""Quality of a clustering: silhouette, and agreement with a repetition."""

import numpy as np

from tallystick.rooms.insight.cluster.points import blocks
from tallystick.rooms.insight.cluster.rows import Floats, Ints, Matrix

NOISE = -1


def silhouette(vectors: Matrix, labels: Ints, weights: Ints) -> float | None:
    """The mean silhouette by cosine, noise left out; None: there are not two groups.

    The mean cosine distance to a group is one minus the product with the mean of its unit vectors. So it is exact for
    all rows without comparing each with each.
    """
    kept = labels != NOISE
    vectors, labels, many = vectors[kept], labels[kept], weights[kept].astype(np.float64)
    names, labels = np.unique(labels, return_inverse=True)
    if len(names) < 2:  # noqa: PLR2004 - what lies apart needs another
        return None
    sizes: Floats = np.bincount(labels, weights=many).astype(np.float64)
    sums = np.zeros((len(names), vectors.shape[1]))
    for some in blocks(len(vectors)):
        np.add.at(sums, labels[some], vectors[some] * many[some, None])
    total = 0.0
    for some in blocks(len(vectors)):
        total += float(many[some] @ _silhouettes(vectors[some], labels[some], sums, sizes))
    return total / float(many.sum())


def agreement(one: Ints, other: Ints) -> float:
    """The adjusted Rand index of two groupings of the same rows."""
    width = int(other.max()) + 1
    both = np.unique(one * width + other, return_counts=True)[1].astype(np.float64)
    first, second = (np.bincount(labels).astype(np.float64) for labels in (one, other))
    together, mine, yours = (float((many * (many - 1)).sum()) / 2 for many in (both, first, second))
    pairs = len(one) * (len(one) - 1) / 2
    chance = mine * yours / pairs if pairs else 0.0
    best = (mine + yours) / 2
    return 1.0 if best == chance else (together - chance) / (best - chance)


def _silhouettes(some: Matrix, labels: Ints, sums: Floats, sizes: Floats) -> Floats:
    rows = np.arange(len(some))
    products = some @ sums.T
    mine = sizes[labels]
    # Without the row itself, which is at no distance from itself.
    own = (mine - products[rows, labels]) / np.maximum(mine - 1, 1)
    others = 1 - products / sizes
    others[rows, labels] = np.inf
    other = others.min(axis=1)
    found: Floats = (other - own) / np.maximum(np.maximum(own, other), 1e-12)
    found[mine < 2] = 0.0  # noqa: PLR2004 - a group of one has no inside
    return found

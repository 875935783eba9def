"""Ward, k-means and HDBSCAN behind one function."""

from collections.abc import Callable

import numpy as np

from tallystick.errors import ToolError
from tallystick.records import record
from tallystick.rooms.insight.cluster.count import Halves, choose, halves
from tallystick.rooms.insight.cluster.points import Points, distances, middles, nearest, settle, spread, without_gaps
from tallystick.rooms.insight.cluster.quality import NOISE, agreement
from tallystick.rooms.insight.cluster.rows import Floats, Ints, Matrix
from tallystick.rooms.insight.cluster.space import pooled
from tallystick.rooms.insight.cluster.ward import ward_tree

SEEDS = 5
"""Beginnings of k-means; the one that ends best counts."""
NEAR = 0.5
"""Below this cosine two texts have little in common."""
BLOCK = 1_024
DENSE_WIDTH = 24
"""Directions that HDBSCAN sees: in hundreds, everything is equally far from everything."""
LEAST_DENSE, MOST_DENSE = 5, 50
SAMPLES = 5
Profile = tuple[tuple[int, float], ...]
"""Number of groups → how well halves agree on it."""


@record
class ClusterOptions:
    """Options of a clustering; None: chosen automatically."""

    n_clusters: int | None = None
    min_cluster_size: int | None = None
    min_samples: int | None = None


@record
class Grouping:
    """Points with their clusters."""

    labels: Ints
    """From 0 without gaps; `NOISE` for points in no group."""
    params: dict[str, int]
    """The parameters that were used."""
    chosen_by: str
    """`given`, `stability` or `density`."""
    stability: float | None
    """The adjusted Rand index between halves; None: there are too few points to halve."""
    profile: Profile = ()


def group(points: Points, algorithm: str, wanted: ClusterOptions) -> Grouping:
    """Group points.

    Raises:
        ToolError: 400, with these parameters there are no groups.
    """
    return {"ward": _by_ward, "kmeans": _by_kmeans, "hdbscan": _by_density}[algorithm](points, wanted)


def _by_ward(points: Points, wanted: ClusterOptions) -> Grouping:
    smooth = pooled(points.matrix)
    tree = ward_tree(smooth, points.weights)
    halved = Halves(points.matrix, points.weights)
    count, stability = wanted.n_clusters, None
    profile: Profile = ()
    if count is None:
        choice = choose(tree, halved)
        count, profile = choice.count, choice.profile
    if 1 < count < halved.smallest:
        stability = halved.stability([count])[0]
    labels = settle(smooth, tree.cut(count), points.weights)
    return Grouping(
        labels=labels,
        params={"n_clusters": count},
        chosen_by="given" if wanted.n_clusters else "stability",
        stability=stability,
        profile=profile,
    )


def _by_kmeans(points: Points, wanted: ClusterOptions) -> Grouping:
    count = wanted.n_clusters
    profile: Profile = ()
    if count is None:
        choice = choose(ward_tree(pooled(points.matrix), points.weights), Halves(points.matrix, points.weights))
        count, profile = choice.count, choice.profile
    many = count

    def again(matrix: Matrix, weights: Floats) -> Ints | None:
        return kmeans(matrix, weights, many) if many < len(matrix) else None

    return Grouping(
        labels=kmeans(points.matrix, points.weights, count),
        params={"n_clusters": count},
        chosen_by="given" if wanted.n_clusters else "stability",
        stability=_stability(points, again),
        profile=profile,
    )


def _by_density(points: Points, wanted: ClusterOptions) -> Grouping:
    share = 1.0 if points.micro is None else points.micro / len(points.point_of)
    usual = max(LEAST_DENSE, min(MOST_DENSE, round(len(points.point_of) ** 0.5 / 5)))
    size = max(2, round((wanted.min_cluster_size or usual) * share))
    samples = min(wanted.min_samples or SAMPLES, len(points.matrix))
    if size > len(points.matrix):
        raise _all_noise(wanted.min_cluster_size or usual, "there are fewer different texts than that")
    labels = dense(points.matrix, size, samples)
    if not (labels != NOISE).any():
        raise _all_noise(wanted.min_cluster_size or usual, "no part of the tickets is that dense")

    def again(matrix: Matrix, weights: Floats) -> Ints | None:
        del weights
        # In half of the rows a group has half of its size.
        smaller = max(2, round(size / 2))
        return dense(matrix, smaller, min(samples, len(matrix))) if smaller <= len(matrix) else None

    params = {"min_cluster_size": wanted.min_cluster_size or usual, "min_samples": samples}
    return Grouping(labels=labels, params=params, chosen_by="density", stability=_stability(points, again))


def kmeans(points: Matrix, weights: Floats, count: int) -> Ints:
    """K-means from several fixed beginnings."""
    ends = [settle(points, _begun(points, weights, count, seed), weights) for seed in range(SEEDS)]
    return min(ends, key=lambda labels: spread(points, labels, weights))


def dense(points: Matrix, size: int, samples: int) -> Ints:
    """HDBSCAN on pooled points, in the directions in which they differ most."""
    # Half a second to load, and seldom wanted.
    from sklearn.cluster import HDBSCAN  # type: ignore[import-untyped]  # noqa: PLC0415

    smooth = pooled(points)
    _, axes = np.linalg.eigh(smooth.T.astype(np.float64) @ smooth)
    flat = smooth @ axes[:, ::-1][:, :DENSE_WIDTH]
    found = HDBSCAN(min_cluster_size=size, min_samples=samples, copy=True).fit_predict(flat)
    # Pooling draws every point to others; one that is near nothing by itself belongs to none of them.
    return np.where(_likeness(points) < NEAR, -1, np.asarray(found, dtype=np.int64))


def _likeness(points: Matrix) -> Floats:
    """How like each point is to the one that is most like it: the cosine, block by block."""
    lengths = np.linalg.norm(points, axis=1, keepdims=True)
    unit = points / np.maximum(lengths, 1e-12)
    most = np.empty(len(unit), dtype=np.float64)
    for start in range(0, len(unit), BLOCK):
        block = unit[start : start + BLOCK] @ unit.T
        rows = np.arange(len(block))
        block[rows, rows + start] = -1.0
        most[start : start + BLOCK] = block.max(axis=1)
    return most


def _begun(points: Matrix, weights: Floats, count: int, seed: int) -> Ints:
    """Centres to begin with: each new one is likely where the others are far."""
    random = np.random.default_rng(seed)
    chances = weights / weights.sum()
    chosen = [int(random.choice(len(points), p=chances))]
    far = distances(points, points[chosen])[:, 0].astype(np.float64)
    while len(chosen) < count and far.any():
        likely = far * weights
        chosen.append(int(random.choice(len(points), p=likely / likely.sum())))
        far = np.minimum(far, distances(points, points[chosen[-1:]])[:, 0])
        far[chosen] = 0
    return without_gaps(nearest(points, points[chosen])[0])


def _stability(points: Points, again: Callable[[Matrix, Floats], Ints | None]) -> float | None:
    """How well groups of one half sort the other as it sorts itself; noise is left out."""
    sides = [(points.matrix[half], points.weights[half]) for half in list(halves(len(points.matrix)))[:2]]
    found = [again(matrix, weights) for matrix, weights in sides]
    scores: list[float] = []
    for mine, yours, (matrix, weights), (other, _) in zip(found, found[::-1], sides, sides[::-1], strict=True):
        if mine is None or yours is None or not (mine != NOISE).any() or not (yours != NOISE).any():
            return None
        kept, theirs = mine != NOISE, yours != NOISE
        sorted_by_me, _ = nearest(other[theirs], middles(matrix[kept], mine[kept], weights[kept]))
        scores.append(agreement(yours[theirs], sorted_by_me))
    return sum(scores) / len(scores)


def _all_noise(size: int, why: str) -> ToolError:
    return ToolError(
        f"With min_cluster_size {size} every ticket is noise: {why}.",
        status=400,
        hint="Give a smaller min_cluster_size, or take algorithm ward, which leaves no ticket out.",
    )

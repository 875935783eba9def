"""The tree is the one that Ward's method gives, pair by pair."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage

from tallystick.rooms.insight.cluster.quality import agreement
from tallystick.rooms.insight.cluster.ward import TABLE, ward_tree


def scattered(many: int, dim: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(many, dim)).astype(np.float32)


@pytest.mark.promise("insight.cluster-ward")
@given(many=st.integers(2, 60), dim=st.integers(1, 6), seed=st.integers(0, 10_000))
def test_cuts_are_those_of_the_plain_method(many: int, dim: int, seed: int) -> None:
    points = scattered(many, dim, seed)
    tree, plain = ward_tree(points, np.ones(many)), linkage(points.astype(float), "ward")
    assert np.allclose(np.sqrt(2 * tree.heights), plain[:, 2], rtol=1e-3, atol=1e-3)
    for count in {1, 2, many // 2 or 1, many}:
        labels = tree.cut(count)
        assert sorted(set(labels.tolist())) == list(range(count))
        assert agreement(labels, fcluster(plain, count, "maxclust").astype(np.int64) - 1) > 0.999


@pytest.mark.promise("insight.cluster-ward")
def test_merging_many_pairs_at_once_gives_the_same_tree() -> None:
    points = scattered(TABLE + 400, 4, 7)
    tree, plain = ward_tree(points, np.ones(len(points))), linkage(points.astype(float), "ward")
    for count in (2, 10, 100, 1_000):
        assert agreement(tree.cut(count), fcluster(plain, count, "maxclust").astype(np.int64) - 1) > 0.99


@pytest.mark.promise("insight.cluster-ward")
@given(seed=st.integers(0, 10_000))
def test_a_weight_is_as_good_as_so_many_points(seed: int) -> None:
    points = scattered(25, 3, seed)
    weights = np.random.default_rng(seed).integers(1, 5, size=25)
    once = ward_tree(points, weights.astype(np.float64))
    often = ward_tree(np.repeat(points, weights, axis=0), np.ones(int(weights.sum())))
    for count in (2, 5, 10):
        assert agreement(np.repeat(once.cut(count), weights), often.cut(count)) > 0.999


@pytest.mark.promise("insight.cluster-ward")
def test_points_in_one_place_are_merged_first() -> None:
    points = np.array([[0.0, 1.0], [5.0, 0.0], [0.0, 1.0], [5.0, 0.0]], dtype=np.float32)
    assert ward_tree(points, np.ones(4)).cut(2).tolist() == [0, 1, 0, 1]


def test_where_the_tree_breaks_off_the_gap_is_wide() -> None:
    points = np.repeat(np.eye(3, dtype=np.float32) * 9, 20, axis=0) + scattered(60, 3, 1) * 0.1
    tree = ward_tree(points, np.ones(60))
    assert tree.gap(3) > 10 * max(tree.gap(2), tree.gap(4))
    assert tree.gap(1) == tree.gap(60) == 1.0

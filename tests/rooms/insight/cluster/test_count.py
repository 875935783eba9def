import numpy as np
import pytest

from tallystick.rooms.insight.cluster.count import Halves, choose, halves
from tallystick.rooms.insight.cluster.rows import Matrix, normal
from tallystick.rooms.insight.cluster.space import pooled
from tallystick.rooms.insight.cluster.ward import ward_tree


def blobs(count: int, each: int, *, spread: float, seed: int = 1, dim: int = 48) -> Matrix:
    chance = np.random.default_rng(seed)
    middles = normal(chance.normal(size=(count, dim)).astype(np.float32))
    made = np.repeat(middles, each, axis=0) + spread * chance.normal(size=(count * each, dim)) / dim**0.5
    return normal(made[chance.permutation(len(made))].astype(np.float32))


@pytest.mark.promise("insight.cluster-k")
@pytest.mark.parametrize(("count", "each"), [(2, 60), (3, 100), (4, 200), (8, 50), (15, 40), (40, 30)])
def test_as_many_groups_are_found_as_there_are(count: int, each: int) -> None:
    points = blobs(count, each, spread=0.5)
    ones = np.ones(len(points))
    choice = choose(ward_tree(pooled(points), ones), Halves(points, ones))
    assert choice.count == count
    assert max(stability for _, stability in choice.profile) > 0.95


@pytest.mark.promise("insight.cluster-k")
def test_groups_that_overlap_are_found_about_as_many() -> None:
    points = blobs(25, 60, spread=1.4)
    ones = np.ones(len(points))
    choice = choose(ward_tree(pooled(points), ones), Halves(points, ones))
    assert 18 <= choice.count <= 34
    assert choice.profile[-1][1] < max(stability for _, stability in choice.profile)


@pytest.mark.parametrize("many", [2, 3, 5, 9])
def test_of_a_handful_two_groups_are_made_and_no_stability_is_claimed(many: int) -> None:
    points = blobs(many, 1, spread=0.0)
    ones = np.ones(many)
    choice = choose(ward_tree(pooled(points), ones), Halves(points, ones))
    assert (choice.count, choice.profile) == (2, ())


def test_halves_hold_every_row_once_and_differ() -> None:
    first, second, third, fourth = (half.tolist() for half in halves(11))
    assert sorted(first + second) == sorted(third + fourth) == list(range(11))
    assert first != third

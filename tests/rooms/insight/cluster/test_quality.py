import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score, silhouette_score

from tallystick.rooms.insight.cluster.quality import NOISE, agreement, silhouette
from tallystick.rooms.insight.cluster.rows import normal

LABELS = st.lists(st.integers(0, 4), min_size=3, max_size=40)


@pytest.mark.promise("insight.cluster-figures")
@given(labels=LABELS, seed=st.integers(0, 1_000))
def test_the_silhouette_is_the_one_that_compares_each_with_each(labels: list[int], seed: int) -> None:
    assume(2 <= len(set(labels)) < len(labels))
    chance = np.random.default_rng(seed)
    vectors = normal(chance.normal(size=(len(labels), 5)).astype(np.float32))
    weights = chance.integers(1, 4, size=len(labels))
    found = silhouette(vectors, np.array(labels), weights)
    plain = silhouette_score(
        np.repeat(vectors, weights, axis=0).astype(float), np.repeat(labels, weights), metric="cosine"
    )
    assert found == pytest.approx(plain, abs=1e-4)


@pytest.mark.promise("insight.cluster-figures")
def test_noise_is_left_out_and_one_group_has_no_silhouette() -> None:
    vectors = normal(np.random.default_rng(1).normal(size=(6, 4)).astype(np.float32))
    labels, ones = np.array([0, 0, 1, 1, NOISE, NOISE]), np.ones(6, dtype=np.int64)
    assert silhouette(vectors, labels, ones) == silhouette(vectors[:4], labels[:4], ones[:4])
    assert silhouette(vectors, np.zeros(6, dtype=np.int64), ones) is None


@pytest.mark.promise("insight.cluster-figures")
@given(pairs=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=60))
def test_agreement_is_the_adjusted_rand_index(pairs: list[tuple[int, int]]) -> None:
    one, other = (np.array(side) for side in zip(*pairs, strict=True))
    assert agreement(one, other) == pytest.approx(adjusted_rand_score(one, other), abs=1e-9)

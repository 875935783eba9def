import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tallystick.rooms.insight.search.exact import candidates, settled

ROWS = arrays(
    np.float32, st.tuples(st.integers(1, 40), st.just(4)), elements=st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0])
)


@pytest.mark.promise("insight.search-ties")
@settings(max_examples=150, deadline=None)
@given(ROWS, st.integers(1, 45), st.integers(0, 10_000))
def test_the_best_are_those_of_a_plain_sort_with_ties_by_id(rows: np.ndarray, k: int, seed: int) -> None:
    query = np.array([0.5, -0.25, 1.0, 0.125], dtype=np.float32)
    chance = np.random.default_rng(seed)
    ids = chance.permutation(1_000)[: len(rows)].astype(np.int64)
    places = candidates(rows @ query, ids, k)
    found = settled(rows[places], ids[places], query, k)
    plain = sorted(((-round(float(row @ query), 6), int(one)) for row, one in zip(rows, ids, strict=True)))[:k]
    assert found == [(one, -score) for score, one in plain]
    order = chance.permutation(len(rows))
    shuffled = candidates(rows[order] @ query, ids[order], k)
    assert settled(rows[order][shuffled], ids[order][shuffled], query, k) == found


def test_many_copies_of_one_text_are_told_by_the_smallest_ids() -> None:
    rows = np.tile(np.array([[0.6, 0.8]], dtype=np.float32), (20_000, 1))
    ids = np.arange(20_000, 0, -1, dtype=np.int64)
    query = np.array([0.6, 0.8], dtype=np.float32)
    places = candidates(rows @ query, ids, 3)
    assert [one for one, _ in settled(rows[places], ids[places], query, 3)] == [1, 2, 3]

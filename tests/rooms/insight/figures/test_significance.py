"""The tests of differences, held against scipy's."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from tallystick.rooms.insight.figures.significance import (
    FEWEST,
    Part,
    compare_lists,
    compare_mixes,
    compare_shares,
    effect_of,
    holm,
    is_exact,
)

COUNTS = st.integers(min_value=0, max_value=400)
FEW = settings(max_examples=60, deadline=None)


@pytest.mark.promise("insight.analysis.significance")
@FEW
@given(COUNTS, COUNTS, COUNTS, COUNTS)
def test_two_shares_are_compared_as_scipy_compares_them(a: int, b: int, c: int, d: int) -> None:
    one, other = Part(hits=a, of=a + b), Part(hits=c, of=c + d)
    assume(one.of and other.of and 0 < a + c < one.of + other.of)
    p = compare_shares(one, other)
    if is_exact(one, other):
        expected = stats.fisher_exact([[a, b], [c, d]])[1]
    else:
        expected = stats.chi2_contingency([[a, b], [c, d]], correction=False)[1]
    assert p == pytest.approx(expected, rel=1e-6, abs=1e-12)
    assert p == pytest.approx(compare_shares(other, one), rel=1e-9)


def test_nothing_is_compared_with_nothing() -> None:
    assert compare_shares(Part(hits=0, of=0), Part(hits=1, of=2)) is None
    assert compare_shares(Part(hits=0, of=5), Part(hits=0, of=9)) == 1.0
    assert compare_mixes({}, {"a": 3}) is None
    assert compare_mixes({"a": 30}, {"a": 30}) is None


@pytest.mark.promise("insight.analysis.significance")
@FEW
@given(
    st.lists(st.integers(0, 40), min_size=FEWEST, max_size=60),
    st.lists(st.integers(0, 40), min_size=FEWEST, max_size=60),
)
def test_two_lists_are_compared_as_scipy_compares_them(one: list[int], other: list[int]) -> None:
    assume(len(set(one + other)) > 1)
    p = compare_lists(np.array(one, dtype=float), np.array(other, dtype=float))
    expected = stats.mannwhitneyu(one, other, method="asymptotic", alternative="two-sided").pvalue
    assert p == pytest.approx(min(1.0, expected), rel=1e-6, abs=1e-12)


def test_too_few_values_are_not_tested() -> None:
    assert compare_lists(np.arange(float(FEWEST - 1)), np.arange(50.0)) is None


@pytest.mark.promise("insight.analysis.significance")
def test_a_mix_is_compared_by_chi_squared_and_rare_values_count_together() -> None:
    one, other = {"a": 50, "b": 30, "c": 20}, {"a": 30, "b": 40, "c": 30}
    found = compare_mixes(one, other)
    assert found is not None
    statistic, p, _, _ = stats.chi2_contingency([list(one.values()), list(other.values())], correction=False)
    assert (found.p, found.v) == (pytest.approx(p), pytest.approx(math.sqrt(statistic / 200)))
    rare = {f"x{at}": 1 for at in range(12)}
    assert compare_mixes({**one, **rare}, other) is not None


@pytest.mark.promise("insight.analysis.significance")
@FEW
@given(st.dictionaries(st.text(min_size=1, max_size=3), st.floats(0, 1), min_size=1, max_size=20))
def test_many_comparisons_are_corrected_by_holm(given_ps: dict[str, float]) -> None:
    adjusted = holm(given_ps)
    assert all(given_ps[name] <= adjusted[name] <= 1 for name in given_ps)
    ordered = sorted(given_ps, key=lambda name: (given_ps[name], name))
    assert [adjusted[name] for name in ordered] == sorted(adjusted.values())
    least = min(given_ps.values())
    assert min(adjusted.values()) == pytest.approx(min(1.0, least * len(given_ps)))


def test_chance_alone_is_rarely_called_more_than_chance() -> None:
    rng = np.random.default_rng(5)
    called = 0
    for _ in range(300):
        x, y = rng.binomial(200, 0.2), rng.binomial(300, 0.2)
        p = compare_shares(Part(hits=int(x), of=200), Part(hits=int(y), of=300))
        called += p is not None and p < 0.05
    assert called / 300 < 0.09
    assert effect_of(Part(hits=1, of=2), Part(hits=1, of=2)) == 0

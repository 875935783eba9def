"""Interest wanes by activations."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.rooms.studio.issues.memory_file import DEFAULT_FLOORS, floor_of, interest_after

LEVELS = st.integers(1, 5)
COUNTS = st.integers(0, 1_000)


@pytest.mark.promise("issues.decay")
@pytest.mark.parametrize(
    ("activations", "left"),
    [(0, 5), (29, 5), (30, 4), (59, 4), (60, 3), (119, 3), (120, 2), (199, 2), (200, 1), (10_000, 1)],
)
def test_a_level_goes_after_30_60_120_and_200_activations(activations: int, left: int) -> None:
    assert interest_after(5, activations) == left
    assert interest_after(3, activations) == min(3, left)


@pytest.mark.promise("issues.decay")
@given(LEVELS, COUNTS, COUNTS, LEVELS)
def test_interest_never_grows_by_waiting_and_never_falls_below_its_floor(
    interest: int, now: int, later: int, floor: int
) -> None:
    first, then = interest_after(interest, now, floor=floor), interest_after(interest, now + later, floor=floor)
    assert 1 <= then <= first <= interest
    assert then >= min(floor, interest)


@pytest.mark.promise("issues.decay")
@given(LEVELS, COUNTS, COUNTS)
def test_it_does_not_matter_how_often_one_looks(interest: int, one: int, other: int) -> None:
    """What has waned by now is what the whole way gives: looking is no activation."""
    assert interest_after(interest, one + other) <= interest_after(interest, one)
    assert interest_after(interest_after(interest, one), one) == interest_after(interest, one)


@pytest.mark.promise("issues.decay")
@given(st.lists(st.sampled_from([*DEFAULT_FLOORS, "other"]), max_size=6))
def test_the_highest_floor_of_the_tags_holds(tags: list[str]) -> None:
    assert floor_of(tags) == max([DEFAULT_FLOORS.get(tag, 1) for tag in tags], default=1)
    assert floor_of(tags, {}) == 1

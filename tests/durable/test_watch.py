"""Who is called dead: only whose count stood still, long enough and often enough."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.storage.durable.watch import LOOKS, Watch

gaps = st.lists(st.floats(min_value=0.01, max_value=100), min_size=1, max_size=30)


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.promise("durable.stale")
@given(gaps)
def test_a_count_that_changes_is_never_stale_however_long_the_watcher_was_away(gaps: list[float]) -> None:
    clock = Clock()
    watch = Watch(stale_after_s=1.0, clock=clock)
    for count, gap in enumerate(gaps):
        clock.now += gap
        assert watch.look({"w": count}) == []


@pytest.mark.promise("durable.stale")
@given(gaps)
def test_a_count_that_stands_still_is_stale_exactly_after_time_and_looks(gaps: list[float]) -> None:
    clock = Clock()
    watch = Watch(stale_after_s=5.0, clock=clock)
    watch.look({"w": 1})
    for looks, gap in enumerate(gaps, start=1):
        clock.now += gap
        assert (watch.look({"w": 1}) == ["w"]) == (looks >= LOOKS and clock.now >= 5.0)


@pytest.mark.promise("durable.stale")
def test_a_watcher_that_was_stopped_itself_calls_nobody_dead_at_its_first_look() -> None:
    clock = Clock()
    watch = Watch(stale_after_s=5.0, clock=clock)
    watch.look({"w": 1})
    clock.now += 3600
    assert watch.look({"w": 1}) == []


@pytest.mark.promise("durable.stale")
def test_a_worker_that_left_and_came_back_begins_anew() -> None:
    clock = Clock()
    watch = Watch(stale_after_s=1.0, clock=clock)
    for _ in range(10):
        clock.now += 1
        watch.look({"w": 1})
    watch.look({})
    assert watch.look({"w": 1}) == []

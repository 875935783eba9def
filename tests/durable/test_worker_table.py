"""The workers' rows, and who takes over from whom."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.storage.durable.stored import StoredDurable
from tallystick.storage.durable.worker_table import UNCHANGED_CHECKS, StalledCounters, WorkerTable
from tallystick.turns.runs import WorkerSeen
from tests.durable.conftest import DATABASES, new_url


@pytest.fixture(scope="module", params=DATABASES)
def database(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoredDurable]:
    durable = StoredDurable(database_url=new_url(request.param, tmp_path_factory), control_room=Path("unused"))
    durable.open()
    yield durable
    durable.close()


@pytest.fixture
def workers(database: StoredDurable) -> Iterator[WorkerTable]:
    workers = database.open().workers
    yield workers
    for worker in workers.seen():
        workers.drop(worker.id)


@pytest.mark.promise("durable.own-id")
def test_a_worker_joins_once_beats_and_leaves(workers: WorkerTable) -> None:
    assert workers.join("a", host="h", pid=7)
    assert not workers.join("a", host="h", pid=7)
    assert workers.beat("a", host="h", pid=7)
    assert workers.seen() == [WorkerSeen(id="a", host="h", pid=7, beats=1)]
    workers.drop("a")
    assert workers.seen() == []


@pytest.mark.promise("durable.paused")
def test_a_beat_after_being_taken_over_puts_the_row_back_and_says_so(workers: WorkerTable) -> None:
    workers.join("a", host="h", pid=7)
    workers.drop("a")
    assert not workers.beat("a", host="h", pid=7)
    assert [worker.id for worker in workers.seen()] == ["a"]


@pytest.mark.promise("durable.one-taker")
def test_of_many_who_want_to_take_over_one_may(workers: WorkerTable) -> None:
    workers.join("dead", host="h", pid=1)
    for number in range(8):
        workers.join(f"taker-{number}", host="h", pid=1)
    dead = next(worker for worker in workers.seen() if worker.id == "dead")
    may: list[str] = []

    def claim(taker: str) -> None:
        if workers.claim(dead, taker=taker):
            may.append(taker)

    threads = [threading.Thread(target=claim, args=(f"taker-{number}",)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(may) == 1
    assert workers.claim(dead, taker=may[0]), "the same one may finish what it began"


@pytest.mark.promise("durable.one-taker")
def test_a_worker_that_beats_again_is_not_taken_over(workers: WorkerTable) -> None:
    workers.join("slow", host="h", pid=1)
    workers.join("taker", host="h", pid=1)
    (slow,) = [worker for worker in workers.seen() if worker.id == "slow"]
    assert workers.claim(slow, taker="taker")
    workers.beat("slow", host="h", pid=1)
    assert not workers.claim(slow, taker="taker")
    workers.drop("slow", taker="taker")
    assert [worker.id for worker in workers.seen()] == ["slow", "taker"], "its beat took the claim away"


@pytest.mark.promise("durable.one-taker")
def test_a_taker_that_died_is_followed_by_another(workers: WorkerTable) -> None:
    for name in ("dead", "died-too", "lives"):
        workers.join(name, host="h", pid=1)
    (dead,) = [worker for worker in workers.seen() if worker.id == "dead"]
    assert workers.claim(dead, taker="died-too")
    assert not workers.claim(dead, taker="lives")
    workers.drop("died-too")
    assert workers.claim(dead, taker="lives")


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
    watch = StalledCounters(stale_after_s=1.0, clock=clock)
    for count, gap in enumerate(gaps):
        clock.now += gap
        assert watch.update({"w": count}) == []


@pytest.mark.promise("durable.stale")
@given(gaps)
def test_a_count_that_stands_still_is_stale_exactly_after_time_and_looks(gaps: list[float]) -> None:
    clock = Clock()
    watch = StalledCounters(stale_after_s=5.0, clock=clock)
    watch.update({"w": 1})
    for looks, gap in enumerate(gaps, start=1):
        clock.now += gap
        assert (watch.update({"w": 1}) == ["w"]) == (looks >= UNCHANGED_CHECKS and clock.now >= 5.0)


@pytest.mark.promise("durable.stale")
def test_a_watcher_that_was_stopped_itself_calls_nobody_dead_at_its_first_look() -> None:
    clock = Clock()
    watch = StalledCounters(stale_after_s=5.0, clock=clock)
    watch.update({"w": 1})
    clock.now += 3600
    assert watch.update({"w": 1}) == []


@pytest.mark.promise("durable.stale")
def test_a_worker_that_left_and_came_back_begins_anew() -> None:
    clock = Clock()
    watch = StalledCounters(stale_after_s=1.0, clock=clock)
    for _ in range(10):
        clock.now += 1
        watch.update({"w": 1})
    watch.update({})
    assert watch.update({"w": 1}) == []

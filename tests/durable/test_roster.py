"""The workers' rows, and who takes over from whom."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick.storage.durable.roster import Roster
from tallystick.storage.durable.stored import StoredDurable
from tallystick.turns.runs import WorkerSeen
from tests.durable.conftest import DATABASES, new_url


@pytest.fixture(scope="module", params=DATABASES)
def database(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoredDurable]:
    durable = StoredDurable(database_url=new_url(request.param, request, tmp_path_factory), control_room=Path("unused"))
    durable.open()
    yield durable
    durable.close()


@pytest.fixture
def roster(database: StoredDurable) -> Iterator[Roster]:
    roster = database.open().roster
    yield roster
    for worker in roster.seen():
        roster.drop(worker.id)


@pytest.mark.promise("durable.own-id")
def test_a_worker_joins_once_beats_and_leaves(roster: Roster) -> None:
    assert roster.join("a", host="h", pid=7)
    assert not roster.join("a", host="h", pid=7)
    assert roster.beat("a", host="h", pid=7)
    assert roster.seen() == [WorkerSeen(id="a", host="h", pid=7, beats=1)]
    roster.drop("a")
    assert roster.seen() == []


@pytest.mark.promise("durable.paused")
def test_a_beat_after_being_taken_over_puts_the_row_back_and_says_so(roster: Roster) -> None:
    roster.join("a", host="h", pid=7)
    roster.drop("a")
    assert not roster.beat("a", host="h", pid=7)
    assert [worker.id for worker in roster.seen()] == ["a"]


@pytest.mark.promise("durable.one-taker")
def test_of_many_who_want_to_take_over_one_may(roster: Roster) -> None:
    roster.join("dead", host="h", pid=1)
    for number in range(8):
        roster.join(f"taker-{number}", host="h", pid=1)
    dead = next(worker for worker in roster.seen() if worker.id == "dead")
    may: list[str] = []

    def claim(taker: str) -> None:
        if roster.claim(dead, taker=taker):
            may.append(taker)

    threads = [threading.Thread(target=claim, args=(f"taker-{number}",)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(may) == 1
    assert roster.claim(dead, taker=may[0]), "the same one may finish what it began"


@pytest.mark.promise("durable.one-taker")
def test_a_worker_that_beats_again_is_not_taken_over(roster: Roster) -> None:
    roster.join("slow", host="h", pid=1)
    roster.join("taker", host="h", pid=1)
    (slow,) = [worker for worker in roster.seen() if worker.id == "slow"]
    assert roster.claim(slow, taker="taker")
    roster.beat("slow", host="h", pid=1)
    assert not roster.claim(slow, taker="taker")
    roster.drop("slow", taker="taker")
    assert [worker.id for worker in roster.seen()] == ["slow", "taker"], "its beat took the claim away"


@pytest.mark.promise("durable.one-taker")
def test_a_taker_that_died_is_followed_by_another(roster: Roster) -> None:
    for name in ("dead", "died-too", "lives"):
        roster.join(name, host="h", pid=1)
    (dead,) = [worker for worker in roster.seen() if worker.id == "dead"]
    assert roster.claim(dead, taker="died-too")
    assert not roster.claim(dead, taker="lives")
    roster.drop("died-too")
    assert roster.claim(dead, taker="lives")

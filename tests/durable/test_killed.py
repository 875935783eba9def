"""Workers are killed, paused and stopped; no run is lost and nothing takes effect twice."""

import random
import time

import pytest

from tests.durable.conftest import PATIENCE_S, STALE_S, Place, until
from tests.durable.samples import attempts, effects
from tests.sizes import size

RUNS = 12
STEPS = 6


@pytest.mark.promise("durable.kill", "durable.exactly-once", "durable.take-over")
def test_every_run_ends_and_every_step_takes_effect_once_while_workers_are_killed_at_random(place: Place) -> None:
    chance = random.Random(7)
    rounds = size(2, 20)
    runs = RUNS * max(1, rounds // 4)
    for worker_id in [place.worker() for _ in range(3)]:
        place.ready(worker_id)
    # Only now, and slow enough: on a busy machine all runs could be done before the first worker is killed.
    for number in range(runs):
        flow = "sample.chain" if number % 3 else "sample.gather"
        place.durable.start(flow, place.args(steps=STEPS, each_s=0.25), run_id=f"run:{number}")
    for _ in range(rounds):
        until(lambda: _busy(place) or _all_ended(place), "a busy worker")
        time.sleep(chance.uniform(0, 0.1))
        place.kill(chance.choice(sorted(_busy(place) or place.workers)))
        place.worker()
    begun = 0
    for number in range(runs):
        run = place.durable.wait(f"run:{number}", timeout_s=240)
        assert run is not None
        assert run.state == "done", run
        keys = [f"run:{number}/{kind}:{step}" for kind in _kinds(number) for step in range(STEPS)]
        assert run.result == [effects(place.out)[key] for key in keys]
        begun += run.attempts
    assert begun > runs, "no kill hit a run"
    expected = {f"run:{n}/{kind}:{step}" for n in range(runs) for kind in _kinds(n) for step in range(STEPS)}
    assert effects(place.out).keys() == expected


@pytest.mark.promise("durable.take-over", "durable.last-step")
def test_a_live_worker_takes_over_within_a_few_heartbeats_and_goes_on_after_the_last_finished_step(
    place: Place,
) -> None:
    dies, lives = place.worker(), place.worker()
    place.ready(dies)
    place.ready(lives)
    place.durable.start("sample.held", place.args(), run_id="run")
    until(lambda: attempts(place.out)["run/held"], "the held step")
    first = place.durable.status("run")
    assert first is not None
    assert first.worker is not None
    place.kill(first.worker)
    killed = time.monotonic()
    until(lambda: attempts(place.out)["run/held"] == 2, "taken over")
    # Stale, three looks, a poll; and a machine that is busy with other tests.
    assert time.monotonic() - killed < 30 * STALE_S
    (place.out / "go").touch()
    run = place.durable.wait("run", timeout_s=240)
    assert run is not None
    assert (run.state, run.attempts) == ("done", 2)
    assert run.worker in place.workers
    assert attempts(place.out) == {"run/first": 1, "run/held": 3, "run/last": 1}
    until(lambda: {worker.id for worker in place.durable.workers()} == {run.worker}, "the dead worker's row is gone")


@pytest.mark.promise("durable.paused")
def test_a_worker_paused_past_its_time_and_let_go_on_changes_nothing_and_works_again(place: Place) -> None:
    paused = place.worker()
    place.ready(paused)
    place.durable.start("sample.held", place.args(), run_id="run")
    until(lambda: attempts(place.out)["run/held"], "the held step")
    place.pause(paused)
    other = place.worker()
    until(lambda: attempts(place.out)["run/held"] == 2, "taken over")
    (place.out / "go").touch()
    run = place.durable.wait("run", timeout_s=240)
    assert run is not None
    assert (run.state, run.worker) == ("done", other)
    place.go_on(paused)
    until(lambda: paused in {worker.id for worker in place.durable.workers()}, "its row is back")
    again = place.durable.status("run")
    assert again == run
    assert effects(place.out) == dict(zip(["run/first", "run/held", "run/last"], run.result, strict=True))
    place.kill(other)
    place.durable.start("sample.chain", place.args(steps=2), run_id="later")
    later = place.durable.wait("later", timeout_s=240)
    assert later is not None
    assert (later.state, later.worker) == ("done", paused)


@pytest.mark.promise("durable.hand-over", "durable.quiet")
def test_a_worker_that_is_told_to_stop_hands_its_runs_over_at_once_and_was_quiet_all_along(place: Place) -> None:
    network = place.out / "network.log"
    stopped = place.worker(network_log=network)
    place.ready(stopped)
    place.durable.start("sample.until_mended", place.args(inside=False), run_id="fails")
    for flow in ("held", "held_async"):
        place.durable.start(f"sample.{flow}", place.args(), run_id=flow)
    for flow in ("sleeper", "sleeper_async"):
        place.durable.start(f"sample.{flow}", place.args(seconds=3600), run_id=flow)
    begun = {"held/held", "held_async/held", "sleeper/before", "sleeper_async/before"}
    until(lambda: begun <= attempts(place.out).keys(), "all begun")
    place.durable.wait("fails", timeout_s=240)
    (place.out / "go").touch()
    assert place.end(stopped) == (0, ""), "nothing printed, not even about the run that failed"
    assert place.left(stopped) == "0"
    assert not network.exists(), network.read_text()
    assert place.durable.workers() == []
    states = {run.id: run.state for run in place.durable.runs()}
    assert (states["sleeper"], states["sleeper_async"]) == ("waiting", "waiting")
    assert {states["held"], states["held_async"]} <= {"waiting", "done"}
    place.worker()
    for run_id in ("held", "held_async"):
        run = place.durable.wait(run_id, timeout_s=240)
        assert run is not None
        assert run.state == "done"
        # The held step notes two attempts by itself; nothing that had ended was done again.
        assert [attempts(place.out)[f"{run_id}/{step}"] for step in ("first", "held", "last")] == [1, 2, 1]


@pytest.mark.promise("durable.hand-over")
def test_a_step_that_outlasts_the_grace_is_done_again_by_another_worker(place: Place) -> None:
    stopped = place.worker(grace_s=0.2)
    place.ready(stopped)
    place.durable.start("sample.held", place.args(), run_id="run")
    until(lambda: attempts(place.out)["run/held"], "the held step")
    place.workers[stopped].terminate()
    until(lambda: place.left(stopped) == "1", "it gives up waiting")
    place.worker()
    until(lambda: attempts(place.out)["run/held"] == 2, "taken over")
    (place.out / "go").touch()
    run = place.durable.wait("run", timeout_s=240)
    assert run is not None
    assert run.state == "done"
    assert run.result == [effects(place.out)[f"run/{step}"] for step in ("first", "held", "last")]


@pytest.mark.promise("durable.dead-letter")
def test_a_run_that_kills_its_worker_each_time_becomes_a_dead_letter_and_can_be_resumed(place: Place) -> None:
    place.durable.start("sample.deadly", place.args(), run_id="deadly")
    killed = place.worker()
    until(lambda: place.workers[killed].exitcode == 9, "the worker is dead")
    lives = place.worker()
    until(lambda: (run := place.durable.status("deadly")) and run.state == "dead", "the dead letter")
    place.durable.start("sample.chain", place.args(steps=1), run_id="fine")
    fine = place.durable.wait("fine", timeout_s=240)
    assert fine is not None
    assert (fine.state, fine.worker) == ("done", lives)
    resumed = place.durable.resume("deadly")
    assert resumed is not None
    assert resumed.state in {"waiting", "running"}
    until(lambda: attempts(place.out)["deadly/kill"] == 2, "tried once more")


@pytest.mark.promise("durable.start-together", "durable.queues")
def test_workers_that_begin_together_on_an_empty_database_get_there_and_keep_a_queues_limit_together(
    place: Place,
) -> None:
    # A busy machine must not make one look dead here: its runs would be begun twice, beside the limit.
    workers = [place.worker(stale_s=PATIENCE_S) for _ in range(3)]
    for worker_id in workers:
        place.ready(worker_id)
    assert {worker.id for worker in place.durable.workers()} == set(workers)
    for number in range(12):
        place.durable.start("sample.counted", place.args(each_s=0.4), run_id=f"run:{number}")
    ended = [place.durable.wait(f"run:{number}", timeout_s=240) for number in range(12)]
    assert [run.state for run in ended if run is not None] == ["done"] * 12
    assert max(run.result for run in ended if run is not None) == 2


def _kinds(number: int) -> list[str]:
    return ["step"] if number % 3 else ["plain", "loop"]


def _busy(place: Place) -> set[str]:
    return {run.worker for run in place.durable.runs(states=["running"]) if run.worker in place.workers}


def _all_ended(place: Place) -> bool:
    return not place.durable.runs(states=["waiting", "running", "delayed"])

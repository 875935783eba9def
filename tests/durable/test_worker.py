"""A worker looks after what others lost, starts what is scheduled, and is there once in a process."""

import base64
import pickle
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dbos._queue
import psycopg
import pytest
import sqlalchemy as sa

from tallystick.errors import ConfigError
from tallystick.storage.durable import executor
from tallystick.storage.durable.database import SCHEMA
from tallystick.storage.durable.flow_registry import Intervals
from tallystick.storage.durable.stored import StoredDurable, run_worker
from tallystick.turns.durable import Run
from tallystick.turns.runs import DurableError, Queue, Schedule
from tests.durable.conftest import InProcessWorker, Place, until
from tests.durable.samples import attempts, effects, sample_durable
from tests.postgres import new_postgres


@pytest.mark.promise("durable.nothing-stuck")
def test_runs_that_were_taken_from_the_queue_and_never_begun_are_found(place: Place) -> None:
    for run_id in ("ours", "strangers"):
        place.durable.start("sample.chain", place.args(steps=1), run_id=run_id, delay_s=3600)
    with InProcessWorker(place.durable) as worker:
        _taken_by(place.durable, "ours", worker.worker_id)
        _taken_by(place.durable, "strangers", "nobody-known")
        for run_id in ("ours", "strangers"):
            lost = place.durable.wait(run_id, timeout_s=240)
            assert lost is not None
            assert (lost.state, lost.worker) == ("done", worker.worker_id)
    assert attempts(place.out) == {"ours/step:0": 1, "strangers/step:0": 1}
    assert place.durable.workers() == []


@pytest.mark.promise("durable.database-away")
def test_a_database_that_goes_away_and_comes_back_costs_time_and_nothing_else(
    postgres_place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    place = postgres_place
    name = sa.make_url(place.url).database
    for number in range(4):
        place.durable.start("sample.chain", place.args(steps=4, each_s=0.1), run_id=f"run:{number}")
    with InProcessWorker(place.durable), psycopg.connect(new_postgres("postgresql"), autocommit=True) as admin:
        until(lambda: sum(attempts(place.out).values()) > 2, "some steps")
        admin.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
        admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name])
        with pytest.raises(DurableError) as away:
            place.durable.status("run:0")
        assert away.value.code == "durable_database_unavailable"
        noted = len(caplog.records)
        until(lambda: "tallystick.durable" in {record.name for record in caplog.records[noted:]}, "the worker notices")
        admin.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
        ended = [place.durable.wait(f"run:{number}", timeout_s=60) for number in range(4)]
    assert [run.state for run in ended if run is not None] == ["done"] * 4
    assert len(effects(place.out)) == 16


@pytest.mark.promise("durable.queues")
def test_a_queue_gives_the_lower_priority_first(place: Place) -> None:
    for run_id, priority in [("later", 9), ("soon", 1), ("now", 0)]:
        place.durable.start("sample.single", place.args(steps=1), run_id=run_id, priority=priority)
    with InProcessWorker(place.durable):
        place.durable.wait("later", timeout_s=240)
    order = (place.out / "attempts.log").read_text().splitlines()
    assert order == ["now/step:0", "soon/step:0", "later/step:0"]


@pytest.mark.promise("durable.queues")
def test_a_run_that_is_slow_to_begin_keeps_its_place_in_a_queue_of_one(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin = dbos._queue.execute_dequeued_workflow
    waits = iter((0.4, 0.2, 0.0))

    def late(*given: Any) -> SimpleNamespace:
        # As on a machine that is too busy to give the thread its turn; the queue is asked every 20 ms.
        threading.Timer(next(waits), begin, given).start()
        return SimpleNamespace(future=Future())

    monkeypatch.setattr(dbos._queue, "execute_dequeued_workflow", late)
    for run_id in ("first", "second", "third"):
        place.durable.start("sample.single", place.args(steps=1), run_id=run_id)
    with InProcessWorker(place.durable):
        for run_id in ("first", "second", "third"):
            place.durable.wait(run_id, timeout_s=240)
    order = (place.out / "attempts.log").read_text().splitlines()
    assert order == ["first/step:0", "second/step:0", "third/step:0"]


@pytest.mark.promise("durable.queues", "durable.nothing-stuck")
def test_a_run_that_never_begins_does_not_stop_its_queue(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    begin = dbos._queue.execute_dequeued_workflow
    lost: Future[Any] = Future()
    lost.set_exception(RuntimeError("gone before it began"))

    def loses_one(engine: Any, status: Any, owner: str) -> Any:
        lose = status["workflow_uuid"] == "lost" and status["recovery_attempts"] == 1
        return SimpleNamespace(future=lost) if lose else begin(engine, status, owner)

    monkeypatch.setattr(dbos._queue, "execute_dequeued_workflow", loses_one)
    for run_id in ("lost", "next"):
        place.durable.start("sample.single", place.args(steps=1), run_id=run_id)
    with InProcessWorker(place.durable):
        ended = [place.durable.wait(run_id, timeout_s=240) for run_id in ("next", "lost")]
    assert [run and run.state for run in ended] == ["done", "done"]
    assert attempts(place.out) == {"next/step:0": 1, "lost/step:0": 1}


@pytest.mark.promise("durable.dead-letter", "durable.nothing-stuck")
def test_a_run_that_cannot_even_be_begun_becomes_a_dead_letter(place: Place) -> None:
    place.durable.start("sample.deadly", place.args(), run_id="torn")
    with _table(place.durable, "workflow_input") as (connection, table):
        connection.execute(sa.text(f"DELETE FROM {table}"))
    with InProcessWorker(place.durable):
        torn = place.durable.wait("torn", timeout_s=240)
    assert torn is not None
    assert (torn.state, torn.attempts) == ("dead", 1)


@pytest.mark.promise("durable.no-pickle")
def test_a_row_that_would_run_code_when_read_is_not_read(place: Place) -> None:
    bomb = base64.b64encode(pickle.dumps(_Bomb(place.out / "exploded"))).decode()
    place.durable.start("sample.chain", place.args(steps=1), run_id="planted", delay_s=3600)
    with _table(place.durable, "workflow_input") as (connection, table):
        connection.execute(sa.text(f"UPDATE {table} SET inputs = :bomb"), {"bomb": bomb})
    with _table(place.durable, "workflow_status") as (connection, table):
        connection.execute(sa.text(f"UPDATE {table} SET serialization = 'py_pickle', status = 'ENQUEUED'"))
    seen = place.durable.status("planted")
    assert seen is not None
    assert (seen.state, seen.args) == ("waiting", {})
    with InProcessWorker(place.durable):
        ended = place.durable.wait("planted", timeout_s=240)
    assert not (place.out / "exploded").exists()
    assert ended is not None
    assert ended.state == "failed"


@pytest.mark.promise("durable.schedule")
def test_a_schedule_starts_its_flow_once_for_each_time_over_all_workers(place: Place) -> None:
    place.durable.schedule(
        Schedule(name="often", flow="sample.chain", cron="* * * * * *", args=place.args(steps=1), timezone="Asia/Tokyo")
    )
    with InProcessWorker(place.durable):
        place.ready(place.worker())
        until(lambda: len(place.durable.runs(flow="sample.chain", states=["done"])) >= 2, "twice")
        place.durable.unschedule("often")
        until(lambda: not place.durable.runs(states=["waiting", "running"]), "all ended")
    runs = place.durable.runs(flow="sample.chain")
    times = [run.args["scheduled_at"] for run in runs]
    assert len(set(times)) == len(times)
    assert set(attempts(place.out).values()) == {1}


@pytest.mark.promise("durable.one-per-process")
def test_a_second_worker_in_the_process_is_refused_and_the_first_goes_on(tmp_path: Path) -> None:
    first, second = (sample_durable(f"sqlite:///{tmp_path}/{name}.db", tmp_path) for name in ("one", "two"))
    with InProcessWorker(first):
        with pytest.raises(DurableError) as refused:
            run_worker(second, threading.Event(), worker_id="second")
        assert refused.value.code == "durable_one_per_process"
        assert second.workers() == []
        first.start("sample.chain", {"out": str(tmp_path), "steps": 1}, run_id="run")
        run = first.wait("run", timeout_s=240)
        assert run is not None
        assert run.state == "done"
    with InProcessWorker(second):
        assert len(second.workers()) == 1
    first.close()
    second.close()


@pytest.mark.promise("durable.one-per-process")
def test_another_dbos_in_the_process_is_not_taken_for_ours(tmp_path: Path) -> None:
    durable = sample_durable(f"sqlite:///{tmp_path}/ours.db", tmp_path)
    durable.open()
    executor._quieten()
    dbos.DBOS(config={"name": "theirs", "system_database_url": f"sqlite:///{tmp_path}/theirs.db"})
    try:
        with pytest.raises(DurableError) as refused:
            run_worker(durable, threading.Event(), worker_id="ours")
        assert refused.value.code == "durable_one_per_process"
    finally:
        dbos.DBOS.destroy(destroy_registry=True)
        durable.close()


@pytest.mark.promise("durable.own-id")
def test_an_id_that_is_there_already_is_refused(tmp_path: Path) -> None:
    durable = sample_durable(f"sqlite:///{tmp_path}/durable.db", tmp_path)
    durable.open().workers.join("same", host="elsewhere", pid=1)
    with pytest.raises(DurableError) as refused:
        run_worker(durable, threading.Event(), worker_id="same")
    assert refused.value.code == "worker_id_taken"
    durable.close()


@pytest.mark.promise("durable.quiet")
def test_the_engines_cloud_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executor.GlobalParams, "dbos_cloud", True)
    durable = sample_durable(f"sqlite:///{tmp_path}/durable.db", tmp_path)
    with pytest.raises(ConfigError) as refused:
        run_worker(durable, threading.Event(), worker_id="w")
    assert refused.value.code == "config_bad_value"
    assert durable.workers() == []
    durable.close()


@pytest.mark.promise("durable.refusals")
@pytest.mark.parametrize(
    "timing",
    [Intervals(heartbeat_s=0), Intervals(heartbeat_s=5, stale_after_s=10), Intervals(poll_s=0), Intervals(grace_s=-1)],
)
def test_a_timing_that_calls_live_workers_dead_is_refused(tmp_path: Path, timing: Intervals) -> None:
    durable = sample_durable(f"sqlite:///{tmp_path}/durable.db", tmp_path)
    with pytest.raises(ConfigError) as refused:
        run_worker(durable, threading.Event(), worker_id="w", timing=timing)
    assert refused.value.code == "config_bad_value"
    durable.close()


@pytest.mark.promise("durable.refusals")
def test_a_schedule_that_cannot_be_read_stops_the_worker_from_starting(tmp_path: Path) -> None:
    durable = sample_durable(f"sqlite:///{tmp_path}/durable.db", tmp_path)
    durable.schedule(Schedule(name="odd", flow="sample.chain", cron="99 * * * *"))
    with pytest.raises(DurableError) as refused:
        run_worker(durable, threading.Event(), worker_id="w")
    assert refused.value.code == "durable_refused"
    assert str(refused.value).startswith("odd: ")
    durable.close()


@pytest.mark.promise("durable.refusals")
def test_registering_after_the_worker_began_is_refused(tmp_path: Path) -> None:
    durable = StoredDurable(database_url=None, control_room=tmp_path / ".control-room")
    durable.add_queue(Queue(name="q"))
    durable.register("a.flow", _nothing, queue="q")
    with InProcessWorker(durable), pytest.raises(DurableError) as refused:
        durable.register("b.flow", _nothing, queue="q")
    assert refused.value.code == "registration_late"
    durable.close()
    assert (tmp_path / ".control-room" / "durable.db").is_file()


def _nothing(run: Run, args: dict[str, object]) -> None:
    """A flow without steps."""


def _taken_by(durable: StoredDurable, run_id: str, worker_id: str) -> None:
    """Leave the row as a worker does that dies, or loses the database, right after taking the run."""
    with _table(durable, "workflow_status") as (connection, table):
        taken = f"UPDATE {table} SET status = 'PENDING', executor_id = :worker WHERE workflow_uuid = :run"
        connection.execute(sa.text(taken), {"worker": worker_id, "run": run_id})


@contextmanager
def _table(durable: StoredDurable, name: str) -> Iterator[tuple[sa.Connection, str]]:
    """The engine's own table, behind its back."""
    engine = durable.open().engine
    with engine.begin() as connection:
        yield connection, name if engine.dialect.name == "sqlite" else f"{SCHEMA}.{name}"


class _Bomb:
    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self._path,)

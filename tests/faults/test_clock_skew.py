"""Processes on one workspace whose clocks differ by hours."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from tallystick.gate.decide.approvals import Hold, State
from tallystick.gate.decide.bindings import call_digest, canonical, live_digest
from tallystick.gate.session import Session
from tallystick.settings import parse_settings
from tallystick.storage.approvals import SqlApprovalStore
from tallystick.storage.database import migrate, open_engine
from tests.databases import new_database
from tests.durable.conftest import PATIENCE_S, until
from tests.durable.samples import effects, sample_durable
from tests.faults.history import check_history
from tests.faults.processes import HERE
from tests.ledgers import Workspace
from tests.sizes import size

HOURS = (-3600, 0, 3600)
RUNS, STEPS = size(4, 24), 5
DATABASES = pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
Process = subprocess.Popen[bytes]


def skewed(ahead_s: float, *words: object) -> Process:
    command = [sys.executable, "-m", "tests.faults.skewed", str(ahead_s), *map(str, words)]
    paths = os.pathsep.join((str(HERE / "src"), str(HERE)))
    return subprocess.Popen(command, env={**os.environ, "PYTHONPATH": paths}, cwd=HERE)


@pytest.fixture
def processes() -> Iterator[list[Process]]:
    started: list[Process] = []
    yield started
    for process in started:
        process.kill()
        process.wait()


@pytest.mark.promise("durable.take-over", "durable.exactly-once", "durable.clock-skew")
@DATABASES
def test_workers_whose_clocks_differ_by_hours_take_over_and_do_everything_once(
    tmp_path: Path, kind: str, processes: list[Process]
) -> None:
    url = new_database(kind, tmp_path)
    durable = sample_durable(url, tmp_path / "unused")
    ids = [f"w{ahead}" for ahead in HOURS]
    processes += [skewed(ahead, "worker", url, name, tmp_path / name) for ahead, name in zip(HOURS, ids, strict=True)]
    until(lambda: all((tmp_path / f"{name}.ready").exists() for name in ids), "ready")
    for number in range(RUNS):
        durable.start("sample.chain", {"out": str(tmp_path), "steps": STEPS, "each_s": 0.3}, run_id=f"run:{number}")
    until(lambda: {run.worker for run in durable.runs(states=["running"])} & set(ids), "a busy worker")
    busy = {run.worker for run in durable.runs(states=["running"])}
    doomed = next(place for place, name in enumerate(ids) if name in busy)
    processes[doomed].kill()
    ended = [durable.wait(f"run:{number}", timeout_s=PATIENCE_S) for number in range(RUNS)]
    assert [run.state for run in ended if run is not None] == ["done"] * RUNS
    assert effects(tmp_path).keys() == {f"run:{number}/step:{step}" for number in range(RUNS) for step in range(STEPS)}
    alive = set(ids) - {ids[doomed]}
    until(
        lambda: {worker.id for worker in durable.workers()} == alive,
        "the dead one is known, and no other is taken for it",
    )
    durable.close()


@pytest.mark.promise("record.one-chain", "record.clock-jump")
def test_processes_whose_clocks_differ_by_hours_write_one_chain(tmp_path: Path, processes: list[Process]) -> None:
    workspace, number = Workspace(tmp_path), size(60, 1_000)
    acks = [tmp_path / f"acks-{ahead}" for ahead in HOURS]
    started = [
        skewed(ahead, "append", tmp_path, orjson.dumps(workspace.ledger).decode(), path, "s", number, "late")
        for ahead, path in zip(HOURS, acks, strict=True)
    ]
    processes += started
    assert [process.wait(PATIENCE_S) for process in started] == [0] * len(HOURS)
    with workspace.opened() as ledger:
        assert check_history(ledger, acks) == number * len(HOURS)
    report = workspace.verify()
    assert report.ok, report.problems


@pytest.mark.promise("decide.approval-once")
@DATABASES
def test_a_request_that_one_clock_calls_expired_is_expired_for_all_and_a_grant_is_taken_once(
    tmp_path: Path, kind: str
) -> None:
    engine = open_engine(parse_settings({"storage": {"database_url": new_database(kind, tmp_path)}}), tmp_path)
    migrate(engine)
    store, other = SqlApprovalStore(engine), SqlApprovalStore(engine)
    right, fast, slow = 1_000, 3_600_000, -3_600_000
    asked = held("one", created=right, expires=right + 500)
    store.hold(asked)
    # By the fast clock it is over; that is written down as soon as it writes anything.
    assert other.take(asked.live_digest, fast) is None
    other.hold(held("two", created=fast, expires=fast + 500))
    for now in (slow, right, fast):
        answer = store.grant(asked.approval_id, person="eve", channel="terminal", now=now)
        assert not isinstance(answer, Hold)
        assert store.take(asked.live_digest, now) is None
    assert store.get(asked.approval_id, slow).state is State.EXPIRED  # type: ignore[union-attr]
    third = held("three", created=right, expires=right + 500)
    store.hold(third)
    store.grant(third.approval_id, person="eve", channel="terminal", now=right)
    taken = [one.take(third.live_digest, now) for one in (store, other) for now in (slow, right, slow)]
    assert sum(grant is not None for grant in taken) == 1
    engine.dispose()


def held(name: str, *, created: int, expires: int) -> Hold:
    args, session = {"to": name}, Session(session_id="s")
    digest = call_digest("local", "send", args, "p")
    return Hold(
        approval_id=f"apr_{name}", digest=digest, live_digest=live_digest(digest, session), session=session, tool="send",
        args=canonical(args), shown=canonical(args), policy_digest="p", reason="approval_required", created=created, expires=expires,
    )  # fmt: skip

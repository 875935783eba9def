"""PostgreSQL restarts and fails over while calls wait for approval and runs are under way."""

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tallystick import Gate
from tallystick.errors import TallyError
from tests.durable.conftest import InProcessWorker, until
from tests.durable.samples import attempts, effects, sample_durable
from tests.faults.cluster import Cluster
from tests.faults.proxy import Proxy
from tests.faults.test_postgres import opened, sends
from tests.sizes import size
from tests.verifying import verify

RUNS, STEPS = 4, 6
CLERKS = 3


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster() as made:
        yield made


class Clerk(threading.Thread):
    """Has calls held, approved and run, one after the other, and repeats what the database could not do."""

    def __init__(self, gate: Gate, name: str, stop: threading.Event) -> None:
        super().__init__(name=name)
        self._gate = gate
        self._halt = stop
        self.done: list[str] = []
        self.used: list[str] = []
        self.errors: Counter[str] = Counter()
        self.broke: BaseException | None = None

    def run(self) -> None:
        try:
            number = 0
            while not self._halt.is_set():
                self._one(f"{self.name}-{number}")
                number += 1
        except BaseException as error:
            self.broke = error

    def _one(self, to: str) -> None:
        held = self._until(lambda: self._hold(to))
        self._until(lambda: self._gate.approvals.approve(held, person="eve", channel="terminal"))
        outcome = self._until(lambda: asyncio.run(self._gate.resume(held)))
        if outcome.status == "accepted":
            self.done.append(to)
        else:
            assert outcome.rejection.reason == "approval_used", outcome
            self.used.append(to)

    def _hold(self, to: str) -> str | None:
        outcome = self._gate.call_sync("send", {"to": to}, session=self.name)
        if outcome.held is None:
            self.errors[outcome.rejection.reason] += 1
            return None
        return outcome.held.approval_id

    def _until(self, act: Callable[[], object]) -> object:
        deadline = time.monotonic() + 120
        while True:
            try:
                if (done := act()) is not None:
                    if getattr(getattr(done, "rejection", None), "reason", "") == "approvals_unavailable":
                        self.errors["approvals_unavailable"] += 1
                        continue
                    return done
            except TallyError as error:
                self.errors[error.code] += 1
            assert time.monotonic() < deadline, "the database did not come back"
            time.sleep(0.02)


@pytest.mark.promise("durable.database-away", "decide.approval-once", "decide.approvals-away")
@pytest.mark.parametrize("what", ["restart", "failover"])
def test_a_server_that_restarts_or_fails_over_under_load_loses_nothing_acknowledged(
    tmp_path: Path, cluster: Cluster, what: str
) -> None:
    if what == "failover":
        cluster.add_standby()
    ran: list[str] = []
    stop = threading.Event()
    out = tmp_path / "out"
    out.mkdir()
    with Proxy(cluster.url) as proxy, opened(tmp_path, proxy) as gate:
        gate.register(sends(ran))
        with closing(sample_durable(proxy.url, out / "unused")) as durable, InProcessWorker(durable):
            clerks = [Clerk(gate, f"clerk{number}", stop) for number in range(CLERKS)]
            for number in range(RUNS):
                durable.start("sample.chain", {"out": str(out), "steps": STEPS, "each_s": 0.3}, run_id=f"run:{number}")
            for clerk in clerks:
                clerk.start()
            for _ in range(size(2, 10) if what == "restart" else 1):
                before = len(ran)
                until(lambda before=before: len(ran) >= before + 10 or any(one.broke for one in clerks), "some calls")
                if what == "restart":
                    cluster.restart()
                else:
                    proxy.leave(cluster.fail_over())
            before = len(ran)
            until(lambda: len(ran) >= before + 10 or any(one.broke for one in clerks), "calls after it")
            stop.set()
            for clerk in clerks:
                clerk.join(150)
            ended = [durable.wait(f"run:{number}", timeout_s=200) for number in range(RUNS)]
        check_calls(gate, clerks, ran)
    assert [one.state for one in ended if one is not None] == ["done"] * RUNS
    assert effects(out).keys() == {f"run:{number}/step:{step}" for number in range(RUNS) for step in range(STEPS)}
    assert all(count <= 4 for count in attempts(out).values())
    assert verify(tmp_path / "work").ok


def check_calls(gate: Gate, clerks: list[Clerk], ran: list[str]) -> None:
    assert [one.broke for one in clerks] == [None] * CLERKS
    done = [to for one in clerks for to in one.done]
    assert Counter(ran) == Counter(done), "each call that was told to have run has run once, and no other"
    assert sum(one.errors.total() for one in clerks) > 0, "nobody noticed: there was no fault"
    assert {code for one in clerks for code in one.errors} <= {"approvals_unavailable"}
    kept = {one.state.value for one in gate.approvals.list(limit=1000)}
    assert kept == {"taken"}, "no acknowledged answer was lost"

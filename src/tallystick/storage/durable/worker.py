"""Lifecycle of a worker: heartbeat, takeover of dead workers' runs, release of its own runs at the end."""

import logging
import os
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from tallystick.storage.durable.executor import Executor
from tallystick.storage.durable.flow_registry import FlowRegistry, Intervals
from tallystick.storage.durable.runs import Runs
from tallystick.storage.durable.worker_table import StalledCounters
from tallystick.turns.runs import MAX_ATTEMPTS, DurableError, RunStatus

log = logging.getLogger("tallystick.durable")

UNKNOWN_HOST = "?"


@dataclass(frozen=True, kw_only=True)
class Worker:
    """One worker of this process; its id is unique and never reused."""

    worker_id: str
    book: FlowRegistry
    runs: Runs
    timing: Intervals

    def work(self, stop: threading.Event, ready: Callable[[], None]) -> frozenset[str]:
        """Work until `stop` is set; return the runs that were still inside a step when the grace period ended."""
        self.timing.check()
        self.book.close()
        self.runs.declare(poll_s=self.timing.poll_s)
        executor = Executor(worker_id=self.worker_id, book=self.book, runs=self.runs)
        # The row is written before the first run, so that others know the owner of a run that has just started.
        if not self.runs.workers.join(self.worker_id, host=socket.gethostname(), pid=os.getpid()):
            message = f"a worker '{self.worker_id}' is there already; give each its own id"
            raise DurableError(message, code="worker_id_taken")
        gone = threading.Event()
        heart = threading.Thread(target=self._beat, args=(gone,), name="tally-heartbeat", daemon=True)
        heart.start()
        try:
            left = self._run(executor, stop, ready)
        finally:
            gone.set()
            heart.join()
        if not left:
            self.runs.workers.drop(self.worker_id)
        return left

    def _run(self, executor: Executor, stop: threading.Event, ready: Callable[[], None]) -> frozenset[str]:
        try:
            executor.launch()
        except BaseException:
            self.runs.workers.drop(self.worker_id)
            raise
        try:
            ready()
            checks = _Checks(worker=self, executor=executor)
            while not stop.wait(self.timing.heartbeat_s):
                self._guarded(checks.run)
        finally:
            left = executor.stop(grace_s=self.timing.grace_s)
            self._guarded(lambda: self._release_runs(left))
        return left

    def _release_runs(self, left: frozenset[str]) -> None:
        """Release the runs started here that are not inside a step, so that another worker can take them."""
        for run in self.runs.running():
            if run.worker == self.worker_id and run.id not in left:
                self.runs.release(run.id, worker=self.worker_id)

    def _beat(self, gone: threading.Event) -> None:
        while not gone.wait(self.timing.heartbeat_s):
            self._guarded(self._beat_once)

    def _beat_once(self) -> None:
        if not self.runs.workers.beat(self.worker_id, host=socket.gethostname(), pid=os.getpid()):
            log.warning("worker %s had been taken for dead; its runs have gone to others", self.worker_id)

    def _guarded(self, act: Callable[[], None]) -> None:
        """Log errors instead of raising: a database outage must not end the worker; the next round retries."""
        try:
            act()
        except Exception as error:  # noqa: BLE001 - without its heartbeat a live worker would look dead
            log.warning("worker %s: %s", self.worker_id, error)


class _Checks:
    """Periodic checks of other workers and of lost runs."""

    def __init__(self, *, worker: Worker, executor: Executor) -> None:
        self._me = worker.worker_id
        self._book = worker.book
        self._runs = worker.runs
        self._executor = executor
        self._workers = StalledCounters(stale_after_s=worker.timing.stale_after_s, clock=time.monotonic)
        self._mine = StalledCounters(stale_after_s=worker.timing.stale_after_s, clock=time.monotonic)

    def run(self) -> None:
        """Take over runs of workers with a stalled heartbeat, and put back own runs that were lost."""
        running = self._runs.running()
        workers = {worker.id: worker for worker in self._runs.workers.seen()}
        for stranger in {run.worker for run in running if run.worker} - workers.keys():
            # Its run started after it was declared dead and before its next heartbeat, then it was killed: add a row
            # whose heartbeat stalls.
            self._runs.workers.join(stranger, host=UNKNOWN_HOST, pid=0)
        for worker_id in self._workers.update({one.id: one.beats for one in workers.values() if one.id != self._me}):
            if self._runs.workers.claim(workers[worker_id], taker=self._me):
                freed = [run.id for run in running if run.worker == worker_id]
                released = sum(self._runs.release(run_id, worker=worker_id) for run_id in freed)
                self._runs.workers.drop(worker_id, taker=self._me)
                log.warning("worker %s took over %d runs of %s", self._me, released, worker_id)
        self._pick_up([run for run in running if run.worker == self._me])

    def _pick_up(self, mine: list[RunStatus]) -> None:
        """Put back runs that the engine dequeued and then lost because the database was unavailable at that moment."""
        here = self._executor.running()
        lost = self._mine.update({run.id: run.attempts for run in mine if run.id not in here})
        for run in (run for run in mine if run.id in lost):
            card = self._book.flows.get(run.flow)
            if run.attempts >= (card.attempts if card else MAX_ATTEMPTS):
                self._runs.bury(run)
                log.warning("worker %s could not begin run %s in %d attempts", self._me, run.id, run.attempts)
            elif self._runs.release(run.id, worker=self._me):
                log.warning("worker %s put back run %s, which it had taken and lost", self._me, run.id)

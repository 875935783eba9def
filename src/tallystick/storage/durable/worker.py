"""A worker from joining to leaving: heartbeat, taking over from the dead, handing over at the end."""

import logging
import os
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from tallystick.storage.durable.book import FlowBook
from tallystick.storage.durable.executor import Executor
from tallystick.storage.durable.runs import Runs
from tallystick.storage.durable.timing import Timing
from tallystick.storage.durable.watch import Watch
from tallystick.turns.runs import MAX_ATTEMPTS, DurableError, RunStatus

log = logging.getLogger("tallystick.durable")

UNKNOWN_HOST = "?"


@dataclass(frozen=True, kw_only=True)
class Worker:
    """One worker of this process; its id is its own and never used again."""

    worker_id: str
    book: FlowBook
    runs: Runs
    timing: Timing

    def work(self, stop: threading.Event, ready: Callable[[], None]) -> frozenset[str]:
        """Work until told to stop; gives the runs that were in the middle of a step when the time was over."""
        self.timing.check()
        self.book.close()
        self.runs.declare(poll_s=self.timing.poll_s)
        executor = Executor(worker_id=self.worker_id, book=self.book, runs=self.runs)
        # The row comes before the first run: others then know whose a run is that was just begun.
        if not self.runs.roster.join(self.worker_id, host=socket.gethostname(), pid=os.getpid()):
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
            self.runs.roster.drop(self.worker_id)
        return left

    def _run(self, executor: Executor, stop: threading.Event, ready: Callable[[], None]) -> frozenset[str]:
        try:
            executor.launch()
        except BaseException:
            self.runs.roster.drop(self.worker_id)
            raise
        try:
            ready()
            rounds = _Rounds(worker=self, executor=executor)
            while not stop.wait(self.timing.heartbeat_s):
                self._guarded(rounds.look)
        finally:
            left = executor.stop(grace_s=self.timing.grace_s)
            self._guarded(lambda: self._hand_over(left))
        return left

    def _hand_over(self, left: frozenset[str]) -> None:
        """What was begun here and is not in the middle of a step waits for another worker."""
        for run in self.runs.running():
            if run.worker == self.worker_id and run.id not in left:
                self.runs.release(run.id, worker=self.worker_id)

    def _beat(self, gone: threading.Event) -> None:
        while not gone.wait(self.timing.heartbeat_s):
            self._guarded(self._beat_once)

    def _beat_once(self) -> None:
        if not self.runs.roster.beat(self.worker_id, host=socket.gethostname(), pid=os.getpid()):
            log.warning("worker %s had been taken for dead; its runs have gone to others", self.worker_id)

    def _guarded(self, act: Callable[[], None]) -> None:
        """A database that is away for a while must not end the worker: the next round tries again."""
        try:
            act()
        except Exception as error:  # noqa: BLE001 - a heartbeat that ends would make a live worker look dead
            log.warning("worker %s: %s", self.worker_id, error)


class _Rounds:
    """What a worker looks after beside its own runs."""

    def __init__(self, *, worker: Worker, executor: Executor) -> None:
        self._me = worker.worker_id
        self._book = worker.book
        self._runs = worker.runs
        self._executor = executor
        self._workers = Watch(stale_after_s=worker.timing.stale_after_s, clock=time.monotonic)
        self._mine = Watch(stale_after_s=worker.timing.stale_after_s, clock=time.monotonic)

    def look(self) -> None:
        """Take over from workers that stand still, and pick up what got lost in our own hands."""
        running = self._runs.running()
        workers = {worker.id: worker for worker in self._runs.roster.seen()}
        for stranger in {run.worker for run in running if run.worker} - workers.keys():
            # Begun between being taken for dead and the next heartbeat, then killed: give it a row that stands still.
            self._runs.roster.join(stranger, host=UNKNOWN_HOST, pid=0)
        for worker_id in self._workers.look({one.id: one.beats for one in workers.values() if one.id != self._me}):
            if self._runs.roster.claim(workers[worker_id], taker=self._me):
                freed = [run.id for run in running if run.worker == worker_id]
                released = sum(self._runs.release(run_id, worker=worker_id) for run_id in freed)
                self._runs.roster.drop(worker_id, taker=self._me)
                log.warning("worker %s took over %d runs of %s", self._me, released, worker_id)
        self._pick_up([run for run in running if run.worker == self._me])

    def _pick_up(self, mine: list[RunStatus]) -> None:
        """A run the engine took from the queue and then lost, because the database was away just then, waits again."""
        here = self._executor.running()
        lost = self._mine.look({run.id: run.attempts for run in mine if run.id not in here})
        for run in (run for run in mine if run.id in lost):
            card = self._book.flows.get(run.flow)
            if run.attempts >= (card.attempts if card else MAX_ATTEMPTS):
                self._runs.bury(run)
                log.warning("worker %s could not begin run %s in %d attempts", self._me, run.id, run.attempts)
            elif self._runs.release(run.id, worker=self._me):
                log.warning("worker %s put back run %s, which it had taken and lost", self._me, run.id)

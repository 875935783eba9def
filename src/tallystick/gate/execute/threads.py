"""Worker threads for tools that block.

The pool of the standard library waits for its threads when the program ends, so one hung tool would hang the program.
These threads are daemons, and one that outlived its call's time limit is given up: a fresh one takes its place.
"""

import os
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

MAX_THREADS = 64
"""Beyond this, calls wait for a thread. 64 is the number of callers the gate is measured with."""


class Job:
    """One function on its way through a thread."""

    __slots__ = ("begun", "done", "function", "given_up")

    def __init__(self, function: Callable[[], Any], done: Callable[[Any, BaseException | None], None]) -> None:
        self.function = function
        self.done = done
        self.begun = False
        self.given_up = False


class Threads:
    """Runs blocking functions on daemon threads and reports each result by callback."""

    def __init__(self, limit: int = MAX_THREADS) -> None:
        self._most = limit
        self._start()

    def run(self, function: Callable[[], Any], done: Callable[[Any, BaseException | None], None]) -> Job:
        """Queue one function; `done(value, error)` is called on the worker thread."""
        if self._pid != os.getpid():
            self._start()  # threads do not survive a fork
        job = Job(function, done)
        with self._lock:
            self._unfinished += 1
            # One thread for each job that is not done, so that none waits behind one that hangs.
            spawn = self._threads < min(self._unfinished, self._limit)
            self._threads += spawn
        if spawn:
            self._spawn()
        self._jobs.put(job)
        return job

    def give_up(self, job: Job) -> None:
        """Nobody waits for this job any more: it is not begun if it can be helped, else another may have its place."""
        with self._lock:
            if not job.given_up and job.begun:
                self._limit += 1
            job.given_up = True

    def close(self) -> None:
        """Let idle threads end; busy ones end after their call."""
        if self._pid == os.getpid():
            with self._lock:
                for _ in range(self._threads):
                    self._jobs.put(None)

    def _start(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._limit = self._most
        self._threads = 0
        self._unfinished = 0

    def _spawn(self) -> None:
        try:
            threading.Thread(target=self._work, name="tally-tool", daemon=True).start()
        except RuntimeError:
            # The system gives no more threads: this call fails, the next one may try again.
            with self._lock:
                self._threads -= 1
                self._unfinished -= 1
            raise

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            if self._begin(job):
                value, error = _run(job.function)
                self._end(job)
                job.done(value, error)
                # Drop references before waiting, so that a large result does not live until the next call.
                del value, error
            else:
                self._end(job)
            del job
        with self._lock:
            self._threads -= 1

    def _begin(self, job: Job) -> bool:
        with self._lock:
            job.begun = not job.given_up
            return job.begun

    def _end(self, job: Job) -> None:
        with self._lock:
            self._unfinished -= 1
            if job.begun and job.given_up:
                # The thread came back after all; its stand-in is not needed any more.
                self._limit -= 1


def _run(function: Callable[[], Any]) -> tuple[Any, BaseException | None]:
    try:
        return function(), None
    except BaseException as error:  # noqa: BLE001 - a tool may raise SystemExit; the thread must live on
        return None, error

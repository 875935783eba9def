"""Worker threads for blocking tools.

The standard library's thread pool joins its threads at exit, so one hung tool would hang the program. These threads are
daemons, and a thread that exceeds its call's timeout is abandoned: a new one may be started in its place.
"""

import os
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

MAX_THREADS = 64
"""Beyond this, calls wait for a free thread. 64 is the number of concurrent callers in the benchmarks."""


class Job:
    """One function queued for, or running on, a worker thread."""

    __slots__ = ("begun", "done", "function", "given_up")

    def __init__(self, function: Callable[[], Any], done: Callable[[Any, BaseException | None], None]) -> None:
        self.function = function
        self.done = done
        self.begun = False
        self.given_up = False


class Threads:
    """Runs blocking functions on daemon threads and passes each result to a callback."""

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
            # Up to the limit, one thread per unfinished job, so that no job waits behind a hung one.
            spawn = self._threads < min(self._unfinished, self._limit)
            self._threads += spawn
        if spawn:
            self._spawn()
        self._jobs.put(job)
        return job

    def give_up(self, job: Job) -> None:
        """Abandon a job: skip it if it has not begun, else raise the thread limit by one to replace its thread."""
        with self._lock:
            if not job.given_up and job.begun:
                self._limit += 1
            job.given_up = True

    def close(self) -> None:
        """Stop idle threads now and busy ones after their call."""
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
            # The system cannot start another thread: fail this call; the next one tries again.
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
                # Drop references before blocking, so that a large result is freed before the next call.
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
                # The abandoned job has finished, so its extra thread is no longer needed.
                self._limit -= 1


def _run(function: Callable[[], Any]) -> tuple[Any, BaseException | None]:
    try:
        return function(), None
    except BaseException as error:  # noqa: BLE001 - a tool may raise SystemExit; the thread must survive
        return None, error

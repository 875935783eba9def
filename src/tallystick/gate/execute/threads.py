"""Worker threads for tools that block.

The pool of the standard library waits for its threads when the program ends, so one hung tool would hang the program.
These threads are daemons, and one that outlived its call's time limit is given up: a fresh one takes its place.
"""

import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

MAX_THREADS = 64
"""Beyond this, calls wait for a thread. 64 is the number of callers the gate is measured with."""

_Job = tuple[Callable[[], Any], Callable[[Any, BaseException | None], None]]


class Threads:
    """Runs blocking functions on daemon threads and reports each result by callback."""

    def __init__(self, limit: int = MAX_THREADS) -> None:
        self._limit = limit
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._threads = 0
        self._idle = 0

    def run(self, function: Callable[[], Any], done: Callable[[Any, BaseException | None], None]) -> None:
        """Queue one function; `done(value, error)` is called on the worker thread."""
        with self._lock:
            spawn = self._idle <= self._jobs.qsize() and self._threads < self._limit
            if spawn:
                self._threads += 1
        if spawn:
            threading.Thread(target=self._work, name="tally-tool", daemon=True).start()
        self._jobs.put((function, done))

    def give_up_one(self) -> None:
        """A call timed out and still holds its thread: allow another in its place."""
        with self._lock:
            self._limit += 1

    def close(self) -> None:
        """Let idle threads end; busy ones end after their call."""
        with self._lock:
            for _ in range(self._threads):
                self._jobs.put(None)

    def _work(self) -> None:
        while True:
            with self._lock:
                self._idle += 1
            job = self._jobs.get()
            with self._lock:
                self._idle -= 1
            if job is None:
                break
            function, done = job
            try:
                value = function()
            except BaseException as error:  # noqa: BLE001 - a tool may raise SystemExit; the thread must live on
                done(None, error)
            else:
                done(value, None)
            # Drop references before waiting, so that a large result does not live until the next call.
            del function, done, job
        with self._lock:
            self._threads -= 1

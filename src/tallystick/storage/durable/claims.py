"""Runs that were dequeued and have not started yet.

The engine counts a run against a worker's limit only once its thread has started. On a busy machine it would poll the
queue again before that and dequeue more runs than the limit allows, in no particular order. So it is blocked until the
dequeued run has started.
"""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import dbos._queue

_engine: Any = dbos._queue  # noqa: SLF001 - there is no public hook
BEGIN_S = 10.0
"""Timeout for a run to start; a lost run must not block its queue."""
LOOK_S = 0.1


class Claims:
    """Runs of limited queues between dequeuing and start."""

    def __init__(self, limited: Callable[[str | None], bool], stopping: threading.Event) -> None:
        """Track the runs of queues with a per-worker limit.

        Args:
            limited: Returns whether a queue has a per-worker limit.
            stopping: Set when the worker stops; nothing waits any longer.
        """
        self._limited = limited
        self._stopping = stopping
        self._changed = threading.Condition()
        self._taken: set[str] = set()
        self._start: Callable[..., Any] = _engine.execute_dequeued_workflow

    def watch(self) -> None:
        """Patch the engine's start function; there is only one engine per process."""
        _engine.execute_dequeued_workflow = self._start_and_wait

    def leave(self) -> None:
        """Restore the engine's start function."""
        _engine.execute_dequeued_workflow = self._start

    def begun(self, run_id: str) -> None:
        """Note that the run has started, so that the engine counts it."""
        with self._changed:
            self._taken.discard(run_id)
            self._changed.notify_all()

    def _start_and_wait(self, engine: Any, status: Any, owner: str) -> Any:
        run_id = status["workflow_uuid"]
        if not self._limited(status["queue_name"]):
            return self._start(engine, status, owner)
        with self._changed:
            self._taken.add(run_id)
        try:
            handle = self._start(engine, status, owner)
            self._wait(run_id, getattr(handle, "future", None))
        finally:
            self.begun(run_id)
        return handle

    def _wait(self, run_id: str, future: Future[Any] | None) -> None:
        """Wait until the run has started, has ended, the worker stops, or `BEGIN_S` has passed."""
        deadline = time.monotonic() + BEGIN_S
        with self._changed:
            while (
                run_id in self._taken
                and not (future is None or future.done() or self._stopping.is_set())
                and time.monotonic() < deadline
            ):
                self._changed.wait(LOOK_S)

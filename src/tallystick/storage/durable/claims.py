"""Runs that were taken from a queue and have not begun yet.

The engine counts against a worker's limit what runs in it, and a run counts only once its thread has begun. On a busy
machine the engine would ask the queue again before that, and take more than the worker may carry, in no order. So it
is held up until the run it has taken has begun.
"""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import dbos._queue

_engine: Any = dbos._queue  # noqa: SLF001 - there is no public hook
BEGIN_S = 10.0
"""For a run to begin; one that gets lost on the way must not stop its queue."""
LOOK_S = 0.1


class Claims:
    """The runs of limited queues, from being taken to their beginning."""

    def __init__(self, limited: Callable[[str | None], bool], stopping: threading.Event) -> None:
        """Watch over queues.

        Args:
            limited: Whether a queue has a limit for each worker.
            stopping: Set when nothing waits any longer.
        """
        self._limited = limited
        self._stopping = stopping
        self._changed = threading.Condition()
        self._taken: set[str] = set()
        self._start: Callable[..., Any] = _engine.execute_dequeued_workflow

    def watch(self) -> None:
        """Stand between the engine's queues and its threads; there is one engine in a process."""
        _engine.execute_dequeued_workflow = self._start_and_wait

    def leave(self) -> None:
        """Let the engine have its own way again."""
        _engine.execute_dequeued_workflow = self._start

    def begun(self, run_id: str) -> None:
        """The run is under way, and the engine counts it."""
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
        """Until it is under way, or will never be."""
        deadline = time.monotonic() + BEGIN_S
        with self._changed:
            while (
                run_id in self._taken
                and not (future is None or future.done() or self._stopping.is_set())
                and time.monotonic() < deadline
            ):
                self._changed.wait(LOOK_S)

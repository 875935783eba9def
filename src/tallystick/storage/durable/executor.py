"""The single DBOS instance of this process, under the worker's own id.

DBOS is a global singleton: a second configuration silently returns the first instance, so a second one is refused here.
It uses no network besides the database: no conductor, no admin port, no exporter.
"""

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

import dbos._dbos
import dbos._queue
from dbos import DBOS, DBOSConfig, DBOSPortableJSONSerializer, PortableWorkflowError
from dbos._context import current_owner_xid
from dbos._utils import GlobalParams
from sqlalchemy.exc import SQLAlchemyError

from tallystick.errors import ConfigError
from tallystick.storage.durable.database import DATABASE_AWAY, SCHEMA
from tallystick.storage.durable.flow_registry import FlowCard, FlowRegistry
from tallystick.storage.durable.flows import HandOver, LoopRun, PlainRun, WorkerContext
from tallystick.storage.durable.records import arguments
from tallystick.storage.durable.runs import APPLICATION, VERSION, Runs
from tallystick.storage.durable.stored_values import failure_of, failure_record, plain_json
from tallystick.turns.runs import DurableError

STOP_LOOK_S = 0.05
SCHEDULE_POLL_S = 5.0
LISTEN_POLL_S = 0.2
"""Polling intervals: `SCHEDULE_POLL_S` is how soon a running worker sees a changed schedule."""

START_S = 10.0
"""Timeout for a run to start; a lost run must not block its queue."""
START_LOOK_S = 0.1

_one_per_process = threading.Lock()
_engine: Any = dbos._queue  # noqa: SLF001 - there is no public hook


class Executor:
    """Runs flows in threads and on one event loop, from `launch` to `stop`."""

    def __init__(
        self, *, worker_id: str, book: FlowRegistry, runs: Runs, clock: Callable[[], float] = time.time
    ) -> None:
        self._worker_id = worker_id
        self._book = book
        self._runs = runs
        self._stopping = threading.Event()
        self._clock = clock
        self._dequeued = DequeuedRuns(self._is_limited, self._stopping)
        self._running: Counter[str] = Counter()
        self._running_lock = threading.Lock()

    def launch(self) -> None:
        """Start dequeuing runs, only from the queues of this process's flows.

        Raises:
            DurableError: `durable_one_per_process`: a DBOS instance exists in this process already.
        """
        _refuse_cloud()
        # This includes a DBOS instance of other code; there is no public API to check for it.
        if dbos._dbos._dbos_global_instance is not None or not _one_per_process.acquire(blocking=False):  # noqa: SLF001
            message = "this process runs a worker already, and DBOS can be there only once; start another process"
            raise DurableError(message, code="durable_one_per_process")
        try:
            _quieten()
            DBOS(config=self._config())
            self._dequeued.watch()
            for card in self._book.flows.values():
                body = self._async_body(card) if card.is_async else self._plain_body(card)
                DBOS.workflow(name=card.name, max_recovery_attempts=card.attempts - 1)(body)
            # A run whose flow is not registered here would stay here for ever, so listen only to known queues.
            DBOS.listen_queues(sorted({card.queue for card in self._book.flows.values()}))
            DBOS.launch()
        except BaseException:
            self._destroy()
            raise

    def running(self) -> frozenset[str]:
        """Return the ids of the runs executing here now."""
        with self._running_lock:
            return frozenset(self._running)

    def stop(self, *, grace_s: float) -> frozenset[str]:
        """Dequeue no more runs and let the current ones reach their next step; return those that did not in time."""
        for event in dbos._dbos._get_dbos_instance().background_thread_stop_events:  # noqa: SLF001
            event.set()
        self._stopping.set()
        deadline = time.monotonic() + grace_s
        while self.running() and time.monotonic() < deadline:
            time.sleep(STOP_LOOK_S)
        left = self.running()
        self._destroy()
        return left

    def _destroy(self) -> None:
        DBOS.destroy(destroy_registry=True)
        self._dequeued.leave()
        _one_per_process.release()

    def _is_limited(self, queue: str | None) -> bool:
        known = self._book.queues.get(queue or "")
        return known is not None and known.per_worker is not None

    def _config(self) -> DBOSConfig:
        return {
            "name": APPLICATION,
            "application_version": VERSION,
            "executor_id": self._worker_id,
            "system_database_engine": self._runs.engine,
            "dbos_system_schema": SCHEMA,
            "serializer": DBOSPortableJSONSerializer(),
            "run_migrations": False,
            # We use none of the engine's notifications; a listener would need one more connection.
            "use_listen_notify": False,
            "enable_otlp": False,
            "log_level": "WARNING",
            "scheduler_polling_interval_sec": SCHEDULE_POLL_S,
            # Its thread has no work here, but a stopping worker waits for its last sleep.
            "notification_listener_polling_interval_sec": LISTEN_POLL_S,
        }

    def _plain_body(self, card: FlowCard) -> Callable[..., Any]:
        def body(first: Any, schedule_args: Any = None) -> Any:
            with self._begun() as run_id, _recorded_failure():
                run = PlainRun(run_id, self._around(run_id))
                result = card.flow(run, arguments(first, schedule_args))  # type: ignore[arg-type]
                return plain_json(result, f"the result of flow '{card.name}'")

        return body

    def _async_body(self, card: FlowCard) -> Callable[..., Any]:
        async def body(first: Any, schedule_args: Any = None) -> Any:
            with self._begun() as run_id, _recorded_failure():
                run = LoopRun(run_id, self._around(run_id))
                result = await card.flow(run, arguments(first, schedule_args))  # type: ignore[arg-type]
                return plain_json(result, f"the result of flow '{card.name}'")

        return body

    @contextmanager
    def _begun(self) -> Iterator[str]:
        """Count the run as running; it can run twice at once after this worker's own runs were taken over."""
        run_id = DBOS.workflow_id or ""
        self._dequeued.begun(run_id)
        if self._stopping.is_set():
            raise HandOver
        with self._running_lock:
            self._running[run_id] += 1
        try:
            yield run_id
        finally:
            with self._running_lock:
                self._running[run_id] -= 1
                self._running += Counter()  # Removes entries with count zero.

    def _around(self, run_id: str) -> WorkerContext:
        token = current_owner_xid(run_id)
        return WorkerContext(
            stopping=self._stopping, owned=lambda: self._runs.owner(run_id) == token, clock=self._clock
        )


class DequeuedRuns:
    """Runs of limited queues that were dequeued and have not started yet.

    The engine counts a run against a worker's limit only once its thread has started. On a busy machine it would poll
    the queue again before that and dequeue more runs than the limit allows, in no particular order. So it is blocked
    until the dequeued run has started.
    """

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
        """Wait until the run has started, has ended, the worker stops, or `START_S` has passed."""
        deadline = time.monotonic() + START_S
        with self._changed:
            while (
                run_id in self._taken
                and not (future is None or future.done() or self._stopping.is_set())
                and time.monotonic() < deadline
            ):
                self._changed.wait(START_LOOK_S)


@contextmanager
def _recorded_failure() -> Iterator[None]:
    """Store any exception of a flow as our failure record instead of the engine's representation.

    A database outage inside the engine is not a failure of the flow: the run stays open and is put back later.
    """
    try:
        yield
    except SQLAlchemyError as error:
        raise HandOver from error
    except Exception as error:
        if isinstance(error, DurableError) and error.code in DATABASE_AWAY:
            raise HandOver from error
        failure = failure_of(error)
        data: Any = failure_record(failure)
        raise PortableWorkflowError(failure.message, failure.kind, failure.code, data) from None


def _refuse_cloud() -> None:
    if GlobalParams.dbos_cloud:
        message = "DBOS__CLOUD is set: DBOS would take its settings from its cloud. Unset it."
        raise ConfigError(message, code="config_bad_value")


class _NoTraceback(logging.Filter):
    """Removes tracebacks, which can contain customer text; the failure is in the run's status anyway."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.exc_info = None
        record.exc_text = None
        return True


def _quieten() -> None:
    """Leave logging to the process: DBOS adds no printing handler if one is already present."""
    logger = logging.getLogger("dbos")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
        logger.addFilter(_NoTraceback())

"""The one DBOS of this process, under the worker's own id.

DBOS is a global: a second configuration silently gives the first one back. So the second is refused here. Nothing of
it reaches the network: no conductor, no admin port, no exporter.
"""

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import dbos._dbos
from dbos import DBOS, DBOSConfig, DBOSPortableJSONSerializer, PortableWorkflowError
from dbos._context import current_owner_xid
from dbos._utils import GlobalParams
from sqlalchemy.exc import SQLAlchemyError

from tallystick.errors import ConfigError
from tallystick.storage.durable.book import FlowBook, FlowCard
from tallystick.storage.durable.claims import Claims
from tallystick.storage.durable.database import DATABASE_AWAY, SCHEMA
from tallystick.storage.durable.flows import HandOver, LoopRun, PlainRun, Surroundings
from tallystick.storage.durable.plain import failure_of, failure_record, plain_json
from tallystick.storage.durable.records import arguments
from tallystick.storage.durable.runs import APPLICATION, VERSION, Runs
from tallystick.turns.runs import DurableError

STOP_LOOK_S = 0.05
SCHEDULE_POLL_S = 5.0
LISTEN_POLL_S = 0.2
"""How soon a changed schedule is seen by a worker that runs already."""

_one_per_process = threading.Lock()


class Executor:
    """Runs flows in threads and on one loop, from `launch` to `stop`."""

    def __init__(self, *, worker_id: str, book: FlowBook, runs: Runs, clock: Callable[[], float] = time.time) -> None:
        self._worker_id = worker_id
        self._book = book
        self._runs = runs
        self._stopping = threading.Event()
        self._clock = clock
        self._claims = Claims(self._is_limited, self._stopping)
        self._running: Counter[str] = Counter()
        self._running_lock = threading.Lock()

    def launch(self) -> None:
        """Begin to take runs from the queues of this process's flows, and from no others.

        Raises:
            DurableError: `durable_one_per_process`, there is a DBOS in this process already.
        """
        _refuse_cloud()
        # Someone else's DBOS counts too; there is no public question for it.
        if dbos._dbos._dbos_global_instance is not None or not _one_per_process.acquire(blocking=False):  # noqa: SLF001
            message = "this process runs a worker already, and DBOS can be there only once; start another process"
            raise DurableError(message, code="durable_one_per_process")
        try:
            _quieten()
            DBOS(config=self._config())
            self._claims.watch()
            for card in self._book.flows.values():
                body = self._async_body(card) if card.is_async else self._plain_body(card)
                DBOS.workflow(name=card.name, max_recovery_attempts=card.attempts - 1)(body)
            # A run whose flow is unknown here would stay with us for ever: so only the queues we know.
            DBOS.listen_queues(sorted({card.queue for card in self._book.flows.values()}))
            DBOS.launch()
        except BaseException:
            self._destroy()
            raise

    def running(self) -> frozenset[str]:
        """The runs whose flow is being carried out here now."""
        with self._running_lock:
            return frozenset(self._running)

    def stop(self, *, grace_s: float) -> frozenset[str]:
        """Take no more runs and let the present ones go to their next step; gives those that did not get there."""
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
        self._claims.leave()
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
            # We wait for nothing that the engine would notify of; a listener is one connection more.
            "use_listen_notify": False,
            "enable_otlp": False,
            "log_level": "WARNING",
            "scheduler_polling_interval_sec": SCHEDULE_POLL_S,
            # Its thread looks for nothing here, but a worker that stops waits for its last sleep.
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
        """Count the run among the running; twice at once is possible after a take-over from ourselves."""
        run_id = DBOS.workflow_id or ""
        self._claims.begun(run_id)
        if self._stopping.is_set():
            raise HandOver
        with self._running_lock:
            self._running[run_id] += 1
        try:
            yield run_id
        finally:
            with self._running_lock:
                self._running[run_id] -= 1
                self._running += Counter()  # Drops what is at zero.

    def _around(self, run_id: str) -> Surroundings:
        token = current_owner_xid(run_id)
        return Surroundings(stopping=self._stopping, owned=lambda: self._runs.owner(run_id) == token, clock=self._clock)


@contextmanager
def _recorded_failure() -> Iterator[None]:
    """Whatever a flow raises is stored as our record, not as the engine's rendering of it.

    A database that went away under the engine is no failure of the flow: the run stays open and is put back later.
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
    """A traceback from inside a flow can hold a customer's text; the failure is in the run's status anyway."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.exc_info = None
        record.exc_text = None
        return True


def _quieten() -> None:
    """Let the process's own logging decide; with a handler in place DBOS adds none that prints."""
    logger = logging.getLogger("dbos")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
        logger.addFilter(_NoTraceback())

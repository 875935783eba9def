"""The durable port used by rooms and doors. Light: DBOS and SQLAlchemy are imported on first use."""

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tallystick.storage.durable.flow_registry import FlowCard, FlowRegistry, Intervals
from tallystick.turns.durable import Durable, Flow
from tallystick.turns.runs import (
    MAX_ATTEMPTS,
    DurableError,
    Event,
    Queue,
    RunState,
    RunStatus,
    Schedule,
    StepRecord,
    WorkerSeen,
)

if TYPE_CHECKING:
    from tallystick.storage.durable.runs import Runs

DEFAULT_INTERVALS = Intervals()


class StoredDurable(Durable):
    """The durable port on a database; call `close` when the process ends."""

    def __init__(self, *, database_url: str | None, control_room: Path) -> None:
        """Configure the port without opening the database.

        Args:
            database_url: Postgres or SQLite; None: `durable.db` in the control room.
            control_room: The workspace's `.control-room`.
        """
        self._database_url = database_url
        self._control_room = control_room
        self._book = FlowRegistry()
        self._opening = threading.Lock()
        self._opened: Runs | None = None

    def add_queue(self, queue: Queue) -> None:
        """See `Durable`."""
        self._book.add_queue(queue)

    def register(self, name: str, flow: Flow, *, queue: str, attempts: int = MAX_ATTEMPTS) -> None:
        """See `Durable`."""
        self._book.register(FlowCard(name=name, flow=flow, queue=queue, attempts=attempts))

    def schedule(self, schedule: Schedule) -> None:
        """See `Durable`."""
        self._book.schedule(schedule)

    def unschedule(self, name: str) -> None:
        """See `Durable`."""
        self._book.schedules.pop(name, None)
        self.open().unschedule(name)

    def start(self, flow: str, args: Mapping[str, Any], *, run_id: str, delay_s: float = 0, priority: int = 0) -> str:
        """See `Durable`."""
        return self.open().start(flow, args, run_id=run_id, delay_s=delay_s, priority=priority)

    def status(self, run_id: str) -> RunStatus | None:
        """See `Durable`."""
        return self.open().status(run_id)

    def wait(self, run_id: str, *, timeout_s: float) -> RunStatus | None:
        """See `Durable`."""
        return self.open().wait(run_id, timeout_s=timeout_s)

    def runs(
        self,
        *,
        flow: str | None = None,
        states: Sequence[RunState] = (),
        prefix: str | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> list[RunStatus]:
        """See `Durable`."""
        return self.open().runs(flow=flow, states=states, prefix=prefix, limit=limit, offset=offset)

    def steps(self, run_id: str) -> list[StepRecord]:
        """See `Durable`."""
        return self.open().steps(run_id)

    def events(self, run_id: str, *, after: int = -1) -> list[Event]:
        """See `Durable`."""
        return self.open().events(run_id, after=after)

    def cancel(self, run_id: str) -> RunStatus | None:
        """See `Durable`."""
        return self.open().cancel(run_id)

    def resume(self, run_id: str) -> RunStatus | None:
        """See `Durable`."""
        return self.open().resume(run_id)

    def forget(self, run_id: str) -> bool:
        """See `Durable`."""
        return self.open().forget(run_id)

    def workers(self) -> list[WorkerSeen]:
        """See `Durable`."""
        return self.open().workers.seen()

    @property
    def book(self) -> FlowRegistry:
        """The registered flows, queues and schedules."""
        return self._book

    def open(self) -> "Runs":
        """Return the database, opened and set up on the first call.

        Raises:
            DurableError: `durable_not_installed`, or the database cannot be used.
        """
        with self._opening:
            if self._opened is None:
                try:
                    from tallystick.storage.durable.database import durable_url  # noqa: PLC0415 - SQLAlchemy, on first use
                    from tallystick.storage.durable.runs import Runs  # noqa: PLC0415 - DBOS, on first use
                except ImportError as error:
                    message = f"durable work needs '{error.name}': pip install 'tallystick[durable]'"
                    raise DurableError(message, code="durable_not_installed") from None
                self._opened = Runs(durable_url(self._database_url, self._control_room), self._book)
            return self._opened

    def close(self) -> None:
        """Close the connections; the next use opens them again."""
        with self._opening:
            if self._opened is not None:
                self._opened.close()
                self._opened = None


def run_worker(
    durable: StoredDurable,
    stop: threading.Event,
    *,
    worker_id: str,
    timing: Intervals = DEFAULT_INTERVALS,
    ready: Callable[[], None] = lambda: None,
) -> frozenset[str]:
    """Execute runs of the flows registered here until `stop` is set. Blocks: run it in a thread or process.

    Args:
        durable: The port with the registered flows and queues.
        stop: Set it to stop; running steps get `timing.grace_s` to end.
        worker_id: A unique id for each start, never reused.
        timing: Heartbeat, polling and shutdown intervals.
        ready: Called once the worker accepts runs.

    Returns:
        The runs that were still inside a step when the grace period ended; another worker repeats that step.

    Raises:
        DurableError: `durable_one_per_process`, `worker_id_taken`, or the database is unavailable at the start.
    """
    runs = durable.open()
    from tallystick.storage.durable.worker import Worker  # noqa: PLC0415 - DBOS, on first use

    return Worker(worker_id=worker_id, book=durable.book, runs=runs, timing=timing).work(stop, ready)

"""The durable port: long-running workflows that resume after their process is killed.

A flow is a plain function in a room's `flows/`, `def flow(run: Run, args) -> JSON`, or the same with `async def` and
`AsyncRun`. A room registers it under a name and starts runs of it; a worker in any process executes them step by step.
Guarantees and rules:

1. A finished step never runs again: after a crash the flow restarts from the top, and finished steps return their
   stored results. Every side effect and every nondeterministic read (clock, randomness, model, file) therefore belongs
   in a step, and the code between steps must reach the same steps in the same order.
2. A step in progress when its worker dies runs again. Its effect must carry `run.key(step)` as an idempotency key, so
   that the second execution changes nothing.
3. Arguments, results and events are stored as plain JSON: pass ids and digests, not prompts or secrets.
4. A flow whose steps change gets a new name (`desk.ticket.2`); runs under the old name need the old function.
5. A run id is unique: starting the same id twice gives one run.

The records are in `runs.py`; `storage/durable` implements the port with DBOS.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from tallystick.turns.runs import (
    MAX_ATTEMPTS,
    ONCE,
    Event,
    Queue,
    Retry,
    RunState,
    RunStatus,
    Schedule,
    StepRecord,
    WorkerSeen,
)

T = TypeVar("T")


class Run(Protocol):
    """The run context of a synchronous flow."""

    @property
    def id(self) -> str:
        """The id of the run."""

    def key(self, step: str) -> str:
        """Return the idempotency key of a step: the same for every execution of this step in this run."""

    def step(self, name: str, do: Callable[..., T], *args: Any, retry: Retry = ONCE) -> T:
        """Run a step once and store its result; each step of a run needs a unique name.

        Raises:
            StepFailed: The step failed in all attempts.
            DurableError: `step_repeated`, the name was already used in this run.
        """

    def sleep(self, seconds: float) -> None:
        """Sleep durably: time passes even without a worker. The run keeps its queue slot; for hours use `delay_s`."""

    def emit(self, event: Mapping[str, Any]) -> None:
        """Publish an event to subscribers: exactly once between steps, possibly twice from inside a step."""

    def cancelled(self) -> bool:
        """Whether the run was cancelled or taken over by another worker; long steps should poll this.

        Between steps such a run ends automatically.
        """


class AsyncRun(Protocol):
    """The run context of an async flow; steps may run concurrently but must start in a fixed order."""

    @property
    def id(self) -> str:
        """The id of the run."""

    def key(self, step: str) -> str:
        """Return the idempotency key of a step."""

    async def step(self, name: str, do: Callable[..., Any], *args: Any, retry: Retry = ONCE) -> Any:
        """Run a step once; a plain `def` runs in a thread, an `async def` on the event loop."""

    async def sleep(self, seconds: float) -> None:
        """Sleep durably; time passes even without a worker."""

    async def emit(self, event: Mapping[str, Any]) -> None:
        """Publish an event to subscribers."""

    async def cancelled(self) -> bool:
        """Whether the run was cancelled."""


PlainFlow = Callable[[Run, dict[str, Any]], Any]
AsyncFlow = Callable[[AsyncRun, dict[str, Any]], Awaitable[Any]]
Flow = PlainFlow | AsyncFlow


class Durable(Protocol):
    """The durable engine that rooms use; its calls block on the database, so call it from a thread in async code."""

    def add_queue(self, queue: Queue) -> None:
        """Declare a queue, before workers start."""

    def register(self, name: str, flow: Flow, *, queue: str, attempts: int = MAX_ATTEMPTS) -> None:
        """Register a flow under a name and a queue, before workers start."""

    def schedule(self, schedule: Schedule) -> None:
        """Start a flow on a schedule, active once a worker runs; an existing schedule of this name is replaced."""

    def unschedule(self, name: str) -> None:
        """Remove a schedule."""

    def start(
        self,
        flow: str,
        args: Mapping[str, Any],
        *,
        run_id: str,
        delay_s: float = 0,
        priority: int = 0,
    ) -> str:
        """Start a run, or find the existing run with this id; return the id. Lower `priority` runs first.

        Raises:
            DurableError: `flow_unknown`, `run_id_invalid`, `not_json`, or `run_id_taken` (another flow uses this id).
        """

    def status(self, run_id: str) -> RunStatus | None:
        """Return the status of a run; None: no such run."""

    def wait(self, run_id: str, *, timeout_s: float) -> RunStatus | None:
        """Return the status once the run has ended, or after the timeout."""

    def runs(
        self,
        *,
        flow: str | None = None,
        states: Sequence[RunState] = (),
        prefix: str | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> list[RunStatus]:
        """Return runs, newest first; `prefix` filters by the start of the id."""

    def steps(self, run_id: str) -> list[StepRecord]:
        """Return the finished steps, in order."""

    def events(self, run_id: str, *, after: int = -1) -> list[Event]:
        """Return the events of a run after the given sequence number."""

    def cancel(self, run_id: str) -> RunStatus | None:
        """Cancel a run: a waiting one at once, a running one before its next step; an ended run is unchanged."""

    def resume(self, run_id: str) -> RunStatus | None:
        """Resume a failed, cancelled or dead run after its last successful step; any other is unchanged."""

    def forget(self, run_id: str) -> bool:
        """Delete all stored data of an ended run; False: it does not exist or has not ended."""

    def workers(self) -> list[WorkerSeen]:
        """Return the workers with a current or recent heartbeat."""

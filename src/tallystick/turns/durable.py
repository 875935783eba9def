"""The durable port: long work that goes on where it stopped when its process is killed.

A flow is a plain function in a room's `flows/`, `def flow(run: Run, args) -> JSON`, or the same with `async def` and
`AsyncRun`. A room registers it under a name and starts runs of it; a worker of any process carries them out, step by
step. What holds:

1. A finished step is never done again: after a crash the flow is run from the top and its finished steps give back
   what they gave. So whatever changes the world, or may answer differently next time (clock, chance, model, file),
   belongs in a step; the code between steps must come to the same steps in the same order.
2. A step that was under way when its worker died is done again. Its effect must carry `run.key(step)`, so that the
   second time changes nothing.
3. Arguments, results and events are JSON and are stored as they are: pass ids and digests, not prompts or secrets.
4. A flow whose steps change gets a new name (`desk.ticket.2`); runs under the old name need the old function.
5. An id is a run: starting the same id twice is one run.

The records are in `runs.py`; `storage/durable` binds the port to DBOS.
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
    """What a plain flow works with."""

    @property
    def id(self) -> str:
        """The run's id."""

    def key(self, step: str) -> str:
        """The same text each time this step of this run is done: what its effect must carry."""

    def step(self, name: str, do: Callable[..., T], *args: Any, retry: Retry = ONCE) -> T:
        """Do something once and remember what came of it; each step of a run has its own name.

        Raises:
            StepFailed: It failed in all attempts.
            DurableError: `step_repeated`, the name was used before in this run.
        """

    def sleep(self, seconds: float) -> None:
        """Wait, even while no worker is there; it keeps its place in the queue, so for hours use `delay_s`."""

    def emit(self, event: Mapping[str, Any]) -> None:
        """Tell whoever watches; once each between steps, perhaps twice from inside a step."""

    def cancelled(self) -> bool:
        """Whether the run was cancelled, or is another worker's by now: for steps that take long.

        Between steps such a run ends by itself.
        """


class AsyncRun(Protocol):
    """What an async flow works with: the same, awaited. Steps may go on together; they begin in a fixed order."""

    @property
    def id(self) -> str:
        """The run's id."""

    def key(self, step: str) -> str:
        """The same text each time this step of this run is done."""

    async def step(self, name: str, do: Callable[..., Any], *args: Any, retry: Retry = ONCE) -> Any:
        """Do something once; a plain `def` runs in a thread, an `async def` on the loop."""

    async def sleep(self, seconds: float) -> None:
        """Wait; the time goes on while no worker is there."""

    async def emit(self, event: Mapping[str, Any]) -> None:
        """Tell whoever watches."""

    async def cancelled(self) -> bool:
        """Whether the run was cancelled."""


PlainFlow = Callable[[Run, dict[str, Any]], Any]
AsyncFlow = Callable[[AsyncRun, dict[str, Any]], Awaitable[Any]]
Flow = PlainFlow | AsyncFlow


class Durable(Protocol):
    """Where rooms put their long work. The calls block on the database: from a loop, use a thread."""

    def add_queue(self, queue: Queue) -> None:
        """Declare a queue, before workers begin."""

    def register(self, name: str, flow: Flow, *, queue: str, attempts: int = MAX_ATTEMPTS) -> None:
        """Give a flow its name and its queue, before workers begin."""

    def schedule(self, schedule: Schedule) -> None:
        """Start a flow by the clock, from when a worker runs; the same name again replaces it."""

    def unschedule(self, name: str) -> None:
        """Start it no more."""

    def start(
        self,
        flow: str,
        args: Mapping[str, Any],
        *,
        run_id: str,
        delay_s: float = 0,
        priority: int = 0,
    ) -> str:
        """Start a run, or find the one that has this id; gives the id back. Lower `priority` goes first.

        Raises:
            DurableError: `flow_unknown`, `run_id_invalid`, `not_json`, or `run_id_taken`: another flow has this id.
        """

    def status(self, run_id: str) -> RunStatus | None:
        """What is known of a run; None: no such run."""

    def wait(self, run_id: str, *, timeout_s: float) -> RunStatus | None:
        """Its status once it has ended, or when the time is over."""

    def runs(
        self,
        *,
        flow: str | None = None,
        states: Sequence[RunState] = (),
        prefix: str | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> list[RunStatus]:
        """Runs, the newest first; `prefix` is how their ids begin."""

    def steps(self, run_id: str) -> list[StepRecord]:
        """The steps that have ended, in order."""

    def events(self, run_id: str, *, after: int = -1) -> list[Event]:
        """What the run has told so far, from the event after the given one."""

    def cancel(self, run_id: str) -> RunStatus | None:
        """End it: a waiting run at once, a running one before its next step; an ended run stays as it is."""

    def resume(self, run_id: str) -> RunStatus | None:
        """Let a failed, cancelled or dead run go on after its last good step; any other stays as it is."""

    def forget(self, run_id: str) -> bool:
        """Remove all that is stored of an ended run; False: it is not there or has not ended."""

    def workers(self) -> list[WorkerSeen]:
        """The workers that beat, or did so not long ago."""

"""Records of durable runs: run states, failures, step retries, queues and schedules.

They are separate from the port (`durable.py`), so that flows, doors and the engine's adapter can share them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tallystick.errors import TallyError

RunState = Literal["delayed", "waiting", "running", "done", "failed", "cancelled", "dead"]

FOLLOWS: Mapping[RunState, frozenset[RunState]] = {
    "delayed": frozenset({"waiting", "cancelled"}),
    "waiting": frozenset({"running", "cancelled"}),
    # Back to waiting: the worker died, or released the run while stopping.
    "running": frozenset({"waiting", "done", "failed", "cancelled", "dead"}),
    "failed": frozenset({"waiting"}),
    "cancelled": frozenset({"waiting"}),
    # Dead letter: started too often without finishing, most likely because it crashes its worker.
    "dead": frozenset({"waiting"}),
    "done": frozenset(),
}
"""Allowed state transitions of a run. `resume` moves an ended run back to waiting; `done` is final."""

ENDED: frozenset[RunState] = frozenset({"done", "failed", "cancelled", "dead"})
RESUMABLE: frozenset[RunState] = frozenset(state for state in ENDED if "waiting" in FOLLOWS[state])

MAX_ATTEMPTS = 50
"""Starts without finishing after which a run becomes a dead letter; far more than normal restarts cause."""


class DurableError(TallyError):
    """The durable engine cannot perform the operation; the code says why."""

    code = "durable_error"


class StepFailed(TallyError):  # noqa: N818 - the name already says that it is an error
    """A step failed in all its attempts; a flow may catch it and take another path.

    It is rebuilt from the stored record, so that a flow sees the same error the first time and after a crash.
    """

    code = "step_failed"

    def __init__(self, *, step: str, failure: "RunFailure", attempts: int) -> None:
        super().__init__(f"step '{step}' failed after {attempts} attempt(s): {failure.kind}: {failure.message}")
        self.step = step
        self.failure = failure
        self.attempts = attempts


@dataclass(frozen=True, kw_only=True, slots=True)
class RunFailure:
    """The stored reason why a step or a run failed."""

    kind: str
    """The exception's class name."""
    message: str
    code: str | None = None
    """The fixed code, if the exception had one."""
    step: str | None = None
    """The step that failed, if the failure was in a step."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Retry:
    """Retry policy of a step: number of attempts and backoff."""

    attempts: int = 1
    first_s: float = 1.0
    """Pause in seconds after the first failure; each further pause is `factor` times longer, up to `longest_s`."""
    factor: float = 2.0
    longest_s: float = 60.0
    never_on: tuple[type[Exception], ...] = ()
    """Errors that are not retried, because a retry cannot succeed."""

    def pause_after(self, attempt: int) -> float:
        """Return the seconds to wait after the given attempt (the first is 1) has failed."""
        try:
            return min(self.longest_s, self.first_s * self.factor ** (attempt - 1))
        except OverflowError:
            return self.longest_s


ONCE = Retry()


@dataclass(frozen=True, kw_only=True, slots=True)
class Queue:
    """A queue of runs and its concurrency limits."""

    name: str
    concurrency: int | None = None
    """Maximum concurrent runs across all workers; None: unlimited."""
    per_worker: int | None = 8
    """Maximum concurrent runs in one worker; each run of a synchronous flow occupies a thread."""
    starts: int | None = None
    """Maximum starts within `per_s` seconds, for services with a rate limit."""
    per_s: float = 1.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Schedule:
    """A flow that starts periodically: once per due time, even with several workers."""

    name: str
    flow: str
    cron: str
    """Cron expression with five fields, or six with seconds first."""
    args: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Arguments of the flow, which also receives `scheduled_at`, the time it was due."""
    timezone: str | None = None
    """IANA name; None: UTC."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RunStatus:
    """The status of a run."""

    id: str
    flow: str
    queue: str | None
    state: RunState
    args: Mapping[str, Any]
    result: Any = None
    """The flow's return value, once the run is done."""
    failure: RunFailure | None = None
    attempts: int = 0
    """How often a worker has started it."""
    worker: str | None = None
    """The worker that runs it, or ran it last."""
    created_ms: int = 0
    updated_ms: int = 0
    ended_ms: int | None = None

    @property
    def ended(self) -> bool:
        """Whether the run has ended; it can continue only through `resume`."""
        return self.state in ENDED


@dataclass(frozen=True, kw_only=True, slots=True)
class StepRecord:
    """A finished step."""

    name: str
    failed: bool
    started_ms: int | None = None
    ended_ms: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """An event published by a flow; `seq` counts from 0 within the run."""

    seq: int
    data: Any


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkerSeen:
    """A worker's registry row: its heartbeat count, and the worker that is taking over its runs."""

    id: str
    host: str
    pid: int
    beats: int
    taker: str | None = None

"""The nouns of durable work: the states of a run, why it failed, how a step is tried again, queues and schedules.

They stand apart from the port (`durable.py`), so that flows, doors and the engine's binding can share them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tallystick.errors import TallyError

RunState = Literal["delayed", "waiting", "running", "done", "failed", "cancelled", "dead"]

FOLLOWS: Mapping[RunState, frozenset[RunState]] = {
    "delayed": frozenset({"waiting", "cancelled"}),
    "waiting": frozenset({"running", "cancelled"}),
    # Back to waiting: the worker died, or handed the run over while stopping.
    "running": frozenset({"waiting", "done", "failed", "cancelled", "dead"}),
    "failed": frozenset({"waiting"}),
    "cancelled": frozenset({"waiting"}),
    # The dead letter: begun too often without an end, most likely because it kills its worker.
    "dead": frozenset({"waiting"}),
    "done": frozenset(),
}
"""What a run may become next. `resume` is the step from an ended state back to waiting; done is final."""

ENDED: frozenset[RunState] = frozenset({"done", "failed", "cancelled", "dead"})
RESUMABLE: frozenset[RunState] = frozenset(state for state in ENDED if "waiting" in FOLLOWS[state])

MAX_ATTEMPTS = 50
"""Begun this often without an end, a run is a dead letter: far above what restarts explain."""


class DurableError(TallyError):
    """The durable engine cannot do what was asked; the code says why."""

    code = "durable_error"


class StepFailed(TallyError):  # noqa: N818 - reads as what it is
    """A step failed in all its attempts; a flow may catch it and go another way.

    It is rebuilt from the record, so that a flow meets the same error the first time and after a crash.
    """

    code = "step_failed"

    def __init__(self, *, step: str, failure: "Failure", attempts: int) -> None:
        super().__init__(f"step '{step}' failed after {attempts} attempt(s): {failure.kind}: {failure.message}")
        self.step = step
        self.failure = failure
        self.attempts = attempts


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """Why a step or a run failed, as it is stored."""

    kind: str
    """The exception's class name."""
    message: str
    code: str | None = None
    """The fixed code, where the exception had one."""
    step: str | None = None
    """The step that failed, where it was one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Retry:
    """How often a step is tried, and how long the pauses are."""

    attempts: int = 1
    first_s: float = 1.0
    """Pause after the first failure; each further one is `factor` times longer, up to `longest_s`."""
    factor: float = 2.0
    longest_s: float = 60.0
    never_on: tuple[type[Exception], ...] = ()
    """Errors that trying again cannot mend."""

    def pause_after(self, attempt: int) -> float:
        """Seconds to wait after the given attempt (the first is 1) has failed."""
        try:
            return min(self.longest_s, self.first_s * self.factor ** (attempt - 1))
        except OverflowError:
            return self.longest_s


ONCE = Retry()


@dataclass(frozen=True, kw_only=True, slots=True)
class Queue:
    """Where runs wait, and how many of them go on at once."""

    name: str
    concurrency: int | None = None
    """At once over all workers together; None: no such limit."""
    per_worker: int | None = 8
    """At once in one worker; each plain run holds a thread."""
    starts: int | None = None
    """At most this many begin within `per_s` seconds, for a service that counts calls."""
    per_s: float = 1.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Schedule:
    """A flow that is started again and again; several workers start it once each time."""

    name: str
    flow: str
    cron: str
    """Five fields, or six with seconds first."""
    args: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The flow also gets `scheduled_at`, the time it was due."""
    timezone: str | None = None
    """IANA name; None: UTC."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RunStatus:
    """What is known of a run."""

    id: str
    flow: str
    queue: str | None
    state: RunState
    args: Mapping[str, Any]
    result: Any = None
    """What the flow returned, once it is done."""
    failure: Failure | None = None
    attempts: int = 0
    """How often a worker has begun it."""
    worker: str | None = None
    """Who runs it, or ran it last."""
    created_ms: int = 0
    updated_ms: int = 0
    ended_ms: int | None = None

    @property
    def ended(self) -> bool:
        """Whether it goes on only after `resume`."""
        return self.state in ENDED


@dataclass(frozen=True, kw_only=True, slots=True)
class StepRecord:
    """A step that has ended."""

    name: str
    failed: bool
    started_ms: int | None = None
    ended_ms: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """Something a flow told while it ran; `seq` counts from 0 within the run."""

    seq: int
    data: Any


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkerSeen:
    """A worker's row: who beats, how far, and who is taking its runs over."""

    id: str
    host: str
    pid: int
    beats: int
    taker: str | None = None

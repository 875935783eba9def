"""The states of runs and steps, as two tables; nothing else changes a state."""

from collections.abc import Mapping
from typing import Literal

from tallystick.turns.runs import RunState

Status = Literal["queued", "running", "done", "failed", "cancelled", "incomplete"]
"""`incomplete`: every step ran, and the definition of done does not hold."""
StepStatus = Literal["pending", "running", "done", "failed", "skipped"]

FOLLOWS: Mapping[Status, frozenset[Status]] = {
    "queued": frozenset({"running", "failed", "cancelled"}),
    # To itself: at the next step.
    "running": frozenset({"running", "queued", "done", "failed", "cancelled", "incomplete"}),
    # `resume` leads back; or a worker died just after writing this down, and another does the step again.
    "failed": frozenset({"queued", "running"}),
    "incomplete": frozenset({"queued", "running"}),
    # Only a person leads on from here.
    "cancelled": frozenset({"queued"}),
    "done": frozenset(),
}
ENDED: frozenset[Status] = frozenset({"done", "failed", "cancelled", "incomplete"})
RESUMABLE: frozenset[Status] = frozenset(status for status in ENDED if FOLLOWS[status])

_FROM_ENGINE: Mapping[RunState, Status] = {
    "delayed": "queued",
    "waiting": "queued",
    "running": "running",
    "done": "done",
    "failed": "failed",
    "cancelled": "cancelled",
    "dead": "failed",
}


def may_become(status: Status, following: Status) -> bool:
    """Whether the one may follow on the other."""
    return following in FOLLOWS[status]


def shown(written: Status, engine: RunState | None) -> Status:
    """The status of a run, from its file and the durable engine.

    The engine knows whether anybody works on it; the file knows how it ended. A run the engine has never heard of was
    lost between the two, before its first step: it has failed, and `resume` starts it.
    """
    if engine is None:
        return written if written in ENDED else "failed"
    if _FROM_ENGINE[engine] == "failed" and written == "incomplete":
        return "incomplete"
    if engine == "done" and written != "done":
        # The engine calls a flow done that came to its end; whether the run is, its file says.
        return "failed"
    return _FROM_ENGINE[engine]

"""The engine's rows as our records."""

from collections.abc import Mapping
from typing import Any

from dbos import PortableWorkflowError, StepInfo, WorkflowStatus

from tallystick.storage.durable.book import FlowBook
from tallystick.storage.durable.plain import failure_from, failure_of
from tallystick.turns.runs import Failure, RunState, RunStatus, StepRecord

INNER = "~"
"""Steps of our own (sleep) begin with this; steps of the engine's with `DBOS.`."""

STATES: Mapping[str, RunState] = {
    "DELAYED": "delayed",
    "ENQUEUED": "waiting",
    "PENDING": "running",
    "SUCCESS": "done",
    "ERROR": "failed",
    "CANCELLED": "cancelled",
    "MAX_RECOVERY_ATTEMPTS_EXCEEDED": "dead",
}
"""The engine's word for each state of ours."""


def run_status(found: WorkflowStatus, book: FlowBook) -> RunStatus:
    """A run; once it was cancelled its queue is known from the book alone."""
    card = book.flows.get(found.name)
    return RunStatus(
        id=found.workflow_id,
        flow=found.name,
        queue=found.queue_name or (card.queue if card else None),
        state=STATES[found.status],
        # What cannot be read comes as it is stored, a text.
        args=arguments(*found.input["args"]) if isinstance(found.input, dict) else {},
        result=found.output,
        failure=_failure_in(found.error),
        attempts=found.recovery_attempts or 0,
        worker=found.executor_id,
        created_ms=found.created_at or 0,
        updated_ms=found.updated_at or 0,
        ended_ms=found.completed_at,
    )


def step_record(step: StepInfo) -> StepRecord:
    """A step that has ended."""
    return StepRecord(
        name=step["function_name"],
        failed=step_failed(step),
        started_ms=step["started_at_epoch_ms"],
        ended_ms=step["completed_at_epoch_ms"],
    )


def is_own_step(step: StepInfo) -> bool:
    """Whether the flow itself named it; sleeps and events are steps too, underneath."""
    return not step["function_name"].startswith((INNER, "DBOS."))


def step_failed(step: StepInfo) -> bool:
    """Whether it came to nothing; see `flows.py` for how that is stored."""
    output = step["output"]
    return step["error"] is not None or (isinstance(output, dict) and "failed" in output)


def arguments(first: Any, schedule_args: Any = None) -> dict[str, Any]:
    """What the flow is called with; the engine calls a scheduled one with the time and the schedule's own arguments."""
    if schedule_args is None:
        return dict(first)
    return {**schedule_args, "scheduled_at": first}


def _failure_in(error: Exception | None) -> Failure | None:
    if not isinstance(error, Exception):
        return None
    if isinstance(error, PortableWorkflowError) and isinstance(error.data, dict) and "kind" in error.data:
        return failure_from(error.data)
    return failure_of(error)

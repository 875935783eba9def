"""Converts the engine's rows to our records."""

from collections.abc import Mapping
from typing import Any

from dbos import PortableWorkflowError, StepInfo, WorkflowStatus

from tallystick.storage.durable.flow_registry import FlowRegistry
from tallystick.storage.durable.stored_values import failure_from, failure_of
from tallystick.turns.runs import RunFailure, RunState, RunStatus, StepRecord

INNER = "~"
"""Name prefix of our internal steps (sleep); the engine's own steps begin with `DBOS.`."""

STATES: Mapping[str, RunState] = {
    "DELAYED": "delayed",
    "ENQUEUED": "waiting",
    "PENDING": "running",
    "SUCCESS": "done",
    "ERROR": "failed",
    "CANCELLED": "cancelled",
    "MAX_RECOVERY_ATTEMPTS_EXCEEDED": "dead",
}
"""The engine's state → our state."""


def run_status(found: WorkflowStatus, book: FlowRegistry) -> RunStatus:
    """Convert a run; the queue of a cancelled run is known only from the book."""
    card = book.flows.get(found.name)
    return RunStatus(
        id=found.workflow_id,
        flow=found.name,
        queue=found.queue_name or (card.queue if card else None),
        state=STATES[found.status],
        # Unreadable input is returned as stored, as text.
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
    """Convert a step that has ended."""
    return StepRecord(
        name=step["function_name"],
        failed=step_failed(step),
        started_ms=step["started_at_epoch_ms"],
        ended_ms=step["completed_at_epoch_ms"],
    )


def is_own_step(step: StepInfo) -> bool:
    """Return whether the flow itself named the step; internally, sleeps and events are steps too."""
    return not step["function_name"].startswith((INNER, "DBOS."))


def step_failed(step: StepInfo) -> bool:
    """Return whether the step failed; `flows.py` describes how that is stored."""
    output = step["output"]
    return step["error"] is not None or (isinstance(output, dict) and "failed" in output)


def arguments(first: Any, schedule_args: Any = None) -> dict[str, Any]:
    """Return the flow's arguments; the engine calls a scheduled flow with the time and the schedule's arguments."""
    if schedule_args is None:
        return dict(first)
    return {**schedule_args, "scheduled_at": first}


def _failure_in(error: Exception | None) -> RunFailure | None:
    if not isinstance(error, Exception):
        return None
    if isinstance(error, PortableWorkflowError) and isinstance(error.data, dict) and "kind" in error.data:
        return failure_from(error.data)
    return failure_of(error)

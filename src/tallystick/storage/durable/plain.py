"""Values as they are stored: JSON, and errors as records.

What a step gives is sent through JSON before the flow sees it, so that a tuple is a list the first time too and not
only when it is read back after a crash.
"""

import json
from collections.abc import Mapping
from typing import Any

from dbos._error import DBOSStepNondeterminismError, DBOSUnexpectedStepError

from tallystick.errors import TallyError
from tallystick.turns.runs import DurableError, Failure, StepFailed

MESSAGE_CHARS = 500
"""Enough to see what went wrong; a whole response body in an error text is not kept."""


def plain_json(value: Any, what: str) -> Any:
    """The value as JSON gives it back.

    Raises:
        DurableError: `not_json`; NaN, dates, bytes, objects and half surrogate pairs are not.
    """
    try:
        text = json.dumps(value, allow_nan=False, ensure_ascii=False)
        text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        message = f"{what} must be JSON ({type(error).__name__}: {error}); store it elsewhere and pass its id"
        raise DurableError(message[:MESSAGE_CHARS], code="not_json") from None
    return json.loads(text)


def failure_of(error: Exception) -> Failure:
    """An exception as a record; what the engine says about changed flows in our own words."""
    if isinstance(error, DBOSUnexpectedStepError | DBOSStepNondeterminismError):
        message = "the steps differ from those recorded: register a changed flow under a new name"
        return Failure(kind="DurableError", message=message, code="flow_changed")
    step = error.step if isinstance(error, StepFailed) else None
    code = error.code if isinstance(error, TallyError) else None
    return Failure(kind=type(error).__name__, message=str(error)[:MESSAGE_CHARS], code=code, step=step)


def failure_record(failure: Failure) -> dict[str, Any]:
    """A failure as it is stored."""
    return {"kind": failure.kind, "message": failure.message, "code": failure.code, "step": failure.step}


def failure_from(record: Mapping[str, Any]) -> Failure:
    """A failure as it was stored."""
    return Failure(
        kind=str(record["kind"]),
        message=str(record["message"]),
        code=record.get("code"),
        step=record.get("step"),
    )

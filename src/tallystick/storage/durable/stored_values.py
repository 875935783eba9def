"""Values as stored: JSON, and errors as records; pickles are refused.

A step's result is converted through JSON before the flow sees it, so that a tuple is a list the first time too, not
only when read back after a crash.
"""

import json
from collections.abc import Mapping
from typing import Any, NoReturn

from dbos._error import DBOSStepNondeterminismError, DBOSUnexpectedStepError
from dbos._serialization import DefaultSerializer

from tallystick.errors import TallyError
from tallystick.turns.runs import DurableError, RunFailure, StepFailed

MESSAGE_CHARS = 500
"""Enough to see what went wrong, without storing a whole response body."""


def plain_json(value: Any, what: str) -> Any:
    """Convert a value through JSON.

    Raises:
        DurableError: `not_json`: NaN, dates, bytes, objects and lone surrogates are not allowed.
    """
    try:
        text = json.dumps(value, allow_nan=False, ensure_ascii=False)
        text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        message = f"{what} must be JSON ({type(error).__name__}: {error}); store it elsewhere and pass its id"
        raise DurableError(message[:MESSAGE_CHARS], code="not_json") from None
    return json.loads(text)


def failure_of(error: Exception) -> RunFailure:
    """Convert an exception to a record; the engine's errors about changed flows get our own message."""
    if isinstance(error, DBOSUnexpectedStepError | DBOSStepNondeterminismError):
        message = "the steps differ from those recorded: register a changed flow under a new name"
        return RunFailure(kind="DurableError", message=message, code="flow_changed")
    step = error.step if isinstance(error, StepFailed) else None
    code = error.code if isinstance(error, TallyError) else None
    return RunFailure(kind=type(error).__name__, message=str(error)[:MESSAGE_CHARS], code=code, step=step)


def failure_record(failure: RunFailure) -> dict[str, Any]:
    """Convert a failure to its stored form."""
    return {"kind": failure.kind, "message": failure.message, "code": failure.code, "step": failure.step}


def failure_from(record: Mapping[str, Any]) -> RunFailure:
    """Convert a failure from its stored form."""
    return RunFailure(
        kind=str(record["kind"]),
        message=str(record["message"]),
        code=record.get("code"),
        step=record.get("step"),
    )


class PickleRefused(ValueError):  # noqa: N818 - the name says what happened
    """A stored value is a pickle and was not read."""


def refuse_pickles() -> None:
    """Disable the engine's unpickling for the whole process.

    Unpickling runs code. A workspace from another person includes its database, and opening it must not run their code;
    tallystick itself never stores a pickle.
    """
    DefaultSerializer.deserialize = _refuse  # type: ignore[method-assign, assignment]


def _refuse(_self: DefaultSerializer, _stored: Any) -> NoReturn:
    raise PickleRefused("this row was not stored by tallystick: its value is a pickle and is not read")

"""Answers, in bytes."""

from typing import Any

import orjson
from starlette.responses import Response

from tallystick.doors.http.problems import problem
from tallystick.gate.execute.outcome import Outcome

JSON = "application/json"


def json_answer(value: Any, status: int = 200) -> Response:
    """Any JSON value."""
    return Response(orjson.dumps(value), status_code=status, media_type=JSON)


def outcome_answer(outcome: Outcome, extra: dict[str, Any] | None = None) -> Response:
    """An outcome with the table's status; a room's extra fields beside it."""
    wire = outcome.as_dict()
    if extra:
        wire |= extra
    return json_answer(wire, outcome.http)


def problem_answer(
    category: str, message: str, status: int, *, endpoint: str | None = None, hint: str | None = None
) -> Response:
    """The problem payload."""
    body = problem(category, message, status, endpoint=endpoint, hint=hint)
    return Response(body, status_code=status, media_type=JSON)


def listing(items: list[Any], *, total: int, limit: int, offset: int) -> Response:
    """The one form of every list."""
    return json_answer({"items": items, "total": total, "limit": limit, "offset": offset})

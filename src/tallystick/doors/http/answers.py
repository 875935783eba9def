"""Build JSON responses."""

from typing import Any

import orjson
from starlette.responses import Response

from tallystick.doors.http.asgi import Header
from tallystick.doors.http.problems import problem
from tallystick.gate.codes import NO_TOKEN
from tallystick.gate.execute.outcome import Outcome

JSON = "application/json"
CHALLENGE: Header = (b"www-authenticate", b"Bearer")
"""The header that a 401 must have (RFC 9110, 11.6.1)."""


def json_answer(value: Any, status: int = 200) -> Response:
    """Build a response with a JSON value."""
    # The keys of a database row are a subclass of `str`, which orjson takes for another type.
    return _answer(orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS), status)


def outcome_answer(outcome: Outcome, extra: dict[str, Any] | None = None) -> Response:
    """Build the response of an outcome, with its HTTP status and optional extra fields."""
    wire = outcome.as_dict()
    if extra:
        wire |= extra
    return json_answer(wire, outcome.http)


def problem_answer(
    category: str, message: str, status: int, *, endpoint: str | None = None, hint: str | None = None
) -> Response:
    """Build a response with a problem payload."""
    return _answer(problem(category, message, status, endpoint=endpoint, hint=hint), status)


def listing(items: list[Any], *, total: int, limit: int, offset: int) -> Response:
    """Build the response of a list; all lists have this form."""
    return json_answer({"items": items, "total": total, "limit": limit, "offset": offset})


def _answer(body: bytes, status: int) -> Response:
    answer = Response(body, status_code=status, media_type=JSON)
    if status == NO_TOKEN.http:
        answer.raw_headers.append(CHALLENGE)
    return answer

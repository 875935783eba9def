"""Paging and filters of list routes: `?limit=50&offset=0`."""

from typing import Any

from starlette.requests import Request

from tallystick.doors.http.problems import RequestRefused
from tallystick.gate.codes import Category

MOST, USUAL = 500, 50
MAX_DIGITS = 15
"""Maximum digits of a number: no list is longer, and databases refuse larger offsets."""


def page(request: Request) -> tuple[int, int]:
    """Return `limit` and `offset` of a list request.

    Raises:
        RequestRefused: 400 if they are not whole numbers or out of bounds.
    """
    limit, offset = _number(request, "limit", USUAL), _number(request, "offset", 0)
    if not 1 <= limit <= MOST:
        raise RequestRefused(400, Category.VALIDATION_ERROR, f"limit is 1 to {MOST}")
    return limit, offset


def documented(**filters: str) -> dict[str, Any]:
    """Build a list route's `openapi_extra`: paging parameters and filters with their descriptions."""
    numbers = {
        "limit": {"type": "integer", "minimum": 1, "maximum": MOST, "default": USUAL},
        "offset": {"type": "integer", "minimum": 0, "default": 0},
    }
    parameters = [{"name": name, "in": "query", "schema": schema} for name, schema in numbers.items()]
    for name, meaning in filters.items():
        parameters.append({"name": name, "in": "query", "schema": {"type": "string"}, "description": meaning})
    return {"parameters": parameters}


def _number(request: Request, name: str, usual: int) -> int:
    text = request.query_params.get(name)
    if text is None:
        return usual
    # `int` would also accept non-ASCII digits, signs, spaces and underscores.
    if not text.isascii() or not text.isdigit() or len(text) > MAX_DIGITS:
        raise RequestRefused(400, Category.VALIDATION_ERROR, f"{name} is a whole number")
    return int(text)

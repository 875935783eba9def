"""The problem payload: the error format of every route except the gate's own.

{"error": {"category", "message", "details": {"tool_name", "endpoint"?, "status"?, "hint"?}}}
"""

from collections.abc import Mapping
from typing import Any, TypeVar

import orjson

from tallystick.agents.problem import Problem
from tallystick.gate.codes import Category

PROBLEM: dict[str, Any] = {
    "description": "A problem payload.",
    "content": {
        "application/json": {
            "schema": {
                "type": "object",
                "required": ["error"],
                "properties": {
                    "error": {
                        "type": "object",
                        "required": ["category", "message", "details"],
                        "properties": {
                            "category": {"enum": [str(category) for category in Category]},
                            "message": {"type": "string"},
                            "details": {"type": "object"},
                        },
                    }
                },
            }
        }
    },
}
"""The payload's schema for the API documentation."""


def problem(
    category: Category | str,
    message: str,
    status: int | None = None,
    *,
    tool_name: str = "",
    endpoint: str | None = None,
    hint: str | None = None,
) -> bytes:
    """Build the payload.

    Args:
        category: One of the five categories; it takes precedence over the status.
        message: A plain sentence without request data or a stack trace.
        status: The HTTP status.
        tool_name: The tool concerned; empty if none was reached.
        endpoint: The route's template.
        hint: What to do.
    """
    optional: dict[str, Any] = {"endpoint": endpoint, "status": status, "hint": hint}
    details = {"tool_name": tool_name, **{name: value for name, value in optional.items() if value is not None}}
    return orjson.dumps({"error": {"category": str(category), "message": message, "details": details}})


class RequestRefused(Exception):  # noqa: N818 - carried to the one place that answers it
    """A request that a route refuses."""

    def __init__(self, status: int, category: Category | str, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.category = category
        self.hint = hint


T = TypeVar("T")


def granted(value: T | Problem, statuses: Mapping[str, int]) -> T:
    """Return the value unless it is a problem.

    Args:
        value: A room's result.
        statuses: Code → status, for codes whose status is not 400.

    Raises:
        RequestRefused: The value is a problem.
    """
    if not isinstance(value, Problem):
        return value
    status = statuses.get(value.code, 400)
    category = _CATEGORIES.get(status, Category.DOWNSTREAM_ERROR)
    raise RequestRefused(status, category, value.message, hint=" ".join(filter(None, (value.code, value.pointer))))


_CATEGORIES = {
    400: Category.VALIDATION_ERROR,
    403: Category.RBAC_DENIED,
    429: Category.BUDGET_EXCEEDED,
}

"""The problem payload: how every route but the gate's own says that something went wrong.

{"error": {"category", "message", "details": {"tool_name", "endpoint"?, "status"?, "hint"?}}}
"""

from typing import Any

import orjson

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
"""As the documentation shows it."""


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
        category: One of the five categories; it wins over the status.
        message: A clean sentence; never what was sent, never a stack.
        status: The HTTP status.
        tool_name: The tool concerned; empty when none was reached.
        endpoint: The route's template.
        hint: What to do about it.
    """
    optional: dict[str, Any] = {"endpoint": endpoint, "status": status, "hint": hint}
    details = {"tool_name": tool_name, **{name: value for name, value in optional.items() if value is not None}}
    return orjson.dumps({"error": {"category": str(category), "message": message, "details": details}})


class Refused(Exception):  # noqa: N818 - carried to the one place that answers it
    """A request that a route does not serve."""

    def __init__(self, status: int, category: Category | str, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.category = category
        self.hint = hint

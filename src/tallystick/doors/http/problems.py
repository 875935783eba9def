"""The problem payload: how every route but the gate's own says that something went wrong.

{"error": {"category", "message", "details": {"tool_name", "endpoint"?, "status"?, "hint"?}}}
"""

from typing import Any

import orjson

from tallystick.gate.codes import Category


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

"""Complaints as tools and commands tell them: whoever looks at a book learns what of it was not looked at."""

from collections.abc import Sequence
from typing import Any, get_args

from tallystick.rooms.studio.book.nouns import Complaint, Role

MAX_COMPLAINTS = 100
"""Told at once; nobody mends more before looking again."""
COMPLAINT_SCHEMA = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "line": {"type": "integer"},
        "code": {"type": "string"},
        "message": {"type": "string"},
        "left_out": {"enum": [*get_args(Role), "text", None]},
    },
    "required": ["path", "line", "code", "message", "left_out"],
    "additionalProperties": False,
}
COMPLAINTS_SCHEMA = {
    "complaints_total": {"type": "integer"},
    "complaints": {"type": "array", "items": COMPLAINT_SCHEMA},
}
"""Two properties of a tool's output."""


def told(complaints: Sequence[Complaint]) -> dict[str, Any]:
    """How many there are, and the first of them: what is left out goes before what is only odd."""
    ordered = sorted(complaints, key=lambda one: one.left_out is None)
    return {"complaints_total": len(ordered), "complaints": [shown(one) for one in ordered[:MAX_COMPLAINTS]]}


def shown(complaint: Complaint) -> dict[str, Any]:
    """The wire form."""
    return {
        "path": complaint.path,
        "line": complaint.line,
        "code": complaint.code,
        "message": complaint.message,
        "left_out": complaint.left_out,
    }

"""`tool.history.list`: list past questions, newest first."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tallystick.gate.role_names import HISTORY_ROLES
from tallystick.gate.tool import Card, Tool
from tallystick.rooms.insight.model import rfc3339

if TYPE_CHECKING:
    from tallystick.rooms.insight.model import Analysis

_CARD = Card(
    name="tool.history.list",
    description="The analyses that were run, newest first, a page at a time; of one dataset, prompt or time if wanted.",
    input_schema={
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "tool.history.list.input",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "limit": {"type": "integer", "minimum": 1, "maximum": 500, "default": 50},
            "offset": {"type": "integer", "minimum": 0, "default": 0},
            "dataset_id": {"type": "integer", "minimum": 1},
            "prompt_version": {"type": "string"},
            "date_from": {"type": "string", "format": "date-time"},
            "date_to": {"type": "string", "format": "date-time"},
        },
        "required": ["limit", "offset"],
    },
    output_schema={
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "tool.history.list.output",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "limit": {"type": "integer", "minimum": 1},
            "offset": {"type": "integer", "minimum": 0},
            "total": {"type": "integer", "minimum": 0},
            "items": {
                "type": "array",
                "items": {
                    "type": "object",
                    "additionalProperties": False,
                    "properties": {
                        "id": {"type": "integer", "minimum": 1},
                        "dataset_id": {"type": "integer", "minimum": 1},
                        "prompt_version": {"type": "string"},
                        "question": {"type": "string"},
                        "ticket_count": {"type": "integer", "minimum": 0},
                        "created_at": {"type": ["string", "null"], "format": "date-time"},
                    },
                    "required": ["id", "dataset_id", "prompt_version", "question", "ticket_count"],
                },
            },
        },
        "required": ["limit", "offset", "total", "items"],
    },
    effect="read",
    idempotent=True,
    roles=HISTORY_ROLES,
)


def history_list(history: "Callable[..., tuple[list[Analysis], int]]") -> Tool:
    """The tool over one workspace.

    Args:
        history: A page of analyses, and how many there are; see `analysing.Analyses.history`.
    """

    def handler(limit: int, offset: int, **filters: Any) -> dict[str, Any]:
        found, total = history(limit=limit, offset=offset, **filters)
        items = [
            {
                "id": each.analysis_id,
                "dataset_id": each.dataset_id,
                "prompt_version": each.prompt_version,
                "question": each.question,
                "ticket_count": each.ticket_count,
                "created_at": rfc3339(each.created_at),
            }
            for each in found
        ]
        return {"limit": limit, "offset": offset, "total": total, "items": items}

    return Tool(card=_CARD, handler=handler)

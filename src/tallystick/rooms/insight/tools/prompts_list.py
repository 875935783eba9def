"""`tool.prompts.list`: list the versions of the analyst's prompt."""

from collections.abc import Callable
from typing import Any

from tallystick.gate.role_names import EVERY_ROLE
from tallystick.gate.tool import Card, Tool

_CARD = Card(
    name="tool.prompts.list",
    roles=EVERY_ROLE,
    description="The versions of the instructions that an analysis can be run with.",
    input_schema={
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "tool.prompts.list.input",
        "type": "object",
        "additionalProperties": False,
        "properties": {},
        "required": [],
    },
    output_schema={
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "tool.prompts.list.output",
        "type": "object",
        "additionalProperties": False,
        "properties": {"versions": {"type": "array", "items": {"type": "string"}}},
        "required": ["versions"],
    },
    effect="read",
    idempotent=True,
)


def prompts_list(versions: Callable[[], list[str]]) -> Tool:
    """The tool over one workspace."""

    def handler() -> dict[str, Any]:
        return {"versions": versions()}

    return Tool(card=_CARD, handler=handler)

"""`tool.prompts.load`: return one version of the analyst's prompt."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tallystick.gate.role_names import EVERY_ROLE
from tallystick.gate.tool import Card, Tool

if TYPE_CHECKING:
    from tallystick.rooms.insight.model import Prompt

_CARD = Card(
    name="tool.prompts.load",
    roles=EVERY_ROLE,
    description="One version of the instructions that an analysis is run with: its template and what was noted of it.",
    input_schema={
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "tool.prompts.load.input",
        "type": "object",
        "additionalProperties": False,
        "properties": {"version": {"type": "string", "minLength": 1}},
        "required": ["version"],
    },
    output_schema={
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "tool.prompts.load.output",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "version": {"type": "string"},
            "template": {"type": "string"},
            "metadata": {"type": "object"},
        },
        "required": ["version", "template"],
    },
    effect="read",
    idempotent=True,
)


def prompts_load(load: "Callable[[str], Prompt]") -> Tool:
    """The tool over one workspace."""

    def handler(version: str) -> dict[str, Any]:
        found = load(version)
        return {"version": found.version, "template": found.template, "metadata": dict(found.metadata)}

    return Tool(card=_CARD, handler=handler)

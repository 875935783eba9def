"""`tool.prompts.save`: store a version of the analyst's prompt; earlier revisions stay."""

from collections.abc import Callable, Mapping
from typing import Any

from tallystick.gate.role_names import ADMIN_ONLY
from tallystick.gate.tool import Card, Tool

_CARD = Card(
    name="tool.prompts.save",
    description=(
        "Keep a version of the instructions that an analysis is run with. The template may hold {question}, {dataset}, "
        "{figures} and {tickets}; without a place for it the question is put behind it."
    ),
    input_schema={
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "tool.prompts.save.input",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "version": {"type": "string", "minLength": 1},
            "template": {"type": "string", "minLength": 1},
            "metadata": {"type": "object"},
        },
        "required": ["version", "template"],
    },
    output_schema={
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "tool.prompts.save.output",
        "type": "object",
        "additionalProperties": False,
        "properties": {"ok": {"type": "boolean"}},
        "required": ["ok"],
    },
    effect="write",
    idempotent=True,
    roles=ADMIN_ONLY,
    audited=True,
    resource="prompt:{version}",
    audit_keys=("version", "metadata"),
)


def prompts_save(save: Callable[[str, str, Mapping[str, Any]], int]) -> Tool:
    """The tool over one workspace."""

    def handler(version: str, template: str, metadata: Mapping[str, Any] | None = None) -> dict[str, Any]:
        save(version, template, metadata or {})
        return {"ok": True}

    return Tool(card=_CARD, handler=handler)

"""The form of a recipe, as JSON Schema: what can be said about it without knowing tools or agents."""

from typing import Any

from tallystick.agents.problem import text
from tallystick.gate.admit.schema import compile_schema

MAX_STEPS = 40
MAX_BATCH = 50
MAX_PROMPT = 20_000
_NAME: dict[str, Any] = {"type": "string", "pattern": "^[a-z][a-z0-9_-]{0,63}$"}
_SLOT: dict[str, Any] = {"type": "string", "pattern": "^[a-z][a-z0-9_]{0,63}$"}
_TOOL: dict[str, Any] = {"type": "string", "minLength": 1, "maxLength": 128}
_REFERENCE: dict[str, Any] = {
    "type": "object",
    "properties": {"$ref": {"type": "string"}, "$input": {"type": "string"}, "default": {}},
    "oneOf": [{"required": ["$ref"]}, {"required": ["$input"]}],
    "additionalProperties": False,
}
_CONDITION: dict[str, Any] = {
    "anyOf": [
        _REFERENCE,
        {"type": "object", "properties": {"not": _REFERENCE}, "required": ["not"], "additionalProperties": False},
        {
            "type": "object",
            "properties": {"equals": {"type": "array", "minItems": 2, "maxItems": 2}},
            "required": ["equals"],
            "additionalProperties": False,
        },
    ]
}
_PATH: dict[str, Any] = {"anyOf": [{"type": "string", "minLength": 1, "maxLength": 1_000}, _REFERENCE]}

_TOOL_STEP: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": _NAME,
        "tool": _TOOL,
        "action": _NAME,
        "args": {"type": "object"},
        "slot": _SLOT,
        "for_each": _REFERENCE,
        "batch": {"type": "integer", "minimum": 1, "maximum": MAX_BATCH},
        "when": _CONDITION,
        "optional": {"type": "boolean"},
    },
    "required": ["id"],
    # One of the two; and a batch of nothing in particular is a mistake.
    "oneOf": [{"required": ["tool"]}, {"required": ["action"]}],
    "dependentRequired": {"batch": ["for_each"]},
    "additionalProperties": False,
}
_AGENT_STEP: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": _NAME,
        "agent": _TOOL,
        "prompt": {"type": "string", "minLength": 1, "maxLength": MAX_PROMPT},
        "uses": {"type": "array", "maxItems": MAX_STEPS, "items": _SLOT},
        "tools": {"type": "array", "maxItems": MAX_STEPS, "items": _TOOL},
        "slot": _SLOT,
        "evidence": {"enum": ["required", "none"]},
        "writes": {
            "type": "object", "properties": {"path": _PATH}, "required": ["path"], "additionalProperties": False,
        },
        "when": _CONDITION,
        "optional": {"type": "boolean"},
    },
    "required": ["id", "agent", "prompt"],
    "additionalProperties": False,
}  # fmt: skip


def _check(kind: str, **fields: Any) -> dict[str, Any]:
    return {
        "type": "object", "properties": {"check": {"const": kind}, **fields}, "required": ["check", *fields],
        "additionalProperties": False,
    }  # fmt: skip


RECIPE = compile_schema(
    {
        "type": "object",
        "properties": {
            "id": _NAME,
            "title": text(120, shortest=1),
            "description": text(1_000),
            "inputs": {"type": "object", "propertyNames": _SLOT, "additionalProperties": {"type": "object"}},
            "phase_a": {"type": "array", "minItems": 1, "maxItems": MAX_STEPS, "items": _TOOL_STEP},
            "phase_b": {"type": "array", "maxItems": MAX_STEPS, "items": _AGENT_STEP},
            "done": {
                "type": "array",
                "minItems": 1,
                "maxItems": MAX_STEPS,
                "items": {
                    "oneOf": [
                        _check("slot_not_null", slot=_SLOT),
                        _check("slot_field_equals", slot=_SLOT, field={"type": "string", "minLength": 1}, equals={}),
                        _check("file_exists", path=_PATH),
                        _check("evidence_ok", slot=_SLOT),
                    ]
                },
            },
        },
        "required": ["id", "title", "phase_a", "done"],
    },
    closed=True,
)
"""Compiled once; a recipe without a definition of done is no recipe."""

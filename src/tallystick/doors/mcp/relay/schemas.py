"""Adapt the schemas of a server's tools for the gate.

A published `outputSchema` describes `structuredContent`, but the gate checks the whole result. So the schema is nested
under that property, and references to its root are adjusted.
"""

from collections.abc import Mapping
from typing import Any

PLACE = "/properties/structuredContent"
_DATA = frozenset({"const", "enum", "default", "examples"})
"""Keywords whose values are data, not schemas."""
_NAMED = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
"""Keywords that map author-chosen names to schemas."""
_OLD_DRAFTS = ("draft-03", "draft-04", "draft-06", "draft-07")


def result_schema(output: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a whole result; `structuredContent` is optional, since errors have none."""
    inner = {key: value for key, value in output.items() if key != "$schema"}
    if "$id" not in inner:
        # A schema with its own `$id` is a separate document, so its references stay valid.
        inner = _moved(inner)
    whole: dict[str, Any] = {"type": "object", "properties": {"structuredContent": inner}}
    return {"$schema": output["$schema"], **whole} if "$schema" in output else whole


def closed(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return an input schema that rejects undeclared arguments (`--strict`), unless it says what else it accepts."""
    if not {"additionalProperties", "unevaluatedProperties"}.isdisjoint(schema):
        return dict(schema)
    old = any(draft in str(schema.get("$schema", "")) for draft in _OLD_DRAFTS)
    if not old:
        return {**schema, "unevaluatedProperties": False}
    # In older drafts `additionalProperties` sees only the properties next to it.
    combined = not {"allOf", "anyOf", "oneOf", "$ref", "if"}.isdisjoint(schema)
    return dict(schema) if combined else {**schema, "additionalProperties": False}


def _moved(node: Any, *, named: bool = False) -> Any:
    if isinstance(node, list):
        return [_moved(item) for item in node]
    if not isinstance(node, Mapping):
        return node
    made: dict[str, Any] = {}
    for key, value in node.items():
        if named:
            made[key] = _moved(value)
        elif key == "$ref" and isinstance(value, str) and (value == "#" or value.startswith("#/")):
            made[key] = f"#{PLACE}{value[1:]}"
        else:
            made[key] = value if key in _DATA else _moved(value, named=key in _NAMED)
    return made

"""Schemas of a server's tools, as the gate needs them.

A published `outputSchema` is for `structuredContent`; the gate checks the whole result. So it is put where it belongs,
and what refers to its own top goes on doing so.
"""

from collections.abc import Mapping
from typing import Any

PLACE = "/properties/structuredContent"
_DATA = frozenset({"const", "enum", "default", "examples"})
"""Keywords whose values are data, not schemas."""
_NAMED = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
"""Keywords that hold schemas under names of the author's choice."""
_OLD_DRAFTS = ("draft-03", "draft-04", "draft-06", "draft-07")


def result_schema(output: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of a whole result, from the one of its structured part; a result that is an error has no such part."""
    inner = {key: value for key, value in output.items() if key != "$schema"}
    if "$id" not in inner:
        # With an id of its own it is a document of its own, and its references stay inside.
        inner = _moved(inner)
    whole: dict[str, Any] = {"type": "object", "properties": {"structuredContent": inner}}
    return {"$schema": output["$schema"], **whole} if "$schema" in output else whole


def closed(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema of arguments that takes only what it names (`--strict`), unless it says itself what else it takes."""
    if not {"additionalProperties", "unevaluatedProperties"}.isdisjoint(schema):
        return dict(schema)
    old = any(draft in str(schema.get("$schema", "")) for draft in _OLD_DRAFTS)
    if not old:
        return {**schema, "unevaluatedProperties": False}
    # Older drafts see only the properties beside the keyword.
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

"""The JSON Schema of a turn's next message, for providers that support structured output (`response_format`).

It describes exactly what `open_envelope` and the tools' schemas admit. The gate does not rely on it: if a provider
ignores it, every check still applies.
"""

from collections.abc import Iterable
from typing import Any

from tallystick.gate.admit.names import Entry
from tallystick.gate.admit.subschemas import Node, moved, walk, without_keywords

ANNOTATIONS = frozenset({"$comment", "default", "description", "examples", "title"})
"""Keywords that do not affect validation; the tool list in the prompt already contains the descriptions."""


def turn_schema(entries: Iterable[Entry], nonce: str, *, first: bool, may_finish: bool = False) -> dict[str, Any]:
    """Build the schema: one branch per tool of the turn with its arguments, and one for `final` where it is allowed.

    Args:
        entries: The tools that this turn may use.
        nonce: The nonce of this step; a constant in the schema.
        first: Whether this is step one, where there is no `action`.
        may_finish: Whether the model may finish on step one.
    """
    branches: list[dict[str, Any]] = []
    for place, entry in enumerate(entries):
        args = _closed(_embedded(entry, f"/anyOf/{place}/properties/args"))
        fields = {} if first else {"action": {"const": "tool"}}
        branches.append(_object({**fields, "tool": {"const": entry.card.name}, "args": args}, nonce))
    # After a tool result the model may always finish.
    if may_finish or not first:
        branches.append(_object({"action": {"const": "final"}}, nonce))
    return {"type": "object", "anyOf": branches}


def _object(properties: dict[str, Any], nonce: str) -> dict[str, Any]:
    """Build the schema of one message form: all given fields and the nonce are required, and no others allowed."""
    properties = {**properties, "nonce": {"const": nonce}}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _embedded(entry: Entry, place: str) -> Node:
    """Return the tool's input schema for embedding at `place`, with its references adjusted."""
    schema = without_keywords(entry.input.schema, ANNOTATIONS)
    if any(node.keys() & {"$anchor", "$dynamicAnchor"} for node in walk(schema)):
        # Two tools may use the same anchor name; separate ids keep their anchors apart.
        schema = {"$id": f"urn:tallystick:tool:{entry.card.name}", **schema}
    return moved(schema, place)


def _closed(args: Node) -> Node:
    """Use `additionalProperties` where it is equivalent, since few providers support `unevaluatedProperties`."""
    args.pop("$schema", None)
    simple = not args.keys() & {"$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "dependentSchemas"}
    if simple and "additionalProperties" not in args and args.get("unevaluatedProperties") is False:
        del args["unevaluatedProperties"]
        args["additionalProperties"] = False
    return args

"""The JSON Schema of a turn's next message, for providers that can hold a model to one (`response_format`).

It describes exactly what `open_envelope` and the tools' schemas admit, and nothing is admitted because of it: a
provider that ignores it changes nothing.
"""

from collections.abc import Iterable
from typing import Any

from tallystick.gate.admit.names import Entry
from tallystick.gate.admit.subschemas import Node, moved, walk


def turn_schema(entries: Iterable[Entry], nonce: str, *, first: bool, may_finish: bool = False) -> dict[str, Any]:
    """One branch for each tool of the turn with its own arguments, and one for the wish to finish.

    Args:
        entries: The tools this turn may use.
        nonce: The nonce of this step; it is a constant of the schema.
        first: Step one, where there is no `action`.
        may_finish: Whether the model may finish on step one.
    """
    branches: list[dict[str, Any]] = []
    for place, entry in enumerate(entries):
        args = _closed(_embedded(entry, f"/anyOf/{place}/properties/args"))
        fields = {} if first else {"action": {"const": "tool"}}
        branches.append(_object({**fields, "tool": {"const": entry.card.name}, "args": args}, nonce))
    # After a result the model may always stop.
    if may_finish or not first:
        branches.append(_object({"action": {"const": "final"}}, nonce))
    return {"type": "object", "anyOf": branches}


def _object(properties: dict[str, Any], nonce: str) -> dict[str, Any]:
    """A form of the message: these fields, all of them, and the nonce."""
    properties = {**properties, "nonce": {"const": nonce}}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _embedded(entry: Entry, place: str) -> Node:
    """The arguments' schema for use inside the document, where its references start from `place`."""
    schema = entry.input.schema
    if any(node.keys() & {"$anchor", "$dynamicAnchor"} for node in walk(schema)):
        # Two tools may use one anchor; with an id of its own, each keeps its anchors to itself.
        schema = {"$id": f"urn:tallystick:tool:{entry.card.name}", **schema}
    return moved(schema, place)


def _closed(args: Node) -> Node:
    """Say `additionalProperties` where it means the same: few providers know `unevaluatedProperties`."""
    args.pop("$schema", None)
    simple = not args.keys() & {"$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "dependentSchemas"}
    if simple and "additionalProperties" not in args and args.get("unevaluatedProperties") is False:
        del args["unevaluatedProperties"]
        args["additionalProperties"] = False
    return args

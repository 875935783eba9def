"""Convert a schema to the form that strict mode requires, and responses back.

Strict mode requires every property, closes every object, and needs an object at the top. So an optional property
becomes nullable, and a choice at the top is nested under one name. The model did not choose either, so both are
reversed before the gate sees the response. A schema that cannot be converted without changing what it allows has no
strict form.
"""

from collections.abc import Mapping
from typing import Any

import jsonschema_rs
import orjson

from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.admit.strictjson import parse_strict
from tallystick.gate.admit.subschemas import at_pointer, moved, walk
from tallystick.records import record

Node = dict[str, Any]

WRAPPER = "answer"
"""The property that contains a top-level choice."""
NULL: Node = {"type": "null"}
_KEPT = frozenset(
    {"type", "description", "title", "pattern", "format", "minimum", "maximum", "exclusiveMinimum",
     "exclusiveMaximum", "multipleOf", "minItems", "maxItems"}
)  # fmt: skip
# Dropping these only allows more, and the gate checks them anyway.
_DROPPED = frozenset(
    {"default", "examples", "deprecated", "readOnly", "writeOnly", "$schema", "$comment", "minLength",
     "maxLength", "uniqueItems", "minProperties", "maxProperties", "$defs", "definitions"}
)  # fmt: skip
_BUILT = frozenset({"properties", "required", "additionalProperties", "items", "anyOf", "oneOf", "enum", "const"})
_NAMES = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}


@record
class Strict:
    """A schema in strict form."""

    schema: Node
    original: Node
    wrapped: bool

    def restored(self, text: str) -> str:
        """Convert a response back to the original schema; text that does not match the strict form is unchanged."""
        value = parse_strict(text.encode(errors="replace"))
        if isinstance(value, Rejection) or not jsonschema_rs.is_valid(self.schema, value):
            return text
        inner = value[WRAPPER] if self.wrapped else value
        plain = _Return(self.original).restored(inner, self.original)
        return text if plain == value else orjson.dumps(plain).decode()


def strict_form(schema: Mapping[str, Any]) -> Strict | None:
    """Return the strict form of a schema; None if it has none."""
    original = dict(schema)
    try:
        made, wrapped = _Forward(original).top()
    except _NotStrict:
        return None
    return Strict(schema=made, original=original, wrapped=wrapped)


class _NotStrict(Exception):  # noqa: N818 - only leaves the recursion; never escapes this module
    pass


class _Forward:
    """Converts one schema to its strict form; referenced schemas are collected under `$defs`."""

    def __init__(self, root: Node) -> None:
        self._root = root
        self._names: dict[str, str] = {}
        self._defs: dict[str, Node] = {}

    def top(self) -> tuple[Node, bool]:
        branches = _branches(self._root)
        single = branches[0] if branches is not None and len(branches) == 1 else self._root
        made = self._strict(single)
        wrapped = "properties" not in made
        if wrapped:
            made = _closed({WRAPPER: made})
        return ({**made, "$defs": self._defs} if self._defs else made), wrapped

    def _strict(self, node: Any) -> Node:
        if not isinstance(node, dict):
            raise _NotStrict
        if "$ref" in node:
            return self._reference(node)
        if node.keys() - _KEPT - _DROPPED - _BUILT:
            raise _NotStrict
        kept = {key: value for key, value in node.items() if key in _KEPT}
        choice = _branches(node)
        if choice is not None:
            return {"anyOf": [self._strict(branch) for branch in choice]}
        if "const" in node or "enum" in node:
            return {**kept, **_values(node)}
        return self._typed(node, kept)

    def _typed(self, node: Node, kept: Node) -> Node:
        kind = node.get("type")
        if isinstance(kind, list) and {"object", "array"} & set(kind):
            return {"anyOf": [self._strict({**node, "type": each}) for each in kind]}
        if kind == "object":
            return {**{key: kept[key] for key in kept.keys() & {"description", "title"}}, **self._object(node)}
        if kind == "array":
            return {**kept, "items": self._strict(node.get("items"))}
        if kind is None:
            raise _NotStrict
        return kept

    def _object(self, node: Node) -> Node:
        properties = node.get("properties")
        required = set(node.get("required", ()))
        # A free-form map cannot be closed without forbidding its purpose.
        if not isinstance(properties, dict) or node.get("additionalProperties", False) is not False:
            raise _NotStrict
        if not required <= properties.keys():
            raise _NotStrict
        made: dict[str, Node] = {}
        for name, child in properties.items():
            strict = self._strict(child)
            made[name] = strict if name in required else self._nullable(child, strict)
        return _closed(made)

    def _nullable(self, child: Any, strict: Node) -> Node:
        # If null is a valid value, it could not be distinguished from a missing property.
        if jsonschema_rs.is_valid(_rooted(self._root, child), None):
            raise _NotStrict
        return {"anyOf": [strict, NULL]}

    def _reference(self, node: Node) -> Node:
        pointer = node["$ref"]
        if node.keys() - {"$ref", "description", "title", *_DROPPED} or not _is_local(pointer):
            raise _NotStrict
        if pointer not in self._names:
            self._names[pointer] = name = f"d{len(self._names)}"
            self._defs[name] = self._strict(at_pointer(self._root, pointer[1:]))
        return {"$ref": f"#/$defs/{self._names[pointer]}"}


class _Return:
    """Converts values back by dropping nulls that stand for missing properties."""

    def __init__(self, root: Node) -> None:
        self._root = root

    def restored(self, value: Any, node: Any) -> Any:
        while "$ref" in node:
            node = at_pointer(self._root, node["$ref"][1:])
        choice = _branches(node)
        if choice is not None:
            return self._of_choice(value, choice)
        if isinstance(value, dict):
            return self._of_object(value, node)
        if isinstance(value, list):
            return [self.restored(item, node["items"]) for item in value]
        return value

    def _of_choice(self, value: Any, choice: list[Any]) -> Any:
        """Convert by the branch that accepts the value; if none does, by the first that is possible."""
        read = [(branch, plain) for branch in choice if (plain := self._read(value, branch)) is not _MISFIT]
        fitting = (plain for branch, plain in read if jsonschema_rs.is_valid(_rooted(self._root, branch), plain))
        return next(fitting, read[0][1] if read else value)

    def _read(self, value: Any, branch: Any) -> Any:
        if _contradicts(value, branch):
            return _MISFIT
        try:
            return self.restored(value, branch)
        except (KeyError, TypeError):
            return _MISFIT

    def _of_object(self, value: Node, node: Node) -> Node:
        required, properties = node.get("required", ()), node["properties"]
        return {
            name: self.restored(item, properties[name])
            for name, item in value.items()
            if item is not None or name in required
        }


_MISFIT = object()


def _branches(node: Node) -> list[Any] | None:
    """Return the branches of a choice; a `type` next to it must be the type of every branch."""
    found = node.get("anyOf", node.get("oneOf"))
    if found is None:
        return None
    beside = node.keys() - {"anyOf", "oneOf", "type", "description", "title", *_DROPPED}
    if beside or ("anyOf" in node and "oneOf" in node):
        raise _NotStrict
    kind = node.get("type")
    if kind is not None and not all(isinstance(branch, dict) and branch.get("type") == kind for branch in found):
        raise _NotStrict
    return list(found)


def _values(node: Node) -> Node:
    """Return a constant or enum, with the type that some servers require next to it."""
    values = [node["const"]] if "const" in node else node["enum"]
    if any(type(value) not in _NAMES for value in values):
        raise _NotStrict
    made: Node = {"const": node["const"]} if "const" in node else {"enum": values}
    kinds = sorted({_NAMES[type(value)] for value in values})
    return {"type": node.get("type", kinds[0] if len(kinds) == 1 else kinds), **made}


def _closed(properties: dict[str, Node]) -> Node:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _is_local(pointer: Any) -> bool:
    return isinstance(pointer, str) and (pointer == "#" or pointer.startswith("#/"))


def _contradicts(value: Any, branch: Node) -> bool:
    """Return whether a constant of the branch differs from the value: a quick test that rules out most branches."""
    if not isinstance(value, dict):
        return False
    fixed = branch.get("properties", {})
    return any(
        isinstance(fixed.get(name), dict) and fixed[name].get("const", item) != item for name, item in value.items()
    )


def _rooted(root: Node, node: Any) -> Any:
    """Return a part of a schema as a schema of its own, with valid references."""
    if not any("$ref" in each for each in walk(node)):
        return node
    place = "/$defs/whole"
    return {**moved(node, place), "$defs": {"whole": moved(root, place)}}

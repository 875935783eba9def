"""A schema as a server's strict mode wants it, and the way back.

Strict mode wants every property required, every object closed, and an object at the top. So an optional property
becomes one that may be null, and a choice at the top is put under one name. Neither is the model's doing, so both are
taken back before the gate sees the answer. A schema that cannot be told this way without changing what may be said has
no strict form.
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
"""The name a choice at the top is put under."""
NULL: Node = {"type": "null"}
_KEPT = frozenset(
    {"type", "description", "title", "pattern", "format", "minimum", "maximum", "exclusiveMinimum",
     "exclusiveMaximum", "multipleOf", "minItems", "maxItems"}
)  # fmt: skip
# Leaving these out only lets more through, and the gate holds to them anyway.
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
        """The answer as the original schema means it; text that does not fit the strict form is left as it came."""
        value = parse_strict(text.encode(errors="replace"))
        if isinstance(value, Rejection) or not jsonschema_rs.is_valid(self.schema, value):
            return text
        inner = value[WRAPPER] if self.wrapped else value
        plain = _Return(self.original).restored(inner, self.original)
        return text if plain == value else orjson.dumps(plain).decode()


def strict_form(schema: Mapping[str, Any]) -> Strict | None:
    """The strict form of a schema; None where it has none."""
    original = dict(schema)
    try:
        made, wrapped = _Forward(original).top()
    except _NotStrict:
        return None
    return Strict(schema=made, original=original, wrapped=wrapped)


class _NotStrict(Exception):  # noqa: N818 - a way out of the recursion, seen by nobody
    pass


class _Forward:
    """One schema on its way to its strict form; what references lead to is gathered under `$defs`."""

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
        # A free map cannot be closed without forbidding what it is for.
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
        # Where null means something of its own, it could not be told from a property that was left out.
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
    """The way back: nulls that stand for what was left out are dropped."""

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
        """The value as the branch that takes it means it; if none does, as the first that could be meant."""
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
    """The branches of a choice. `type` beside it may only say what all of them say."""
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
    """A fixed value or a list of them, with the type that some servers want beside it."""
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
    """Whether a constant of the branch is another than the value's: a look that spares most branches of a turn."""
    if not isinstance(value, dict):
        return False
    fixed = branch.get("properties", {})
    return any(
        isinstance(fixed.get(name), dict) and fixed[name].get("const", item) != item for name, item in value.items()
    )


def _rooted(root: Node, node: Any) -> Any:
    """A part of a schema as a schema of its own, whose references still lead where they led."""
    if not any("$ref" in each for each in walk(node)):
        return node
    place = "/$defs/whole"
    return {**moved(node, place), "$defs": {"whole": moved(root, place)}}

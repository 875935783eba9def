"""Convert a schema to a GBNF grammar, for servers that support grammars but not schemas.

Constraints that a grammar cannot express (a pattern, a minimum) are left to the gate. Properties come in the schema's
order, required ones first, which is enough to write every valid value.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from tallystick.gate.admit.subschemas import at_pointer

_COMMON = r"""
value ::= object | array | string | number | ("true" | "false" | "null") ws
object ::= "{" ws (string ":" ws value ("," ws string ":" ws value)*)? "}" ws
array ::= "[" ws (value ("," ws value)*)? "]" ws
string ::= "\"" ([^"\\\x7F\x00-\x1F] | "\\" (["\\/bfnrt] | "u" hex hex hex hex))* "\"" ws
hex ::= [0-9a-fA-F]
number ::= "-"? ("0" | [1-9] [0-9]*) ("." [0-9]+)? ([eE] [-+]? [0-9]+)? ws
integer ::= "-"? ("0" | [1-9] [0-9]*) ws
boolean ::= ("true" | "false") ws
null ::= "null" ws
ws ::= " "?
""".strip()
_NAMED = frozenset({"string", "number", "integer", "boolean", "null", "array", "object"})
_UNSAFE = re.compile(r'["\\\n\r]')
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r"}
_MAX_RULES = 2000
"""A server parses the grammar again for every request, so it must stay small."""


def grammar_of(schema: Mapping[str, Any]) -> str | None:
    """Return the grammar of a schema; None if it is too long to send."""
    maker = _Maker(dict(schema))
    root = maker.rule(dict(schema))
    if len(maker.rules) > _MAX_RULES:
        return None
    return "\n".join([f"root ::= {root}", *(f"{name} ::= {body}" for name, body in maker.rules.items()), _COMMON])


class _Maker:
    """Collects the rules of one grammar."""

    def __init__(self, root: dict[str, Any]) -> None:
        self._root = root
        self._places: dict[str, str] = {}
        self.rules: dict[str, str] = {}

    def rule(self, node: Any) -> str:
        """Return the name of the rule for a schema."""
        if not isinstance(node, dict):
            return "value"
        if isinstance(node.get("$ref"), str):
            return self._reference(node["$ref"])
        if "const" in node or "enum" in node:
            values = [node["const"]] if "const" in node else node["enum"]
            return self._new(" | ".join(f"{_literal(value)} ws" for value in values))
        choice = node.get("anyOf", node.get("oneOf"))
        if isinstance(choice, list):
            return self._new(" | ".join(self.rule(branch) for branch in choice))
        return self._typed(node)

    def _typed(self, node: dict[str, Any]) -> str:
        kind = node.get("type")
        if isinstance(kind, list):
            return self._new(" | ".join(self.rule({**node, "type": each}) for each in kind))
        if kind == "object" and isinstance(node.get("properties"), dict):
            return self._object(node["properties"], set(node.get("required", ())))
        if kind == "array" and "items" in node:
            item = self.rule(node["items"])
            return self._new(f'"[" ws ({item} ("," ws {item})*)? "]" ws')
        return kind if kind in _NAMED else "value"

    def _object(self, properties: Mapping[str, Any], required: set[str]) -> str:
        pairs = {name: f'{_literal(name)} ":" ws {self.rule(child)}' for name, child in properties.items()}
        must = [pair for name, pair in pairs.items() if name in required]
        may = [pair for name, pair in pairs.items() if name not in required]
        later = "".join(f' ("," ws {pair})?' for pair in may)
        inside = ' "," ws '.join(must) + later if must else " | ".join(_from_each(may))
        return self._new(f'"{{" ws {inside if must else f"({inside})?" if inside else ""} "}}" ws')

    def _reference(self, pointer: str) -> str:
        if not pointer.startswith("#"):
            return "value"
        if pointer not in self._places:
            # Named before it is built: a schema may refer to itself.
            self._places[pointer] = name = f"ref-{len(self._places)}"
            self.rules[name] = self.rule(at_pointer(self._root, pointer[1:]))
        return self._places[pointer]

    def _new(self, body: str) -> str:
        name = f"r-{len(self.rules)}"
        self.rules[name] = body
        return name


def _from_each(optional: list[str]) -> Iterator[str]:
    """Yield one alternative per property: without required ones, any of them may come first."""
    for place, first in enumerate(optional):
        yield first + "".join(f' ("," ws {pair})?' for pair in optional[place + 1 :])


def _literal(value: Any) -> str:
    """Return a JSON value as a GBNF string literal."""
    return '"' + _UNSAFE.sub(lambda found: _ESCAPES[found[0]], orjson.dumps(value).decode()) + '"'

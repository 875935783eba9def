"""Where a value does not fit its schema, and by which rule.

A validator can list all errors itself, but the list explodes: each branch of each `anyOf` adds the errors of each item
(13,000 nulls against fifty branches took ten seconds, where yes or no took 40 µs). So the answer is found by asking
only yes or no: down from the top, always into a part that says no, until no part below does. The rule that said no
there is the one that is named. The time is that of a few plain checks, whatever the schema.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import Any
from urllib.parse import unquote

import jsonschema_rs

from tallystick.gate.admit.strictjson import pointer_token
from tallystick.gate.admit.subschemas import Node, at_pointer, walk

SOME_RULE = "schema"
"""Named where no single rule can be: a condition, a dependency, an old draft's pair of keywords."""

CLOSING_RULES = ("additionalProperties", "unevaluatedProperties")
"""Rules that refuse a name, not a value."""

Path = list[str | int]
Misfit = tuple[Path, str]

_URI = "urn:tallystick:schema"
# Rules that can be asked alone, without their neighbours and without subschemas.
_SINGLE = frozenset(
    {"type", "enum", "const", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength",
     "maxLength", "pattern", "format", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties",
     "dependentRequired"}
)  # fmt: skip
# Rules that only their neighbours or the way taken give a meaning.
_LEFT = frozenset(
    {"$ref", "$dynamicRef", "if", "dependentSchemas", "dependencies", "patternProperties", "propertyNames", "contains",
     "items", "additionalItems", "unevaluatedItems", "unevaluatedProperties"}
)  # fmt: skip
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
# A name is looked for among this many at the most; whoever sends more unknown names is told about the object.
_NAMES_TRIED = 50


class Misfits:
    """Finds what does not fit. Parts of the schema are compiled when they are first asked."""

    def __init__(
        self,
        schema: Node,
        draft: type[jsonschema_rs.Validator],
        options: dict[str, Any],
        whole: jsonschema_rs.Validator,
    ) -> None:
        """Make a finder for one schema.

        Args:
            schema: The schema as compiled.
            draft: Its draft.
            options: How parts are to be compiled.
            whole: The compiled schema itself.
        """
        self._schema = schema
        self._draft = draft
        self._options = options
        # By place in the schema, and rule where only one is asked; None: it cannot stand alone.
        self._parts: dict[tuple[str, str], jsonschema_rs.Validator | None] = {("", ""): whole}

    def find(self, value: Any) -> Iterator[Misfit]:
        """Each place that does not fit by itself, with its rule; nothing if the value fits."""
        if not self._fits("", value):
            yield from self._find_below("", value, [])

    def _find_below(self, pointer: str, value: Any, path: Path) -> Iterator[Misfit]:
        """Go into every part that says no; if none does, the rule stands here."""
        node = at_pointer(self._schema, pointer)
        if not isinstance(node, dict):
            # `false`, and what a pointer led to that is no schema.
            yield path, SOME_RULE
            return
        deeper = False
        for place, part, step in self._ways_down(pointer, node, value):
            if not self._fits(place, part):
                deeper = True
                yield from self._find_below(place, part, path if step is None else [*path, step])
        if not deeper:
            name, rule = self._rule_about_names(pointer, node, value) or (None, self._rule_here(pointer, node, value))
            yield path if name is None else [*path, name], rule

    def _ways_down(self, pointer: str, node: Node, value: Any) -> Iterator[tuple[str, Any, str | int | None]]:
        """Parts that must all say yes: (their place in the schema, what they look at, the step to it).

        The order is that of the value, so the same call is always told the same.
        """
        # Anchors and other resources are not followed; the reference itself is named then.
        reference = node.get("$ref")
        if isinstance(reference, str) and self._one_document and reference[:2] in {"#", "#/"}:
            yield unquote(reference[1:]), value, None
        for number in range(len(node.get("allOf", ()))):
            yield f"{pointer}/allOf/{number}", value, None
        pairs = value.items() if type(value) is dict else enumerate(value) if type(value) is list else ()
        for step, item in pairs:
            place = _place_of_item(node, step) if isinstance(step, int) else _place_of_property(node, step)
            if place is not None:
                yield pointer + place, item, step

    def _rule_about_names(self, pointer: str, node: Node, value: Any) -> tuple[str, str] | None:
        """A name that is missing, or one that is not known."""
        if type(value) is not dict:
            return None
        required = node.get("required", ())
        for name in required if isinstance(required, list) else ():
            if name not in value:
                return name, "required"
        for rule in CLOSING_RULES:
            name = self._unknown_name(pointer, node, value) if node.get(rule) is False else None
            if name is not None:
                return name, rule
        return None

    def _rule_here(self, pointer: str, node: Node, value: Any) -> str:
        """The rule of this subschema that says no."""
        for rule, setting in node.items():
            if rule in _SINGLE and not self._fits_alone(pointer, rule, setting, value):
                return rule
        # Into branches nobody goes: which of them was meant cannot be known.
        for rule in ("anyOf", "oneOf"):
            answers = [self._fits(f"{pointer}/{rule}/{place}", value) for place in range(len(node.get(rule, ())))]
            if answers and not any(answers):
                return rule
            if rule == "oneOf" and sum(answers) > 1:
                return rule
        # Here yes is the wrong answer.
        if "not" in node and self._fits(f"{pointer}/not", value):
            return "not"
        # By elimination: if only one rule is left that could have said no, it did.
        left = [rule for rule in node if rule in _LEFT]
        return left[0] if len(left) == 1 else SOME_RULE

    def _unknown_name(self, pointer: str, node: Node, value: dict[str, Any]) -> str | None:
        """The first name without which fewer are unknown: with it alone, the object does not fit."""
        known = node.get("properties", {})
        # Tried with each stranger alone: names that other branches know are none.
        for name in [name for name in value if name not in known][:_NAMES_TRIED]:
            rest = {key: item for key, item in value.items() if key in known or key == name}
            if not self._fits(pointer, rest):
                return name
        return None

    def _fits(self, pointer: str, value: Any) -> bool:
        """What the part at a pointer says."""
        # By reference, so that the part sees the whole schema around it.
        return self._ask((pointer, ""), {"$ref": f"{_URI}#{pointer}"}, value)

    def _fits_alone(self, pointer: str, rule: str, setting: Any, value: Any) -> bool:
        """What one rule says without its neighbours."""
        return self._ask((pointer, rule), {rule: setting}, value)

    def _ask(self, key: tuple[str, str], schema: Node, value: Any) -> bool:
        """The answer of a part; compiled once, since the same mistakes come again."""
        if key not in self._parts:
            self._parts[key] = self._compile(schema)
        part = self._parts[key]
        return part is None or part.is_valid(value)

    def _compile(self, schema: Node) -> jsonschema_rs.Validator | None:
        """A part that cannot stand alone gives no answer; the one above it is named then."""
        try:
            return self._draft(schema, registry=self._registry, **self._options)
        except (ValueError, jsonschema_rs.ReferencingError):
            return None

    @cached_property
    def _registry(self) -> jsonschema_rs.Registry:
        # An id at the top would be the base of every part's address, and one such as `tool.x.input` is no address. It
        # is of use only to references that name it.
        own = {rule: setting for rule, setting in self._schema.items() if rule not in {"$id", "id"}}
        local = all(str(node.get(rule, "#")).startswith("#") for node in walk(self._schema) for rule in _REFERENCES)
        return jsonschema_rs.Registry([(_URI, own if local else self._schema)])

    @cached_property
    def _one_document(self) -> bool:
        """Whether every `#` means the top: a subschema with an id of its own is a top itself."""
        return not any("$id" in node or "id" in node for node in walk(self._schema) if node is not self._schema)


def _place_of_property(node: Node, name: str) -> str | None:
    """Where the schema of a property stands; None if no single one looks at it."""
    if name in node.get("properties", ()):
        return "/properties/" + name.replace("~", "~0").replace("/", "~1")
    # Beside patterns it depends on the name which of them looks at it; then the object is named.
    others = isinstance(node.get("additionalProperties"), dict) and "patternProperties" not in node
    return "/additionalProperties" if others else None


def _place_of_item(node: Node, index: int) -> str | None:
    """Where the schema of an item stands."""
    if index < len(node.get("prefixItems", ())):
        return f"/prefixItems/{index}"
    return "/items" if isinstance(node.get("items"), dict) else None


def as_pointer(path: Path) -> str:
    """A path as a JSON pointer, long names cut."""
    return "".join(pointer_token(step) for step in path)

"""Finds where a value violates its schema, and which rule it violates.

A validator can list all errors itself, but the list explodes: each branch of each `anyOf` adds the errors of each item
(13,000 nulls against fifty branches took ten seconds; a yes/no check took 40 µs). This module therefore uses yes/no
checks only: it descends from the root into the subschemas that fail until none below fails, and reports the rule that
fails there. This takes the time of a few plain checks for any schema.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import Any
from urllib.parse import unquote

import jsonschema_rs

from tallystick.gate.admit.strictjson import pointer_token
from tallystick.gate.admit.subschemas import Node, at_pointer, walk

SOME_RULE = "schema"
"""Reported if no single keyword is the cause: `if`/`then`, dependencies, or two keywords that apply together in an old
draft (draft 4: `minimum` with `exclusiveMinimum`)."""

CLOSING_RULES = ("additionalProperties", "unevaluatedProperties")
"""Rules that reject a property name, not a value."""

Path = list[str | int]
Misfit = tuple[Path, str]

_URI = "urn:tallystick:schema"
# Rules that can be checked in isolation: they depend on no sibling keyword and contain no subschemas.
_SINGLE = frozenset(
    {
        "type",
        "enum",
        "const",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "pattern",
        "format",
        "minItems",
        "maxItems",
        "uniqueItems",
        "minProperties",
        "maxProperties",
        "dependentRequired",
    }
)
# Rules whose meaning depends on sibling keywords or on the evaluation path.
_LEFT = frozenset(
    {
        "$ref",
        "$dynamicRef",
        "if",
        "dependentSchemas",
        "dependencies",
        "patternProperties",
        "propertyNames",
        "contains",
        "items",
        "additionalItems",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
# At most this many unknown names are tried; if none of them is the cause, the rejection names the object.
_NAMES_TRIED = 50


class Misfits:
    """Finds schema violations; subschemas are compiled on first use."""

    def __init__(
        self,
        schema: Node,
        draft: type[jsonschema_rs.Validator],
        options: dict[str, Any],
        whole: jsonschema_rs.Validator,
    ) -> None:
        """Create a finder for one schema.

        Args:
            schema: The schema as compiled.
            draft: The validator class of its draft.
            options: Options for compiling subschemas.
            whole: The validator of the whole schema.
        """
        self._schema = schema
        self._draft = draft
        self._options = options
        # Key: pointer into the schema, and the rule if only one is checked. None: it cannot be compiled alone.
        self._parts: dict[tuple[str, str], jsonschema_rs.Validator | None] = {("", ""): whole}

    def find(self, value: Any) -> Iterator[Misfit]:
        """Yield the path and rule of each innermost violation; nothing if the value is valid."""
        if not self._fits("", value):
            yield from self._find_below("", value, [])

    def _find_below(self, pointer: str, value: Any, path: Path) -> Iterator[Misfit]:
        """Descend into every failing subschema; if none fails, the violated rule is in this one."""
        node = at_pointer(self._schema, pointer)
        if not isinstance(node, dict):
            # The schema `false`, or a pointer target that is not a schema.
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
        """Yield the subschemas that must all pass, as (pointer into the schema, value to check, path step to it).

        Properties and items come in the order of the value, so the same call always gets the same answer.
        """
        # Anchors and other resources are not followed; the rejection then names the reference itself.
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
        """Return a missing or unknown property name and its rule, or None."""
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
        """Return the rule of this subschema that fails."""
        for rule, setting in node.items():
            if rule in _SINGLE and not self._fits_alone(pointer, rule, setting, value):
                return rule
        # Do not descend into branches: the intended branch is unknown.
        for rule in ("anyOf", "oneOf"):
            answers = [self._fits(f"{pointer}/{rule}/{place}", value) for place in range(len(node.get(rule, ())))]
            if answers and not any(answers):
                return rule
            if rule == "oneOf" and sum(answers) > 1:
                return rule
        # `not` fails if its subschema passes.
        if "not" in node and self._fits(f"{pointer}/not", value):
            return "not"
        # By elimination: if only one rule is left that could have failed, it did.
        left = [rule for rule in node if rule in _LEFT]
        return left[0] if len(left) == 1 else SOME_RULE

    def _unknown_name(self, pointer: str, node: Node, value: dict[str, Any]) -> str | None:
        """Return the first undeclared name that makes the object invalid, or None."""
        known = node.get("properties", {})
        # Check the declared properties plus one undeclared name at a time: it is valid if another branch declares it.
        for name in [name for name in value if name not in known][:_NAMES_TRIED]:
            rest = {key: item for key, item in value.items() if key in known or key == name}
            if not self._fits(pointer, rest):
                return name
        return None

    def _fits(self, pointer: str, value: Any) -> bool:
        """Whether the value is valid for the subschema at a pointer."""
        # By reference, so that the subschema can resolve references into the whole schema.
        return self._ask((pointer, ""), {"$ref": f"{_URI}#{pointer}"}, value)

    def _fits_alone(self, pointer: str, rule: str, setting: Any, value: Any) -> bool:
        """Whether the value is valid for one rule without its sibling keywords."""
        return self._ask((pointer, rule), {rule: setting}, value)

    def _ask(self, key: tuple[str, str], schema: Node, value: Any) -> bool:
        """Check a value against a part of the schema; validators are cached, since the same mistakes recur."""
        if key not in self._parts:
            self._parts[key] = self._compile(schema)
        part = self._parts[key]
        return part is None or part.is_valid(value)

    def _compile(self, schema: Node) -> jsonschema_rs.Validator | None:
        """Compile a part; None if it cannot be compiled alone: it then passes, and its parent is reported."""
        try:
            return self._draft(schema, registry=self._registry, **self._options)
        except (ValueError, jsonschema_rs.ReferencingError):
            return None

    @cached_property
    def _registry(self) -> jsonschema_rs.Registry:
        # A root id would become the base URI of every part, and an id such as `tool.x.input` is not a valid URI. It is
        # kept only if some reference is not local and may need it.
        own = {rule: setting for rule, setting in self._schema.items() if rule not in {"$id", "id"}}
        local = all(str(node.get(rule, "#")).startswith("#") for node in walk(self._schema) for rule in _REFERENCES)
        return jsonschema_rs.Registry([(_URI, own if local else self._schema)])

    @cached_property
    def _one_document(self) -> bool:
        """Whether every `#` refers to the root: a subschema with its own id would be a root itself."""
        return not any("$id" in node or "id" in node for node in walk(self._schema) if node is not self._schema)


def _place_of_property(node: Node, name: str) -> str | None:
    """Return the pointer to the schema of a property; None if no single schema applies to it."""
    if name in node.get("properties", ()):
        return "/properties/" + name.replace("~", "~0").replace("/", "~1")
    # With `patternProperties`, the applicable schema depends on the name; the rejection then names the object.
    others = isinstance(node.get("additionalProperties"), dict) and "patternProperties" not in node
    return "/additionalProperties" if others else None


def _place_of_item(node: Node, index: int) -> str | None:
    """Return the pointer to the schema of a list item; None if no single schema applies to it."""
    if index < len(node.get("prefixItems", ())):
        return f"/prefixItems/{index}"
    return "/items" if isinstance(node.get("items"), dict) else None


def as_pointer(path: Path) -> str:
    """Format a path as a JSON pointer; long names are truncated."""
    return "".join(pointer_token(step) for step in path)

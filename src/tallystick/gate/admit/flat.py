"""Flat schemas: what most tools take and give can be told by type alone, without asking the validator.

Only a yes is ever given here. Whatever is not plainly right goes to the validator, which alone says no; so this need
not know all of JSON Schema, only a corner of it for certain.
"""

from collections.abc import Callable, Mapping
from typing import Any

_KINDS: Mapping[str, type] = {"string": str, "integer": int, "boolean": bool}
"""Exact types: `True` is no integer here, and 7.0 is one only to the validator."""
_SAYS_NOTHING = frozenset(
    {"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment"}
)
"""Keywords that no value can break."""
_OF_TEXT = _SAYS_NOTHING | {"type", "enum", "pattern", "minLength", "maxLength"}
_OF_LISTS = _SAYS_NOTHING | {"type", "items", "minItems", "maxItems", "uniqueItems"}
_OF_OBJECTS = _SAYS_NOTHING | {"type", "properties", "required", "additionalProperties"}


def scalar_kind(schema: Any) -> type | None:
    """The exact type whose every value fits the schema; None: there is none that is known for certain."""
    if not isinstance(schema, Mapping) or not schema.keys() <= _SAYS_NOTHING | {"type"}:
        return None
    name = schema.get("type")
    return _KINDS.get(name) if isinstance(name, str) else None


def flat_kinds(schema: Mapping[str, Any]) -> dict[str, type] | None:
    """The types of all arguments, where an object with exactly these fits the schema; None: not known for certain."""
    if not schema.keys() <= _OF_OBJECTS:
        return None
    properties, required = schema.get("properties", {}), schema.get("required", [])
    if schema.get("type") != "object" or not isinstance(properties, Mapping) or not isinstance(required, list):
        return None
    kinds = {name: kind for name, sub in properties.items() if (kind := scalar_kind(sub)) is not None}
    # All of them, and all of them required or not: an object with each of the named keys satisfies both.
    return kinds if len(kinds) == len(properties) and set(required) <= kinds.keys() else None


def only_text(schema: Any, forbidden: Callable[[str], bool]) -> bool:
    """Whether all that fits is text, and lists and objects of text under named keys, none of which is forbidden."""
    if not isinstance(schema, Mapping):
        return False
    kind, keywords = schema.get("type"), schema.keys()
    if kind == "object":
        named = schema.get("properties")
        if not keywords <= _OF_OBJECTS or schema.get("additionalProperties") is not False:
            return False
        return isinstance(named, Mapping) and all(
            not forbidden(name) and only_text(sub, forbidden) for name, sub in named.items()
        )
    if kind == "array":
        return keywords <= _OF_LISTS and only_text(schema.get("items"), forbidden)
    return kind in ("string", "boolean") and keywords <= _OF_TEXT

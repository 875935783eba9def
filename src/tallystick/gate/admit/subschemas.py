"""Traverses a schema: finds its subschemas and their locations.

`{"properties": {"$ref": …}}` names a property and `{"const": {"$ref": …}}` contains data; neither is a reference. The
functions here therefore interpret a key only by the keyword that contains it.
"""

from collections.abc import Container, Iterator
from typing import Any

from tallystick.gate.admit.strictjson import pointer_token

Node = dict[str, Any]

# Keywords whose value maps names to schemas.
_MAPS = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"})
# Keywords whose value is a schema or a list of schemas.
_PLACES = frozenset(
    {
        "not",
        "if",
        "then",
        "else",
        "allOf",
        "anyOf",
        "oneOf",
        "additionalProperties",
        "propertyNames",
        "unevaluatedProperties",
        "items",
        "additionalItems",
        "unevaluatedItems",
        "contains",
        "contentSchema",
        "prefixItems",
    }
)


def subschemas(node: Node) -> Iterator[tuple[str, str | int | None, Node]]:
    """Yield the direct subschemas of a schema as (keyword, key, subschema), without values of `enum` or `const`."""
    # Skip boolean schemas, which have no content, and lists of names under `dependencies`, which are not schemas.
    for keyword, value in node.items():
        if keyword in _MAPS and isinstance(value, dict):
            yield from ((keyword, key, child) for key, child in value.items() if isinstance(child, dict))
        elif keyword in _PLACES and isinstance(value, dict):
            yield keyword, None, value
        elif keyword in _PLACES and isinstance(value, list):
            yield from ((keyword, key, child) for key, child in enumerate(value) if isinstance(child, dict))


def walk(node: Node) -> Iterator[Node]:
    """Yield a schema and all its subschemas."""
    return (child for _, child in located(node))


def located(node: Node, pointer: str = "") -> Iterator[tuple[str, Node]]:
    """Yield a schema and all its subschemas, each with the JSON pointer to it."""
    yield pointer, node
    for keyword, key, child in subschemas(node):
        below = pointer + pointer_token(keyword)
        yield from located(child, below if key is None else below + pointer_token(key))


def at_pointer(root: Node, pointer: str) -> Any:
    """Return the value at a JSON pointer; None if there is none."""
    here: Any = root
    # RFC 6901 defines the order of the two replacements: `~01` means `~1`, not a slash.
    for token in pointer.split("/")[1:]:
        key = token.replace("~1", "/").replace("~0", "~")
        if isinstance(here, dict):
            here = here.get(key)
        elif isinstance(here, list) and key in map(str, range(len(here))):
            here = here[int(key)]
        else:
            return None
    return here


def moved(node: Node, place: str) -> Node:
    """Copy a schema for embedding in another document: references relative to `#` become relative to `place`."""
    copy = {key: value for key, value in node.items() if key != "$schema"}
    # A schema with its own id stays the root of its references when embedded.
    if "$id" in node:
        return copy
    reference = node.get("$ref")
    if isinstance(reference, str) and (reference == "#" or reference.startswith("#/")):
        copy["$ref"] = f"#{place}{reference[1:]}"
    for keyword, key, child in subschemas(node):
        if key is None:
            copy[keyword] = moved(child, place)
        else:
            # The copy is shallow; copy a map or list before its first schema is replaced.
            if copy[keyword] is node[keyword]:
                copy[keyword] = node[keyword].copy()
            copy[keyword][key] = moved(child, place)
    return copy


def without_keywords(node: Node, keywords: Container[str]) -> Node:
    """Copy a schema without some keywords, at every depth; names of properties are not keywords."""
    copy = {key: value for key, value in node.items() if key not in keywords}
    for keyword, key, child in subschemas(copy):
        if key is None:
            copy[keyword] = without_keywords(child, keywords)
        else:
            if copy[keyword] is node[keyword]:
                copy[keyword] = node[keyword].copy()
            copy[keyword][key] = without_keywords(child, keywords)
    return copy

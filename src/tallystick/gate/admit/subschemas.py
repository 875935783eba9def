"""Ways through a schema: which parts of it are schemas themselves, and where they stand.

`{"properties": {"$ref": …}}` names a property, `{"const": {"$ref": …}}` holds data; neither is a reference. So nothing
here looks at keys without knowing the keyword they stand under.
"""

from collections.abc import Iterator
from typing import Any

from tallystick.gate.admit.strictjson import pointer_token

Node = dict[str, Any]

# Under these stand names, and under each name a schema.
_MAPS = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"})
# Under these stands a schema, or a list of them.
_PLACES = frozenset(
    {"not", "if", "then", "else", "allOf", "anyOf", "oneOf", "additionalProperties", "propertyNames",
     "unevaluatedProperties", "items", "additionalItems", "unevaluatedItems", "contains", "contentSchema",
     "prefixItems"}
)  # fmt: skip


def subschemas(node: Node) -> Iterator[tuple[str, str | int | None, Node]]:
    """The direct subschemas of a schema, with keyword and key: values of `enum` or `const` are not among them."""
    # Boolean schemas hold nothing to look at. `dependencies` may hold lists of names, which are no schemas.
    for keyword, value in node.items():
        if keyword in _MAPS and isinstance(value, dict):
            yield from ((keyword, key, child) for key, child in value.items() if isinstance(child, dict))
        elif keyword in _PLACES and isinstance(value, dict):
            yield keyword, None, value
        elif keyword in _PLACES and isinstance(value, list):
            yield from ((keyword, key, child) for key, child in enumerate(value) if isinstance(child, dict))


def walk(node: Node) -> Iterator[Node]:
    """A schema and all its subschemas."""
    return (child for _, child in located(node))


def located(node: Node, pointer: str = "") -> Iterator[tuple[str, Node]]:
    """A schema and all its subschemas, each with the JSON pointer to it."""
    yield pointer, node
    for keyword, key, child in subschemas(node):
        below = pointer + pointer_token(keyword)
        yield from located(child, below if key is None else below + pointer_token(key))


def at_pointer(root: Node, pointer: str) -> Any:
    """What a JSON pointer leads to; None if nowhere."""
    here: Any = root
    # The order of the two replacements is RFC 6901's: `~01` means `~1`, not a slash.
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
    """A copy of a schema for use inside another document: pointers that start at `#` start at `place`."""
    copy = {key: value for key, value in node.items() if key != "$schema"}
    # A schema with an id of its own stays the root of its references, wherever it stands.
    if "$id" in node:
        return copy
    reference = node.get("$ref")
    if isinstance(reference, str) and (reference == "#" or reference.startswith("#/")):
        copy["$ref"] = f"#{place}{reference[1:]}"
    for keyword, key, child in subschemas(node):
        if key is None:
            copy[keyword] = moved(child, place)
        else:
            # The copy is shallow; a map or list is copied when the first of its schemas changes.
            if copy[keyword] is node[keyword]:
                copy[keyword] = node[keyword].copy()
            copy[keyword][key] = moved(child, place)
    return copy

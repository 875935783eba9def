"""Summaries of arguments and results for spans: counts and identifiers, never text.

{"dataset_id": 7, "question": "text(212)", "tickets": "list(40)", "limit": 20}
"""

import re
from collections.abc import Mapping
from typing import Any

import orjson

from tallystick.gate.record.secrets import TOKEN

MAX_KEYS = 16
"""Maximum number of names in a summary; the rest is only counted."""

_ID_NAME = re.compile(r"(?:.*[_.-])?ids?|.*(?:Id|ID)")
_COUNT_NAME = re.compile(r"(?:.*_)?(?:count|total|size|limit|offset|k|n|steps|rows|lines)")
_IDENTIFIER = re.compile(r"(?=[^0-9]*[0-9])[A-Za-z0-9][A-Za-z0-9._:-]{0,63}")
"""It must contain a digit: a plain word could be ordinary text."""


def summary(value: Any, *, names: frozenset[str], secret_names: frozenset[str] = frozenset()) -> str:
    """Describe a value in one short line of JSON.

    Args:
        value: The arguments or the result.
        names: The names declared in the tool's schema; any other name may itself be text and is only counted.
        secret_names: Lower-case names whose values are redacted, including their shape.
    """
    if not isinstance(value, Mapping):
        return orjson.dumps(_shape(value)).decode()
    described: dict[str, Any] = {}
    unnamed = 0
    for name, item in value.items():
        if len(described) >= MAX_KEYS or name not in names:
            unnamed += 1
        elif name.lower() in secret_names:
            described[name] = "redacted"
        else:
            described[name] = _described(name, item)
    if unnamed:
        described["…"] = unnamed
    return orjson.dumps(described).decode()


def declared_names(schema: Any) -> frozenset[str]:
    """Return every property name that a schema declares, at any depth."""
    found: set[str] = set()
    stack: list[Any] = [schema]
    while stack:
        node = stack.pop()
        if isinstance(node, Mapping):
            properties = node.get("properties")
            found.update(properties if isinstance(properties, Mapping) else ())
            stack.extend(node.values())
        elif isinstance(node, list):
            stack.extend(node)
    return frozenset(found)


def _described(name: str, value: Any) -> Any:
    if _ID_NAME.fullmatch(name):
        if isinstance(value, list | tuple):
            return [_identifier(item) for item in value[:MAX_KEYS]]
        return _identifier(value)
    if isinstance(value, int) and _COUNT_NAME.fullmatch(name):
        return value
    return _shape(value)


def _identifier(value: Any) -> Any:
    """Return the value if it can only be an identifier, else its shape."""
    if isinstance(value, int) and abs(value) < 2**53:
        return value
    if isinstance(value, str) and _IDENTIFIER.fullmatch(value) and TOKEN.search(value) is None:
        return value
    return _shape(value)


def _shape(value: Any) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return f"text({len(value)})"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, Mapping):
        return f"object({len(value)})"
    if isinstance(value, list | tuple):
        return f"list({len(value)})"
    return "other"

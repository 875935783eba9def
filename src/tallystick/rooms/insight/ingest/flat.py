"""A JSON object as columns."""

import re
from typing import Any

_HALF = re.compile("[\ud800-\udfff]")
"""Halves of characters, which JSON can write and no database can store."""
MAX_DEPTH = 4
MAX_ITEMS = 200
"""Messages of one conversation that are read."""


def flat(item: dict[str, Any]) -> dict[str, str]:
    """Its values by dotted name, as text."""
    found: dict[str, str] = {}
    _flatten(found, item, "", MAX_DEPTH)
    return found


def _flatten(found: dict[str, str], value: Any, name: str, depth: int) -> None:
    if isinstance(value, dict):
        if depth:
            for key, inner in value.items():
                _flatten(found, inner, _text(f"{name}.{key}" if name else key), depth - 1)
    elif isinstance(value, list):
        if depth:
            for inner in value[:MAX_ITEMS]:
                _flatten(found, inner, name, depth - 1)
    else:
        text = _text(value)
        # The second of several: messages of a conversation, or labels.
        found[name] = f"{found[name]}\n{text}" if text and found.get(name) else text or found.get(name, "")


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value if value.isascii() else _HALF.sub("\ufffd", value)
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)

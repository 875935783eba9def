"""A JSON object as columns."""

import re
from collections.abc import Iterator
from typing import Any

_HALF = re.compile("[\ud800-\udfff]")
"""Halves of characters, which JSON can write and no database can store."""
MAX_DEPTH = 4
MAX_ITEMS = 200
"""Messages of one conversation that are read."""


def flat(item: dict[str, Any], most: int) -> dict[str, str]:
    """Its values by dotted name, as text; no more than one name above the most that are read."""
    found: dict[str, list[str]] = {}
    _flatten(found, item, "", MAX_DEPTH, most)
    # Several: messages of a conversation, or labels.
    return {name: "\n".join(texts) for name, texts in found.items()}


def _flatten(found: dict[str, list[str]], value: Any, name: str, depth: int, most: int) -> None:
    if isinstance(value, dict | list):
        for key, inner in _inside(value, name) if depth else ():
            if len(found) > most:
                return
            _flatten(found, inner, key, depth - 1, most)
        return
    texts, text = found.setdefault(name, []), _text(value)
    if text:
        texts.append(text)


def _inside(value: dict[str, Any] | list[Any], name: str) -> Iterator[tuple[str, Any]]:
    """What an object or a list holds, each under its name."""
    if isinstance(value, dict):
        return ((_text(f"{name}.{key}" if name else key), inner) for key, inner in value.items())
    return ((name, inner) for inner in value[:MAX_ITEMS])


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

"""A form built from a JSON Schema, such as a tool's input schema."""

from collections.abc import Callable, Mapping
from typing import Any

import orjson
from nicegui import ui

DEFINED = "#/$defs/"
LONG = 200
"""Texts that may be much longer than this get several lines."""


class SchemaForm:
    """Fields for the properties of an object."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        """Build the fields in the current container."""
        self._readers: dict[str, Callable[[], Any]] = {}
        required = set(schema.get("required", ()))
        for name, about in schema.get("properties", {}).items():
            self._readers[name] = _field(name, plain_field(about, schema), needed=name in required)

    def values(self) -> dict[str, Any]:
        """Return the values; empty fields are left out, and the schema decides whether they may be."""
        given = {name: read() for name, read in self._readers.items()}
        return {name: value for name, value in given.items() if value not in (None, "")}


def plain_field(about: Any, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema of a field with its reference resolved and an optional null removed."""
    if not isinstance(about, Mapping):
        return {}
    kept = {name: about[name] for name in ("description", "default") if name in about}
    if str(about.get("$ref", "")).startswith(DEFINED):
        named = schema.get("$defs", {}).get(str(about["$ref"]).removeprefix(DEFINED), {})
        # One step only: a definition with further references is entered as JSON.
        return {**(named if isinstance(named, Mapping) else {}), **kept}
    ways = [way for way in about.get("anyOf", ()) if isinstance(way, Mapping) and way.get("type") != "null"]
    if len(ways) == 1:
        return {**plain_field(ways[0], schema), **kept}
    return about if not ways else {**kept, "type": "object"}


def _field(name: str, about: Mapping[str, Any], *, needed: bool) -> Callable[[], Any]:
    label = name.replace("_", " ") + (" *" if needed else "")
    kind = about.get("type", "object")
    element: Any
    if "enum" in about:
        element = ui.select(list(about["enum"]), label=label, value=about.get("default"), clearable=not needed)
    elif kind == "boolean":
        element = ui.checkbox(label, value=bool(about.get("default", False)))
        return lambda: element.value
    elif kind in {"integer", "number"}:
        element = ui.number(label, value=about.get("default"), precision=0 if kind == "integer" else None)
    elif kind in {"array", "object"}:
        return _json_field(label, about)
    elif about.get("maxLength", 0) > LONG and about.get("maxLength", 0) > 10 * LONG:
        element = ui.textarea(label, value=about.get("default") or "").props("autogrow")
    else:
        element = ui.input(label, value=about.get("default") or "")
    element.props("outlined dense hide-bottom-space").classes("w-full")
    if about.get("description"):
        element.props["hint"] = str(about["description"])[:300]
    if kind == "integer":
        return lambda: None if element.value is None else int(element.value)
    return lambda: element.value


def _json_field(label: str, about: Mapping[str, Any]) -> Callable[[], Any]:
    """Build a field for lists and objects as JSON; a list of texts may also be entered one per line."""
    items = about.get("items")
    texts = about.get("type") == "array" and isinstance(items, Mapping) and items.get("type") == "string"
    hint = "One to a line" if texts else "JSON"
    field = ui.textarea(f"{label} ({hint})").props("outlined dense autogrow").classes("w-full")

    def read() -> Any:
        given = (field.value or "").strip()
        if not given:
            return None
        try:
            return orjson.loads(given)
        except orjson.JSONDecodeError:
            return [line for line in given.splitlines() if line.strip()] if texts else given

    return read

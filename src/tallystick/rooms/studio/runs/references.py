"""References: where a step's values come from.

    {"$ref": "found.results.0.path"}     a slot, then its fields and places
    {"$ref": "found.results.*.path"}     the same of each item, as a list
    {"$ref": "…", "default": []}         instead of nothing there
    {"$input": "scene_path"}             short for {"$ref": "inputs.scene_path"}
    {{found.results.0.path}}             inside the text of a prompt or a path; {{… | instead}} of nothing there

What is not there is a problem with a name, never an empty value that a tool would take for an answer.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from tallystick.agents.problem import Problem
from tallystick.rooms.studio.runs.recipe import INPUTS

EACH = "*"
PLACE = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*(?:\.(?:[A-Za-z0-9_-]+|\*))*")
TEMPLATE = re.compile(r"\{\{([^{}|]*)(?:\|([^{}|]*))?\}\}")
_REF_KEYS, _INPUT_KEYS = {"$ref", "default"}, {"$input", "default"}
_NOTHING = object()

Scope = Mapping[str, Any]
"""Slot → value; with `inputs`, `book`, and `item` where there is one."""


def resolve(value: Any, scope: Scope) -> Any:
    """A value with its references filled in; a `Problem` if one leads nowhere."""
    place = place_of(value)
    if place is not None:
        found = look_up(place, scope)
        if found is _NOTHING:
            return value["default"] if "default" in value else _missing(place)
        return found
    if isinstance(value, Mapping):
        return _all({key: resolve(inner, scope) for key, inner in value.items()})
    if isinstance(value, list):
        return _all([resolve(inner, scope) for inner in value])
    return value


def render(text: str, scope: Scope) -> str | Problem:
    """A text with its places filled in; what is not text is written as JSON."""
    missing: list[str] = []

    def put(found: re.Match[str]) -> str:
        place, default = found[1].strip(), found[2]
        value = look_up(place, scope)
        if value is _NOTHING or (value is None and default is not None):
            if default is None:
                missing.append(place)
            return (default or "").strip()
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

    rendered = TEMPLATE.sub(put, text)
    return _missing(missing[0]) if missing else rendered


def holds(condition: Any, scope: Scope) -> bool:
    """Whether a condition holds: `{"$ref": …}` is there and not empty, `{"not": …}`, or `{"equals": [a, b]}`."""
    if isinstance(condition, Mapping) and "not" in condition:
        return not holds(condition["not"], scope)
    if isinstance(condition, Mapping) and "equals" in condition:
        left, right = (resolve(side, scope) for side in condition["equals"])
        return bool(left == right)
    place = place_of(condition)
    found = condition if place is None else look_up(place, scope)
    return found is not _NOTHING and bool(found)


def places_in(value: Any) -> Iterator[str]:
    """Every place a value refers to."""
    place = place_of(value)
    if place is not None:
        yield place
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from places_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from places_in(inner)


def places_in_text(text: str) -> list[str]:
    """Every place a template refers to."""
    return [found[1].strip() for found in TEMPLATE.finditer(text)]


def place_of(value: Any) -> str | None:
    """The place a value refers to; None if it is not a reference."""
    if isinstance(value, Mapping):
        if "$ref" in value and value.keys() <= _REF_KEYS:
            return str(value["$ref"])
        if "$input" in value and value.keys() <= _INPUT_KEYS:
            return f"{INPUTS}.{value['$input']}"
    return None


def look_up(place: str, scope: Scope) -> Any:
    """What stands at a place; a marker of its own where there is nothing (`resolve` says which)."""
    return _walk(scope, place.split("."))


def _walk(value: Any, parts: list[str]) -> Any:
    for at, part in enumerate(parts):
        if part == EACH:
            if not isinstance(value, list):
                return _NOTHING
            inner = [_walk(one, parts[at + 1 :]) for one in value]
            # Of items that lack the field nothing is made up; lists inside lists become one.
            there = [one for one in inner if one is not _NOTHING]
            return [deep for one in there for deep in one] if EACH in parts[at + 1 :] else there
        value = _member(value, part)
        if value is _NOTHING:
            return _NOTHING
    return value


def _member(value: Any, part: str) -> Any:
    if isinstance(value, Mapping):
        return value.get(part, _NOTHING)
    if isinstance(value, list) and part.isascii() and part.isdigit() and int(part) < len(value):
        return value[int(part)]
    return _NOTHING


def _all(made: Any) -> Any:
    inner = made.values() if isinstance(made, dict) else made
    return next((one for one in inner if isinstance(one, Problem)), made)


def _missing(place: str) -> Problem:
    message = f"'{place}' is not there: the step before gave no such field, was skipped, or found nothing."
    return Problem(code="reference_missing", message=message)

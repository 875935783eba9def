"""Change single values of a TOML file and keep every other byte, so that the user's comments survive."""

import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any

_HEADER = re.compile(r"^\s*\[")


def with_values(text: str, table: tuple[str, ...], values: Mapping[str, Any]) -> str | None:
    """Return the text with other values in one table; None if that is impossible without changing anything else.

    Args:
        text: The file's content.
        table: The path of the table.
        values: Strings and lists of strings; None removes a key.
    """
    lines = text.splitlines(keepends=True)
    start = next((place for place, line in enumerate(lines) if _names(line) == table), None)
    if start is None:
        return None
    for key, value in values.items():
        end = next((p for p in range(start + 1, len(lines)) if _HEADER.match(lines[p])), len(lines))
        span = _span(lines, start + 1, end, key)
        written = [] if value is None else [f"{key} = {json.dumps(value, ensure_ascii=False)}\n"]
        place = (start + 1, start + 1) if span is None else span
        lines[place[0] : place[1]] = written
    made = "".join(lines)
    return made if _is_meant(text, made, table, values) else None


def _names(line: str) -> tuple[str, ...] | None:
    """Return the names in a table header; None if the line is not one."""
    if not _HEADER.match(line):
        return None
    try:
        found: Any = tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return None
    names: list[str] = []
    while isinstance(found, dict) and found:
        name, found = next(iter(found.items()))
        names.append(name)
    return tuple(names)


def _span(lines: list[str], start: int, end: int, key: str) -> tuple[int, int] | None:
    """Return the range of lines of one key: a list may span several."""
    for place in range(start, end):
        if re.match(rf'\s*"?{re.escape(key)}"?\s*=', lines[place]):
            for last in range(place + 1, end + 1):
                try:
                    tomllib.loads("".join(lines[place:last]))
                except tomllib.TOMLDecodeError:
                    continue
                return place, last
    return None


def _is_meant(before: str, after: str, table: tuple[str, ...], values: Mapping[str, Any]) -> bool:
    """Return whether exactly these values changed."""
    try:
        expected, got = tomllib.loads(before), tomllib.loads(after)
    except tomllib.TOMLDecodeError:
        return False
    place: Any = expected
    for name in table:
        place = place.get(name) if isinstance(place, dict) else None
    if not isinstance(place, dict):
        return False
    for key, value in values.items():
        place.pop(key, None)
        if value is not None:
            place[key] = value
    return bool(expected == got)

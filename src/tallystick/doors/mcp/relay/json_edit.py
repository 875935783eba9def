"""Change single entries of a JSON file and keep every other byte, so that the user's formatting survives."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from tallystick.records import record

_SPACE = re.compile(r"[ \t\r\n]*")
_INDENT = re.compile(r"^([ \t]+)\S", re.MULTILINE)
_DECODER = json.JSONDecoder()


@record
class Member:
    """The position of one member of an object in the text."""

    name: str
    start: int
    """Where its name starts."""
    value: int
    end: int


def member(text: str, path: tuple[str, ...]) -> Member | None:
    """Find a member by its path; of duplicate names the last counts, as in most parsers.

    Raises:
        ValueError: The text is not JSON.
    """
    at, found = 0, None
    for name in path:
        found = next((one for one in reversed(list(_members(text, at))) if one.name == name), None)
        if found is None:
            return None
        at = found.value
    return found


def with_entry(text: str, path: tuple[str, ...], entry: Mapping[str, Any], *, written: str | None = None) -> str:
    """Return the text with an entry of a table added or replaced.

    Args:
        text: The file's content.
        path: The names of the tables, the outermost first, and of the entry.
        entry: The new value.
        written: The exact text of the value; otherwise it is formatted like the rest of the file.
    """
    expected = _replaced(json.loads(text or "{}"), path, dict(entry))
    made = _edited(text, path, entry, written) if text.strip() else ""
    try:
        meant = json.loads(made) == expected
    except ValueError:
        meant = False
    return made if meant else json.dumps(expected, indent=2, ensure_ascii=False) + "\n"


def with_table(text: str, path: tuple[str, ...], table: Mapping[str, Any]) -> str:
    """Return the text with another value of one of its tables."""
    expected = _replaced(json.loads(text or "{}"), path, dict(table))
    found = member(text, path) if text.strip() else None
    if found is None:
        return json.dumps(expected, indent=2, ensure_ascii=False) + "\n"
    made = text[: found.value] + _laid_out(text, found.start, table) + text[found.end :]
    try:
        meant = json.loads(made) == expected
    except ValueError:
        meant = False
    return made if meant else json.dumps(expected, indent=2, ensure_ascii=False) + "\n"


def _replaced(whole: dict[str, Any], path: tuple[str, ...], value: Any) -> dict[str, Any]:
    """Return an object with another value at a path; missing tables are added."""
    name, *rest = path
    return {**whole, name: _replaced(whole.get(name, {}), tuple(rest), value) if rest else value}


def _edited(text: str, path: tuple[str, ...], entry: Mapping[str, Any], written: str | None) -> str:
    found = member(text, path)
    if found is None:
        outer = path
        while (table := member(text, outer[:-1]) if outer[1:] else None) is None and outer[1:]:
            outer = outer[:-1]
        value: Any = entry
        for name in reversed(path[len(outer) :]):
            value = {name: value}
        start = _SPACE.match(text).end() if table is None else table.value  # type: ignore[union-attr] # the pattern also matches the empty string
        return _added(text, start, outer[-1], value)
    old = json.loads(text[found.value : found.end])
    if written is not None or not isinstance(old, dict) or old.keys() != entry.keys():
        new = written if written is not None else _laid_out(text, found.start, entry)
        return text[: found.value] + new + text[found.end :]
    for name in old:
        if old[name] != entry[name] and (one := member(text, (*path, name))) is not None:
            new = _laid_out(text, one.start, entry[name], like=text[one.value : one.end])
            text = text[: one.value] + new + text[one.end :]
    return text


def _added(text: str, at: int, name: str, value: Any) -> str:
    """Append a member to the object that starts here."""
    last = next(reversed(list(_members(text, at))), None)
    if last is None:
        _, end = _DECODER.raw_decode(text, at)
        return text[:at] + _laid_out(text, at, {name: value}) + text[end:]
    before = len(text[: last.start].rstrip())
    gap = text[before : last.start]
    new = f"{json.dumps(name, ensure_ascii=False)}: {_laid_out(text, last.start, value)}"
    return f"{text[: last.end]},{gap or ' '}{new}{text[last.end :]}"


def _laid_out(text: str, at: int, value: Any, like: str = "\n") -> str:
    """Format a value like the rest of the file: on one line if the file (or the old value) is, otherwise indented."""
    unit = _INDENT.search(text)
    if unit is None or ("\n" not in like and like.startswith("[")):
        return json.dumps(value, ensure_ascii=False)
    line = text[text.rfind("\n", 0, at) + 1 : at]
    margin = line[: len(line) - len(line.lstrip())]
    end = "\r\n" if "\r\n" in text else "\n"
    return json.dumps(value, indent=unit[1], ensure_ascii=False).replace("\n", end + margin)


def _members(text: str, at: int) -> Iterator[Member]:
    """Yield the members of the object that starts here; none if it is not an object."""
    at = _skip(text, at)
    if text[at : at + 1] != "{":
        return
    at = _skip(text, at + 1)
    while text[at : at + 1] == '"':
        name, end = _DECODER.raw_decode(text, at)
        value = _skip(text, _skip(text, end) + 1)
        _, after = _DECODER.raw_decode(text, value)
        yield Member(name=name, start=at, value=value, end=after)
        at = _skip(text, _skip(text, after) + 1)


def _skip(text: str, at: int) -> int:
    return _SPACE.match(text, at).end()  # type: ignore[union-attr] # the pattern also matches the empty string

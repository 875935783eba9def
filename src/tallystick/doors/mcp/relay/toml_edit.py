"""Change single values of a user's TOML file; comments, order and layout of everything else stay."""

import tomllib
from collections.abc import Mapping, MutableMapping
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError


def with_values(text: str, table: tuple[str, ...], values: Mapping[str, Any]) -> str | None:
    """Return the text with other values in one table, which is added if it is missing; None if that is impossible.

    Args:
        text: The file's content.
        table: The path of the table.
        values: Strings and lists of strings; None removes a key.
    """
    try:
        document = tomlkit.parse(text)
        expected = tomllib.loads(text)
        place: Any = document
        for depth, name in enumerate(table, 1):
            if name not in place:
                place[name] = tomlkit.table(is_super_table=depth < len(table))
            place = place[name]
            if not isinstance(place, MutableMapping):
                return None
        _change(place, values)
        made = tomlkit.dumps(document)
        # Read again by another parser: a file that is not ours is never left in a worse state.
        return made if tomllib.loads(made) == _changed(expected, table, values) else None
    except (TOMLKitError, ValueError):
        return None


def _change(place: MutableMapping[str, Any], values: Mapping[str, Any]) -> None:
    for key, value in values.items():
        if value is not None:
            place[key] = value
        elif key in place:
            del place[key]


def _changed(whole: dict[str, Any], table: tuple[str, ...], values: Mapping[str, Any]) -> dict[str, Any]:
    place = whole
    for name in table:
        place = place.setdefault(name, {})
    _change(place, values)
    return whole

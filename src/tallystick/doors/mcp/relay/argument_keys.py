"""Find argument keys that a server may read differently from the gate, since many parsers ignore case."""

from collections.abc import Iterable, Mapping
from typing import Any


def doubtful_key(args: Mapping[str, Any], schema: Mapping[str, Any]) -> str | None:
    """Return the first key that the server could take for another argument; None if all are clear.

    Two keys that differ only in case are ambiguous unless the tool declares both. So is an undeclared key that differs
    only in case from an optional argument: a policy rule about the argument would not see the other key.
    """
    known, required = _names(schema.get("properties")), _names(schema.get("required"))
    optional = {name.casefold() for name in known - required}
    seen: dict[str, str] = {}
    for key in args:
        folded = key.casefold()
        other = seen.setdefault(folded, key)
        if (other != key and not {key, other} <= known) or (key not in known and folded in optional):
            return key
    return None


def _names(given: Any) -> set[str]:
    return {name for name in given if isinstance(name, str)} if isinstance(given, Iterable) else set()

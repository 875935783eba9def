"""Argument keys that a server may read otherwise than the gate does: many parsers take no notice of case."""

from collections.abc import Iterable, Mapping
from typing import Any


def doubtful_key(args: Mapping[str, Any], schema: Mapping[str, Any]) -> str | None:
    """The first key of which nobody can say which argument it is to the server; None: all are clear.

    Two keys that differ in case alone are one to some servers, unless the tool has both. So is one that is none of the
    tool's and differs in case alone from one that may be missing: a rule about the one would not see the other.
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

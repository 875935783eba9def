"""The query of a figure, as one line that fits in a reply, a report and a URL.

    tickets?category=Refund&dataset=1&since=2024-03-01
    share?dataset=1&part.category=Refund

Values are escaped as in an address, so a query holds no space, no quotation mark, no bracket and no semicolon.
"""

import re
from collections.abc import Iterable
from hashlib import sha256
from urllib.parse import quote, unquote

from tallystick.records import record

_QUERY = re.compile(
    r"([a-z][a-z_0-9]{0,40})\?((?:[a-z]+\.)?[a-z_]+(?:\.[^=&?]{1,200})?=[^=&?]*(?:&[^=&?]+=[^=&?]*){0,40})"
)
LONGEST = 500
"""What the reply check reads of a query."""
_LONG_VALUE = 90
"""Longer names are replaced by their digest, so that a query stays readable."""
_DIGEST = "~"


@record
class Query:
    """A measure and its selection."""

    measure: str
    params: tuple[tuple[str, str], ...]
    """By name; values as they are, several of one field joined by `|` after each is escaped."""

    def __str__(self) -> str:
        """One line."""
        return f"{self.measure}?" + "&".join(f"{_name(key)}={value}" for key, value in self.params)

    def get(self, key: str) -> str | None:
        """One value, unescaped."""
        found = dict(self.params).get(key)
        return None if found is None else unquote(found)

    def side(self, prefix: str) -> dict[str, str]:
        """The parameters of one side (`a.`, `b.`, `part.`), without the prefix."""
        return {key.removeprefix(prefix): value for key, value in self.params if key.startswith(prefix)}

    def plain(self) -> dict[str, str]:
        """The parameters that belong to no side."""
        return {key: value for key, value in self.params if not key.startswith(SIDES)}


SIDES = ("a.", "b.", "part.")


def query(measure: str, *given: "Given | None", **more: "str | int | Iterable[str] | None") -> Query:
    """Put a query together.

    Args:
        measure: What is computed.
        given: Parameters as others made them (`chosen`, `on_side`); later ones win.
        more: Single ones; None leaves one out.
    """
    params: dict[str, str] = {}
    for one in given:
        params |= one or {}
    params |= chosen(**more)
    return Query(measure=measure, params=tuple(sorted(params.items())))


Given = dict[str, str]


def chosen(**fields: "str | int | Iterable[str] | None") -> Given:
    """Parameters, escaped."""
    return {key.rstrip("_"): value_of(value) for key, value in fields.items() if value is not None}


def where_field(name: str, *values: str) -> Given:
    """Tickets with one of these values in a field."""
    return {name: value_of(values)}


def on_side(prefix: str, params: Given) -> Given:
    """The same parameters for one side of a comparison."""
    return {f"{prefix}{key}": value for key, value in params.items()}


def parse(text: str) -> Query | None:
    """Parse a query; None if it is not valid."""
    found = _QUERY.fullmatch(text.strip())
    if found is None or len(text) > LONGEST:
        return None
    pairs = [pair.partition("=") for pair in found[2].split("&")]
    return Query(measure=found[1], params=tuple(sorted((unquote(key), value) for key, _, value in pairs)))


def value_of(value: "str | int | Iterable[str]") -> str:
    """A value, or several, escaped."""
    if isinstance(value, str | int):
        return _escaped(str(value))
    return "|".join(_escaped(one) for one in value)


def values_in(value: str) -> list[str]:
    """The values that were put together."""
    return [unquote(one) for one in value.split("|")]


def is_meant(name: str, value: str) -> bool:
    """Whether a value of a query means this name."""
    return value == name or (value.startswith(_DIGEST) and _escaped(name) == value)


def _escaped(value: str) -> str:
    plain = quote(value, safe="", errors="replace")
    if len(plain) <= _LONG_VALUE:
        return plain
    return _DIGEST + sha256(value.encode("utf-8", "replace")).hexdigest()[:16]


def _name(key: str) -> str:
    """A file's own column may be called anything."""
    return quote(key, safe=".")

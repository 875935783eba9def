"""The stored form of arguments with masked secrets.

    {"$redacted": "hmac-sha256:…"}                          a secret value, or a text that is exactly one token
    {"$masked": ["use ", {"$redacted": "…"}, " please"]}     a text that contains tokens; the rest stays readable
    {"$literal": {"$redacted": "…"}}                        an object from the caller that uses one of these keys

An object from a caller is never stored in one of the first two forms, because it is wrapped as the third. So every mask
was made by the gate, and `{"$literal": …}` means the object inside it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tallystick.gate.record.escapes import Span

MARK = "$redacted"
MASKED = "$masked"
LITERAL = "$literal"
RESERVED = frozenset({MARK, MASKED, LITERAL})
MASK = "[redacted]"
"""Placeholder for a secret in text that is not arguments."""


def masked_text(text: str, spans: Sequence[Span], digest: Callable[[str], dict[str, str]]) -> dict[str, Any]:
    """Return the stored form of a text with these spans replaced by their digests."""
    if list(spans) == [(0, len(text))]:
        return digest(text)
    parts: list[Any] = []
    position = 0
    for start, end in spans:
        parts += [text[position:start]] if start > position else []
        parts.append(digest(text[start:end]))
        position = end
    return {MASKED: parts + ([text[position:]] if position < len(text) else [])}


def literal(members: dict[str, Any]) -> dict[str, Any]:
    """Return the stored form of an object: wrapped in `$literal` if one of its keys is reserved."""
    return {LITERAL: members} if not RESERVED.isdisjoint(members) else members


def is_mask(shown: Any) -> bool:
    """Return whether a stored value is a mask, i.e. stands in for a value that contains a secret."""
    return isinstance(shown, Mapping) and (shown.keys() == {MARK} or shown.keys() == {MASKED})


def members_of(shown: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the members of a stored object that is not a mask."""
    inner = shown.get(LITERAL)
    return inner if shown.keys() == {LITERAL} and isinstance(inner, Mapping) else shown


def masked_fields(shown: Any, pointer: str = "") -> Iterator[str]:
    """Yield the JSON pointer, valid in the proposed arguments, of every masked value."""
    if is_mask(shown):
        yield pointer
    elif isinstance(shown, Mapping):
        for key, value in members_of(shown).items():
            yield from masked_fields(value, f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}")
    elif isinstance(shown, list):
        for place, value in enumerate(shown):
            yield from masked_fields(value, f"{pointer}/{place}")


def value_at(args: Any, pointer: str) -> Any:
    """Return the value at a pointer from `masked_fields` in the proposed arguments."""
    for step in pointer.split("/")[1:]:
        args = args[int(step)] if isinstance(args, list) else args[step.replace("~1", "/").replace("~0", "~")]
    return args


def readable(shown: Any) -> Any:
    """Return stored arguments with `[redacted]` in place of every digest."""
    if isinstance(shown, list):
        return [readable(one) for one in shown]
    if not isinstance(shown, Mapping):
        return shown
    if shown.keys() == {MARK}:
        return MASK
    if shown.keys() == {MASKED}:
        return "".join(part if isinstance(part, str) else MASK for part in shown[MASKED])
    return {name: readable(one) for name, one in members_of(shown).items()}

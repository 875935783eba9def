"""The forms in which arguments are kept and shown: what of them is masked, and what only looks as if it were.

    {"$redacted": "hmac-sha256:…"}                          a secret value, or a text that is a token and nothing else
    {"$masked": ["use ", {"$redacted": "…"}, " please"]}     a text with tokens in it; the rest of it is readable
    {"$literal": {"$redacted": "…"}}                        an object that the caller wrote with one of these keys

An object that a caller writes is never one of the first two, because it would be kept as the third. So a person who
sees a mask knows that the gate made it, and `{"$literal": …}` is read as what stands in it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tallystick.gate.record.escapes import Span

MARK = "$redacted"
MASKED = "$masked"
LITERAL = "$literal"
RESERVED = frozenset({MARK, MASKED, LITERAL})
MASK = "[redacted]"
"""Stands for a secret in text that was never arguments."""


def masked_text(text: str, spans: Sequence[Span], digest: Callable[[str], dict[str, str]]) -> dict[str, Any]:
    """A text with these places replaced by their digests."""
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
    """An object as it is kept: marked, if one of its keys would make it look like a mask."""
    return {LITERAL: members} if not RESERVED.isdisjoint(members) else members


def is_mask(shown: Any) -> bool:
    """Whether a value, as it is kept, stands for one with a secret in it."""
    return isinstance(shown, Mapping) and (shown.keys() == {MARK} or shown.keys() == {MASKED})


def members_of(shown: Mapping[str, Any]) -> Mapping[str, Any]:
    """The members of an object, as it is kept, that is no mask."""
    inner = shown.get(LITERAL)
    return inner if shown.keys() == {LITERAL} and isinstance(inner, Mapping) else shown


def masked_fields(shown: Any, pointer: str = "") -> Iterator[str]:
    """JSON pointers, in the arguments as they were proposed, of every value that is masked."""
    if is_mask(shown):
        yield pointer
    elif isinstance(shown, Mapping):
        for key, value in members_of(shown).items():
            yield from masked_fields(value, f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}")
    elif isinstance(shown, list):
        for place, value in enumerate(shown):
            yield from masked_fields(value, f"{pointer}/{place}")


def value_at(args: Any, pointer: str) -> Any:
    """The value that a pointer of `masked_fields` names in the arguments as they were proposed."""
    for step in pointer.split("/")[1:]:
        args = args[int(step)] if isinstance(args, list) else args[step.replace("~1", "/").replace("~0", "~")]
    return args


def readable(shown: Any) -> Any:
    """Arguments, as they are kept, with `[redacted]` where a digest stands."""
    if isinstance(shown, list):
        return [readable(one) for one in shown]
    if not isinstance(shown, Mapping):
        return shown
    if shown.keys() == {MARK}:
        return MASK
    if shown.keys() == {MASKED}:
        return "".join(part if isinstance(part, str) else MASK for part in shown[MASKED])
    return {name: readable(one) for name, one in members_of(shown).items()}

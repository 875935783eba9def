"""One form for each proposal: NFC, white space, sorted ids without repeats, times in UTC.

What differs from how it came makes the outcome `transformed`. Nothing here changes what was meant.
"""

import unicodedata
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

from tallystick.gate.record.secrets import mask
from tallystick.rooms.memory.ids import one_line, predicate_key
from tallystick.rooms.memory.policy import Policy
from tallystick.rooms.memory.times import seconds, stamp_of

_TIMES = ("at", "observed_at", "valid_from", "valid_to")
_IDS = ("observation_ids", "derived_from", "possible_same_as", "supersedes")
_LINES = ("subject", "object", "name", "kind", "method", "expectation", "episode_id")
_TEXTS = ("text", "report", "quote")
_FILLED = ("text", "report", "quote", "subject", "predicate", "object", "name", "method", "expectation", "episode_id")
_MASKED = frozenset({*_TEXTS, "quotes"})
_NESTED = frozenset({dict, list})


def unreadable_time(args: Mapping[str, Any]) -> str | None:
    """The first argument that should be a time and is none."""
    return next((name for name in _TIMES if name in args and seconds(args[name]) is None), None)


def normal_form(args: Mapping[str, Any], policy: Policy) -> dict[str, Any]:
    """The arguments in the one form in which they are stored and compared. All times must be readable."""
    made = dict(args)
    for name, value in args.items():
        normal = _FORMS.get(name)
        if normal is not None:
            made[name] = normal(value)
    if "predicate" in made:
        declared = policy.predicate(made["predicate"]).volatility
        # So that evidence for one thing is not split between several estimates of how quickly it changes.
        if declared is not None:
            made["volatility"] = declared
    return made


def empty_name(args: Mapping[str, Any]) -> str | None:
    """The first argument that must say something and holds nothing."""
    # Most proposals have nothing empty in them, which is quicker to see.
    if all(args.values()):
        return None
    return next((name for name in _FILLED if name in args and not args[name]), None)


def secret_name(args: Mapping[str, Any]) -> str | None:
    """The first argument that should name something and looks like a key or a token; texts are masked instead."""
    for name, value in args.items():
        if type(value) is str:
            if mask(value) != value and name not in _MASKED:
                return name
        elif type(value) in _NESTED and name not in _MASKED:
            # Numbers and truth values hold no text.
            for part in value.values() if type(value) is dict else value:
                if type(part) is str and mask(part) != part:
                    return name
    return None


def _source(source: Mapping[str, str]) -> dict[str, str]:
    return {name: one_line(value) for name, value in source.items()}


def _aliases(names: Iterable[str]) -> list[str]:
    return sorted({one_line(name) for name in names})


def _quotes(given: Iterable[Mapping[str, str]]) -> list[dict[str, str]]:
    # All of them, so that each is looked up: a false one must not hide behind a true one.
    quotes = {(one["observation_id"], shown_text(one["quote"])) for one in given}
    return [{"observation_id": name, "quote": quote} for name, quote in sorted(quotes)]


def whole_text(text: str) -> str:
    """NFC, one kind of line end, no white space around it; what is inside stays as it was observed."""
    plain = text if text.isascii() else unicodedata.normalize("NFC", text)
    return plain.replace("\r\n", "\n").replace("\r", "\n").strip()


def shown_text(text: str) -> str:
    """A text as memory keeps it: whole, but that what looks like a key or a token is not kept by anybody."""
    plain = whole_text(text)
    while (shown := mask(plain)) != plain:
        plain = shown
    return plain


def _ids(names: list[str]) -> list[str]:
    return sorted(set(names))


@lru_cache(maxsize=1024)
def _utc(stamp: str) -> str:
    moment = seconds(stamp)
    return stamp if moment is None else stamp_of(moment)


_FORMS: Mapping[str, Callable[[Any], Any]] = {
    **dict.fromkeys(_TIMES, _utc),
    **dict.fromkeys(_IDS, _ids),
    **dict.fromkeys(_LINES, one_line),
    **dict.fromkeys(_TEXTS, shown_text),
    "predicate": predicate_key,
    "source": _source,
    "aliases": _aliases,
    "quotes": _quotes,
}

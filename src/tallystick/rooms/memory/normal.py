"""One form for each proposal: NFC, white space, sorted ids without repeats, times in UTC.

What differs from how it came makes the outcome `transformed`. Nothing here changes what was meant.
"""

import unicodedata
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tallystick.rooms.memory.naming import one_line, predicate_key
from tallystick.rooms.memory.policy import Policy
from tallystick.rooms.memory.times import seconds, stamp_of

_TIMES = ("at", "observed_at", "valid_from", "valid_to")
_IDS = ("observation_ids", "derived_from", "possible_same_as", "supersedes")
_LINES = ("subject", "object", "name", "kind", "method", "expectation", "episode_id")
_TEXTS = ("text", "report", "quote")


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


def _source(source: Mapping[str, str]) -> dict[str, str]:
    return {name: one_line(value) for name, value in source.items()}


def _aliases(names: Iterable[str]) -> list[str]:
    return sorted({one_line(name) for name in names})


def _quotes(given: Iterable[Mapping[str, str]]) -> list[dict[str, str]]:
    quotes = {one["observation_id"]: whole_text(one["quote"]) for one in given}
    return [{"observation_id": name, "quote": quotes[name]} for name in sorted(quotes)]


def whole_text(text: str) -> str:
    """NFC, one kind of line end, no white space around it; what is inside stays as it was observed."""
    plain = text if text.isascii() else unicodedata.normalize("NFC", text)
    return plain.replace("\r\n", "\n").replace("\r", "\n").strip()


def _ids(names: list[str]) -> list[str]:
    return sorted(set(names))


def _utc(stamp: str) -> str:
    moment = seconds(stamp)
    return stamp if moment is None else stamp_of(moment)


_FORMS: Mapping[str, Callable[[Any], Any]] = {
    **dict.fromkeys(_TIMES, _utc),
    **dict.fromkeys(_IDS, _ids),
    **dict.fromkeys(_LINES, one_line),
    **dict.fromkeys(_TEXTS, whole_text),
    "predicate": predicate_key,
    "source": _source,
    "aliases": _aliases,
    "quotes": _quotes,
}

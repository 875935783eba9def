"""What of a tool's result can be quoted. The reply check and the check of a bundle read the same."""

from collections.abc import Iterator
from typing import Any

import orjson

MAX_STRINGS = 2_000
"""Strings of one output that are searched."""


def quotable(value: Any) -> Iterator[str]:
    """Each string of a result, in order, then the whole as JSON."""
    yield from strings_in(value)
    if value is not None and not isinstance(value, str):
        try:
            yield orjson.dumps(value).decode()
        except TypeError:
            return  # nested deeper than is written in one piece; its strings were searched


def strings_in(value: Any) -> Iterator[str]:
    """The strings of a JSON value, keys left out, in order."""
    # Not by recursion: what an upstream nests deeper than our stack must not be an error.
    waiting = [value]
    seen = 0
    while waiting and seen < MAX_STRINGS:
        now = waiting.pop()
        if isinstance(now, str):
            seen += 1
            yield now
        elif isinstance(now, dict):
            waiting.extend(reversed(now.values()))
        elif isinstance(now, list):
            waiting.extend(reversed(now))

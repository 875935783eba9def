"""The quotable texts of a tool result, shared by the reply check and the bundle check."""

from collections.abc import Iterator
from typing import Any

import orjson

MAX_STRINGS = 2_000
"""Maximum number of strings of one output that are searched."""


def quotable(value: Any) -> Iterator[str]:
    """Yield each string of a result in order, then the whole result as JSON."""
    yield from strings_in(value)
    if value is not None and not isinstance(value, str):
        try:
            yield orjson.dumps(value).decode()
        except TypeError:
            return  # nested too deep for orjson; its strings were yielded above


def strings_in(value: Any) -> Iterator[str]:
    """Yield the strings of a JSON value in order, without keys."""
    # No recursion: a result nested deeper than the call stack must not raise an error.
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

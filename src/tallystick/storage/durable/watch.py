"""Detects counters that have stopped, by the observer's own monotonic clock.

Time alone is not enough: an observer that was itself suspended for a minute would see every counter unchanged for a
minute. So a counter must also be seen unchanged several times.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

LOOKS = 3
"""Consecutive unchanged observations before a counter can count as stalled."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Still:
    count: int
    since: float
    looks: int


class Watch:
    """Tracks each counter and since when it has not changed."""

    def __init__(self, *, stale_after_s: float, clock: Callable[[], float]) -> None:
        self._stale_after_s = stale_after_s
        self._clock = clock
        self._last: dict[str, _Still] = {}

    def look(self, counts: Mapping[str, int]) -> list[str]:
        """Record the current counters; return the names whose counter has been unchanged for too long."""
        now = self._clock()
        self._last = {name: self._next(name, count, now) for name, count in counts.items()}
        return [
            name
            for name, still in self._last.items()
            if still.looks >= LOOKS and now - still.since >= self._stale_after_s
        ]

    def _next(self, name: str, count: int, now: float) -> _Still:
        last = self._last.get(name)
        if last is None or last.count != count:
            return _Still(count=count, since=now, looks=0)
        return replace(last, looks=last.looks + 1)

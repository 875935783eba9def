"""Time for the ledger: the clock port, the system clock, and detection of wall-clock jumps.

The log is ordered by sequence number, never by time. The wall clock is only recorded; jumps are marked so that a reader
can see where it was set.
"""

import time
from typing import Protocol

JUMP_NS = 2_000_000_000
"""Drift between wall and monotonic clock that counts as a jump; less is slewing or a slow machine."""


_SECOND = 1_000_000_000


class Clock(Protocol):
    """The ledger's source of time."""

    def wall_ns(self) -> int:
        """Return nanoseconds since 1970, UTC."""
        ...

    def monotonic_ns(self) -> int:
        """Return nanoseconds on a clock that is never set."""
        ...


class SystemClock:
    """The operating system's clock."""

    wall_ns = staticmethod(time.time_ns)
    monotonic_ns = staticmethod(time.monotonic_ns)


class ClockMonitor:
    """Makes timestamps and detects wall-clock jumps."""

    def __init__(self, clock: Clock) -> None:
        self._wall = clock.wall_ns
        self._monotonic = clock.monotonic_ns
        self._offset: int | None = None
        self._latest = ""
        self._second = 0
        """Start of the current second, in nanoseconds since 1970."""
        self._prefix = ""

    def stamp(self) -> tuple[str, str | None]:
        """Return the timestamp for a record made now, and `back` or `forward` if the clock was set before it."""
        wall = self._wall()
        offset = wall - self._monotonic()
        rest = wall - self._second
        if not 0 <= rest < _SECOND:
            second, rest = divmod(wall, _SECOND)
            self._prefix = time.strftime("%Y-%m-%dT%H:%M:%S.", time.gmtime(second))
            self._second = wall - rest
        stamp = "%s%06dZ" % (self._prefix, rest // 1000)  # noqa: UP031 - half the time of an f-string with a width
        drift = 0 if self._offset is None else offset - self._offset
        self._offset = offset
        latest, self._latest = self._latest, stamp
        # Timestamps have a fixed width, so comparing them as text compares the times.
        if -JUMP_NS <= drift <= JUMP_NS and stamp >= latest:
            return stamp, None
        return stamp, "forward" if drift > JUMP_NS else "back"

    def seen(self, stamp: str) -> None:
        """Store the timestamp of a record that another process wrote, to detect a jump back after it."""
        self._latest = stamp

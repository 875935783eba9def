"""Time for the ledger: a port, the machine's own clock, and the eye that sees the clock jump.

Order in the log is the sequence, never the clock. The wall clock is only written down; what matters is that a reader
can see where it was moved.
"""

import time
from typing import Protocol

JUMP_NS = 2_000_000_000
"""A wall clock that leaves the monotonic one by more than this was set; less is slewing or a slow machine."""


_SECOND = 1_000_000_000


class Clock(Protocol):
    """What the ledger asks for the time."""

    def wall_ns(self) -> int:
        """Nanoseconds since 1970, UTC."""
        ...

    def monotonic_ns(self) -> int:
        """Nanoseconds on a clock that is never set."""
        ...


class SystemClock:
    """The clock of this machine."""

    wall_ns = staticmethod(time.time_ns)
    monotonic_ns = staticmethod(time.monotonic_ns)


class Watch:
    """Turns the clock into timestamps and remembers enough to see a jump."""

    def __init__(self, clock: Clock) -> None:
        self._wall = clock.wall_ns
        self._monotonic = clock.monotonic_ns
        self._offset: int | None = None
        self._latest = ""
        self._second = 0
        """Where the present second began, in nanoseconds."""
        self._prefix = ""

    def stamp(self) -> tuple[str, str | None]:
        """The timestamp of a record made now, and `back` or `forward` if the clock was moved before it."""
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
        # Timestamps have a fixed width, so that text compares as time does.
        if -JUMP_NS <= drift <= JUMP_NS and stamp >= latest:
            return stamp, None
        return stamp, "forward" if drift > JUMP_NS else "back"

    def seen(self, stamp: str) -> None:
        """Take note of the timestamp of a record that another process wrote."""
        self._latest = stamp

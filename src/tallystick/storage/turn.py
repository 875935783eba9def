"""Taking turns: a file lock between processes that would else get into each other's way for ever.

It is a courtesy and guards nothing: who has waited long enough for one that does not get on, or cannot open the file,
goes ahead without it.
"""

import os
import time
from fcntl import LOCK_EX, LOCK_NB, LOCK_UN, flock
from pathlib import Path

PATIENCE_S = 60.0
"""For how long one waits for another that shows no sign of getting on. Who has died has no turn; who is stopped has."""
_PAUSE_S = 0.002
_NONE = -1


class Turn:
    """One at a time among all who name the same file; who has it may take it again. Not for several threads at once."""

    def __init__(self, path: Path, patience_s: float = PATIENCE_S) -> None:
        self._path = path
        self._patience_s = patience_s
        self._depth = 0
        self._fd = _NONE

    @property
    def taken(self) -> bool:
        """Whether it was taken here."""
        return self._depth > 0

    def __enter__(self) -> None:
        """Wait for it; whoever has it already shows by this that it gets on."""
        if self._depth == 0:
            self._fd = self._wait()
        if self._fd != _NONE:
            now = time.time_ns()
            os.utime(self._fd, ns=(now, now))
        self._depth += 1

    def __exit__(self, *_: object) -> None:
        """Give it up, unless it was taken more than once."""
        self._depth -= 1
        if self._depth == 0 and self._fd != _NONE:
            # Said aloud: a child that was forked meanwhile has the file open too, and closing it here would not do.
            flock(self._fd, LOCK_UN)
            os.close(self._fd)

    def _wait(self) -> int:
        """The open file, locked; `_NONE` if it is not to be had."""
        try:
            fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except OSError:
            return _NONE
        got = False
        try:
            got = self._lock(fd)
        finally:
            if not got:
                os.close(fd)
        return fd if got else _NONE

    def _lock(self, fd: int) -> bool:
        end, sign = 0.0, -1
        while not _try_lock(fd):
            now, last = time.monotonic(), os.fstat(fd).st_mtime_ns
            if last != sign:
                end, sign = now + self._patience_s, last
            if now >= end:
                return False
            time.sleep(_PAUSE_S)
        return True


def _try_lock(fd: int) -> bool:
    try:
        flock(fd, LOCK_EX | LOCK_NB)
    except BlockingIOError:
        return False
    return True

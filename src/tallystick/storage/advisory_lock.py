"""An advisory file lock that makes processes take turns instead of blocking each other for ever.

It does not guarantee exclusion: a process that has waited long enough for a holder without progress, or cannot open the
file, continues without it.
"""

import os
import time
from fcntl import LOCK_EX, LOCK_NB, LOCK_UN, flock
from pathlib import Path

PATIENCE_S = 60.0
"""How long to wait for a holder that shows no progress. A dead process releases the lock; a stopped one keeps it."""
_PAUSE_S = 0.002
_NONE = -1


class AdvisoryLock:
    """Lock shared by all processes that use the same file; reentrant for its holder. Not thread-safe."""

    def __init__(self, path: Path, patience_s: float = PATIENCE_S) -> None:
        self._path = path
        self._patience_s = patience_s
        self._depth = 0
        self._fd = _NONE

    @property
    def taken(self) -> bool:
        """Whether this object holds the lock."""
        return self._depth > 0

    def __enter__(self) -> None:
        """Wait for the lock; entering again while holding it shows progress to waiting processes."""
        if self._depth == 0:
            self._fd = self._wait()
        if self._fd != _NONE:
            now = time.time_ns()
            os.utime(self._fd, ns=(now, now))
        self._depth += 1

    def __exit__(self, *_: object) -> None:
        """Release the lock when the outermost `with` block ends."""
        self._depth -= 1
        if self._depth == 0 and self._fd != _NONE:
            # Unlock explicitly: a child forked meanwhile has the file open too, so closing would not release the lock.
            flock(self._fd, LOCK_UN)
            os.close(self._fd)

    def _wait(self) -> int:
        """Return the descriptor of the locked file; `_NONE` if the lock cannot be acquired."""
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

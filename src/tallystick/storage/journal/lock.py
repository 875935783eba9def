"""Writer lock: a thread lock within this process and a file lock between processes."""

import os
from collections.abc import Callable
from fcntl import LOCK_EX, LOCK_UN, flock
from pathlib import Path
from threading import RLock
from typing import TypeVar

from tallystick.errors import LedgerError, LedgerUnwritable
from tallystick.storage.journal import disk

T = TypeVar("T")
R = TypeVar("R")


class WriteLock:
    """Lock held while the journal is read or changed.

    A file lock belongs to the open file description, which a forked child shares with its parent: the child must open
    the file again (`reopen`), or parent and child would both hold the lock.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.threads = RLock()
        """Lock of this process only; enough for reading state cached in this process."""
        self._depth = 0
        self._fd = self._open()

    def __enter__(self) -> None:
        """Acquire both locks, waiting if needed; reentrant for the thread that holds them."""
        self.threads.acquire()
        if self._depth == 0:
            try:
                flock(self._fd, LOCK_EX)
            except (OSError, ValueError) as error:
                self.threads.release()
                raise self._translated(error) from error
        self._depth += 1

    def __exit__(self, *_: object) -> None:
        """Release both locks when the outermost `with` block ends."""
        self._depth -= 1
        try:
            if self._depth == 0:
                flock(self._fd, LOCK_UN)
        finally:
            self.threads.release()

    def during(self, work: Callable[[T], R], given: T) -> R:
        """Same as `with self: return work(given)` at half the cost; every call uses it."""
        with self.threads:
            if self._depth or self._fd < 0:
                with self:
                    return work(given)
            flock(self._fd, LOCK_EX)
            self._depth = 1
            try:
                return work(given)
            finally:
                self._depth = 0
                flock(self._fd, LOCK_UN)

    def reopen(self) -> None:
        """Reset the lock in a forked child, where another thread of the parent may have held it."""
        os.close(self._fd)
        self.threads = RLock()
        self._depth = 0
        self._fd = self._open()

    def close(self) -> None:
        """Close the file; this lock cannot be acquired afterwards."""
        with self.threads:
            if self._fd >= 0:
                os.close(self._fd)
                self._fd = -1

    def _translated(self, error: Exception) -> LedgerError:
        if self._fd < 0:
            return LedgerError("The ledger is closed.", code="ledger_closed")
        return LedgerUnwritable(f"The journal cannot be locked ({error}).", code="ledger_locked")

    def _open(self) -> int:
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        return disk.open_file(self._path, flags, disk.FILE_MODE)

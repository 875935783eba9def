"""Tracks processes that may have calls in flight: each locks a file of its own; the lock ends with the process.

The file holds the sequence number from which to search for the process's unfinished calls. A file whose lock is free
belongs to a process that has ended, normally or by a crash.
"""

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from tallystick.gate.record.in_flight import EndedProcess
from tallystick.storage.journal import disk

_WIDTH = 20


class LiveFiles:
    """The folder of these files; implements `gate.record.unfinished.ProcessRegistry`."""

    def __init__(self, folder: Path, random: Callable[[int], bytes] = os.urandom) -> None:
        self._folder = folder
        self._random = random
        self._pid = 0
        self._fd = -1
        self._token = ""

    def enter(self, size: int) -> str:
        """Return this process's token; the first use creates its file, locked and durable before any call runs."""
        if self._pid != os.getpid():
            disk.make_folder(self._folder)
            token = self._random(8).hex()
            path = self._folder / token
            fd = disk.open_file(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, disk.FILE_MODE)
            disk.lock(fd)
            disk.write_all(fd, _since(size))
            disk.fsync(fd)
            disk.sync_folder(self._folder)
            self._pid, self._fd, self._token = os.getpid(), fd, token
        return self._token

    def oldest(self, seq: int) -> None:
        """Store that all calls before record `seq` are finished."""
        if self._pid == os.getpid():
            with contextlib.suppress(OSError):
                disk.pwrite(self._fd, _since(seq), 0)

    def leave(self, *, finished: bool) -> None:
        """Release the lock; the file stays for the next process if calls were left unfinished."""
        if self._pid == os.getpid():
            if finished:
                with contextlib.suppress(OSError):
                    disk.unlink(self._folder / self._token)
            os.close(self._fd)
            self._pid = 0

    def gone(self) -> Iterator[EndedProcess]:
        """Yield processes that have ended; each file stays locked until the caller asks for the next."""
        for path in sorted(self._folder.glob("*")) if self._folder.is_dir() else ():
            try:
                fd = disk.open_file(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
            except OSError:
                continue
            try:
                # Check under the lock: another process may just have handled and deleted the file.
                if disk.try_lock(fd) and os.fstat(fd).st_nlink:
                    text = os.pread(fd, _WIDTH, 0).strip()
                    gone = EndedProcess(token=path.name, since=int(text) if text.isdigit() else 0)
                    yield gone
                    if gone.settled:
                        disk.unlink(path)
            finally:
                os.close(fd)


def _since(seq: int) -> bytes:
    return str(seq).encode().ljust(_WIDTH)

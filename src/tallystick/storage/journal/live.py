"""Which processes may have calls under way: each holds a lock on a file of its own, which ends with the process.

The file says from which record on its unfinished calls are to be looked for. A file whose lock is free belongs to a
process that is gone, however it went.
"""

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from tallystick.gate.record.unfinished import Gone
from tallystick.storage.journal import disk

_WIDTH = 20


class LiveFiles:
    """The folder of such files; satisfies `gate.record.unfinished.Roster`."""

    def __init__(self, folder: Path, random: Callable[[int], bytes] = os.urandom) -> None:
        self._folder = folder
        self._random = random
        self._pid = 0
        self._fd = -1
        self._token = ""

    def enter(self, size: int) -> str:
        """This process's token; on first use its file is made, locked and durable before anything runs."""
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
        """Calls before this record are all finished."""
        if self._pid == os.getpid():
            with contextlib.suppress(OSError):
                disk.pwrite(self._fd, _since(seq), 0)

    def leave(self, *, finished: bool) -> None:
        """Let go; the file stays for the next process if something was left unfinished."""
        if self._pid == os.getpid():
            if finished:
                with contextlib.suppress(OSError):
                    disk.unlink(self._folder / self._token)
            os.close(self._fd)
            self._pid = 0

    def gone(self) -> Iterator[Gone]:
        """Processes that are no more; each stays locked until the caller is done with it."""
        for path in sorted(self._folder.glob("*")) if self._folder.is_dir() else ():
            try:
                fd = disk.open_file(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
            except OSError:
                continue
            try:
                # Looked at again under the lock: another process may just have dealt with it and deleted it.
                if disk.try_lock(fd) and os.fstat(fd).st_nlink:
                    text = os.pread(fd, _WIDTH, 0).strip()
                    gone = Gone(token=path.name, since=int(text) if text.isdigit() else 0)
                    yield gone
                    if gone.settled:
                        disk.unlink(path)
            finally:
                os.close(fd)


def _since(seq: int) -> bytes:
    return str(seq).encode().ljust(_WIDTH)

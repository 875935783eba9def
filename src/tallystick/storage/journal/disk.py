"""All system calls by which the journal changes the disk, and its writer lock.

The journal calls them through this module, so that a test can make the n-th write, fsync, open or rename fail and check
the resulting state. No other module in `storage/journal/` writes.
"""

import contextlib
import fcntl
import os
from pathlib import Path
from threading import RLock

from tallystick.errors import LedgerError, LedgerUnwritable

write = os.write
pwrite = os.pwrite
fsync = os.fsync
fdatasync = os.fdatasync
ftruncate = os.ftruncate
open_file = os.open
replace = os.replace
unlink = os.unlink
mkdir = os.mkdir
fchmod = os.fchmod

FILE_MODE = 0o600
"""Receipts contain callers' data, so only the owner may read them."""
SEALED_MODE = 0o400
"""Mode of a full segment."""
FOLDER_MODE = 0o700
WRITABLE = 0o200


def lock(fd: int) -> None:
    """Wait for the exclusive lock on an open file."""
    fcntl.flock(fd, fcntl.LOCK_EX)


def try_lock(fd: int) -> bool:
    """Acquire the exclusive lock without waiting; False if it is held."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def unlock(fd: int) -> None:
    """Release the lock."""
    fcntl.flock(fd, fcntl.LOCK_UN)


def let_rest(fd: int) -> None:
    """Tell the kernel that this file will not be read soon, so that its pages can leave the page cache."""
    # Not every system supports it.
    if hasattr(os, "posix_fadvise"):
        with contextlib.suppress(OSError):
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)


def write_all(fd: int, data: bytes) -> None:
    """Write all data; a short write is continued, so that the error behind it is raised."""
    written = write(fd, data)
    while written < len(data):
        written += write(fd, data[written:])


def make_folder(path: Path) -> None:
    """Create a folder and its parents; does nothing if it exists."""
    if path.is_dir():
        return
    make_folder(path.parent)
    with contextlib.suppress(FileExistsError):
        mkdir(path, FOLDER_MODE)


def sync_folder(path: Path) -> None:
    """Fsync a folder, making the names in it durable."""
    fd = open_file(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fsync(fd)
    finally:
        os.close(fd)


def open_to_change(path: Path) -> int:
    """Open one of the journal's files for writing, even a read-only one; the file mode is restored afterwards."""
    flags = os.O_NOFOLLOW | os.O_CLOEXEC
    fd = open_file(path, os.O_RDONLY | flags)
    try:
        mode = os.fstat(fd).st_mode & 0o7777
        if mode & WRITABLE:
            return open_file(path, os.O_RDWR | flags)
        # Only root may open a read-only file for writing; its owner has to make it writable first.
        fchmod(fd, mode | WRITABLE)
        try:
            changing = open_file(path, os.O_RDWR | flags)
        finally:
            with contextlib.suppress(OSError):
                fchmod(fd, mode)
        return changing
    finally:
        os.close(fd)


def write_whole(path: Path, data: bytes, *, durable: bool = True) -> None:
    """Replace a file atomically: a reader sees either the old or the new content."""
    # The process id keeps two writers of one file from sharing a temporary file.
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")
    fd = open_file(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, FILE_MODE)
    try:
        try:
            write_all(fd, data)
            if durable:
                fsync(fd)
        finally:
            os.close(fd)
        replace(draft, path)
    except OSError:
        with contextlib.suppress(OSError):
            unlink(draft)
        raise
    if durable:
        sync_folder(path.parent)


def read_whole(path: Path) -> bytes | None:
    """Return a file's bytes; None if it does not exist."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    with os.fdopen(fd, "rb") as file:
        return file.read()


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

    def acquire(self) -> None:
        """Acquire both locks, waiting if needed; reentrant for the thread that holds them."""
        self.threads.acquire()
        if self._depth == 0:
            try:
                fcntl.flock(self._fd, fcntl.LOCK_EX)
            except (OSError, ValueError) as error:
                self.threads.release()
                raise self._translated(error) from error
        self._depth += 1

    def release(self) -> None:
        """Release both locks when the outermost holder ends."""
        self._depth -= 1
        try:
            if self._depth == 0:
                fcntl.flock(self._fd, fcntl.LOCK_UN)
        finally:
            self.threads.release()

    def __enter__(self) -> None:
        """Acquire both locks."""
        self.acquire()

    def __exit__(self, *_: object) -> None:
        """Release both locks."""
        self.release()

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
        return open_file(self._path, flags, FILE_MODE)

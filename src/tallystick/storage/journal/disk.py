"""Every call by which the journal changes the disk, by name.

The journal calls these through the module, so that a test can make the n-th write, fsync, open or rename fail and see
what is left. Nothing else in `storage/journal/` writes.
"""

import contextlib
import fcntl
import os
from pathlib import Path

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
"""Receipts hold what callers asked: nobody else's business."""
SEALED_MODE = 0o400
"""A segment that is full."""
FOLDER_MODE = 0o700
WRITABLE = 0o200


def lock(fd: int) -> None:
    """Wait for the exclusive lock on an open file."""
    fcntl.flock(fd, fcntl.LOCK_EX)


def try_lock(fd: int) -> bool:
    """Take the exclusive lock if nobody holds it."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def unlock(fd: int) -> None:
    """Let go of the lock."""
    fcntl.flock(fd, fcntl.LOCK_UN)


def let_rest(fd: int) -> None:
    """Say that nobody will soon read this file: its pages need not keep out what somebody does."""
    # Not every system can be told.
    if hasattr(os, "posix_fadvise"):
        with contextlib.suppress(OSError):
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)


def write_all(fd: int, data: bytes) -> None:
    """Write all of it; a short write goes on, and so meets the error that cut it short."""
    written = write(fd, data)
    while written < len(data):
        written += write(fd, data[written:])


def make_folder(path: Path) -> None:
    """Make a folder and those above it; nothing happens if it is there."""
    if path.is_dir():
        return
    make_folder(path.parent)
    with contextlib.suppress(FileExistsError):
        mkdir(path, FOLDER_MODE)


def sync_folder(path: Path) -> None:
    """Make the names in a folder durable."""
    fd = open_file(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fsync(fd)
    finally:
        os.close(fd)


def open_to_change(path: Path) -> int:
    """Open a file of ours for writing, also one that is closed to writing; its mode is then as it was before."""
    flags = os.O_NOFOLLOW | os.O_CLOEXEC
    fd = open_file(path, os.O_RDONLY | flags)
    try:
        mode = os.fstat(fd).st_mode & 0o7777
        if mode & WRITABLE:
            return open_file(path, os.O_RDWR | flags)
        # Only root may open a closed file for writing; its owner has to open it up first.
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
    """Write a file so that a reader sees all of it or what stood there before."""
    # The process id keeps two writers of one file from sharing a half-written copy.
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
    """A plain file's bytes; None if there is none."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    with os.fdopen(fd, "rb") as file:
        return file.read()

"""Opens and replaces files without ever following a link.

Each step opens one entry relative to an open folder, so no link can be substituted between a check and its use.
"""

import errno
import itertools
import os
import stat
import unicodedata
from contextlib import suppress

from tallystick.errors import PathRefused

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without O_NONBLOCK, opening a FIFO would wait for its writer.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_CHUNK = 1024 * 1024
_counter = itertools.count()


def open_folder(folder: int, name: str, *, make: bool = False) -> int:
    """Return a descriptor of a subfolder of an open folder."""
    stored = stored_name(folder, name)
    if make and not _is_there(folder, stored):
        check_new(folder, stored)
        with suppress(FileExistsError):
            os.mkdir(stored, dir_fd=folder)
    try:
        return os.open(stored, _FOLDER, dir_fd=folder)
    except OSError as error:
        # With O_DIRECTORY, Linux reports ENOTDIR for a link.
        if error.errno == errno.ENOTDIR and _is_link(folder, stored):
            raise _link() from None
        raise _refused(error, missing={errno.ENOENT, errno.ENOTDIR}) from None


def open_file(folder: int, name: str) -> int:
    """Return a descriptor of a regular file in an open folder."""
    stored = stored_name(folder, name)
    check_plain(folder, stored)
    try:
        descriptor = os.open(stored, _FILE, dir_fd=folder)
    except OSError as error:
        raise _refused(error, missing={errno.ENOENT}) from None
    # The file may have been replaced since the check.
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise _no_file()
    return descriptor


def check_plain(folder: int, stored: str) -> None:
    """Refuse an entry that is not a regular file before it is opened: opening a device can have side effects."""
    try:
        mode = os.stat(stored, dir_fd=folder, follow_symlinks=False).st_mode
    except OSError as error:
        raise _refused(error, missing={errno.ENOENT, errno.ENOTDIR}) from None
    if stat.S_ISLNK(mode):
        raise _link()
    if not stat.S_ISREG(mode):
        raise _no_file()


def stored_name(folder: int, name: str) -> str:
    """Return the entry for an NFC name: the one stored in NFC, else the first whose name agrees in NFC."""
    if name.isascii():
        return name
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        with os.scandir(folder) as entries:
            agreeing = [entry.name for entry in entries if unicodedata.normalize("NFC", entry.name) == name]
        return min(agreeing, default=name)
    return name


def read_up_to(descriptor: int, limit: int) -> bytes:
    """Read at most `limit` bytes from the start of an open file."""
    chunks: list[bytes] = []
    while limit > 0 and (chunk := os.read(descriptor, min(limit, _CHUNK))):
        chunks.append(chunk)
        limit -= len(chunk)
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)


def replace_file(folder: int, name: str, data: bytes) -> None:
    """Replace a file atomically; the data is durable before the name points to it."""
    stored = stored_name(folder, name)
    try:
        check_plain(folder, stored)
        mode = stat.S_IMODE(os.stat(stored, dir_fd=folder, follow_symlinks=False).st_mode)
    except PathRefused as refused:
        if refused.code != "not_found":
            raise
        check_new(folder, stored)
        mode = None
    # Process id and counter make the name unique; O_EXCL fails if it is not.
    beside = f".tally-{os.getpid()}-{next(_counter)}"
    try:
        descriptor = os.open(beside, _NEW, 0o666, dir_fd=folder)
        try:
            _write_all(descriptor, data)
            if mode is not None:
                os.fchmod(descriptor, mode)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(beside, stored, src_dir_fd=folder, dst_dir_fd=folder)
        os.fsync(folder)
    except OSError as error:
        with suppress(OSError):
            os.unlink(beside, dir_fd=folder)
        raise _refused(error, missing=set()) from None


def remove_file(folder: int, name: str) -> None:
    """Delete a regular file."""
    stored = stored_name(folder, name)
    check_plain(folder, stored)
    try:
        os.unlink(stored, dir_fd=folder)
        os.fsync(folder)
    except OSError as error:
        raise _refused(error, missing={errno.ENOENT}) from None


def check_new(folder: int, name: str) -> None:
    """Refuse a new name that differs from an existing one only in case: on many systems they are one file."""
    wanted = unicodedata.normalize("NFC", name).casefold()
    with os.scandir(folder) as entries:
        for entry in entries:
            if unicodedata.normalize("NFC", entry.name).casefold() == wanted:
                message = "There is such a name already, in other capital letters; use that one or choose another."
                raise PathRefused(message, code="name_taken")


def _is_there(folder: int, stored: str) -> bool:
    try:
        os.stat(stored, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return False
    return True


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _is_link(folder: int, stored: str) -> bool:
    try:
        return stat.S_ISLNK(os.stat(stored, dir_fd=folder, follow_symlinks=False).st_mode)
    except OSError:
        return False


def _refused(error: OSError, *, missing: set[int]) -> PathRefused:
    if error.errno in missing:
        return PathRefused("There is no such file in the workspace.", code="not_found")
    if error.errno == errno.ELOOP:
        return _link()
    if error.errno in {errno.EISDIR, errno.ENXIO, errno.ENOTDIR}:
        return _no_file()
    if error.errno == errno.ENAMETOOLONG:
        return PathRefused("The name is too long for this file system.", code="bad_path")
    return PathRefused(f"The file cannot be used: {error.strerror}.", code="file_unusable")


def _link() -> PathRefused:
    return PathRefused("Links are not followed; name the file itself, inside the workspace.", code="path_outside")


def _no_file() -> PathRefused:
    return PathRefused("This is a folder or a device, not a file.", code="not_a_file")

"""Lists all files of a workspace with size, lines and hash; unchanged files are not read again.

Folders are opened relative to their open parent and no link is followed, as for single files. Entries that tools cannot
name (hidden entries, the gate's own files, devices) are not listed.
"""

import os
import stat
import time
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from tallystick.errors import PathRefused
from tallystick.records import record
from tallystick.storage.file_cache import Signature, is_settled, signature_of
from tallystick.storage.files import MAX_BYTES, decode
from tallystick.storage.openat import read_up_to
from tallystick.storage.paths import CANON, CANON_FILE, CANON_NAMES, MAX_DEPTH, Parts, is_protected, nameable

MAX_ENTRIES = 50_000
"""Maximum number of listed files and folders; a workspace with more is a whole disk, not a project."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_MARKS = (b"\xff\xfe", b"\xfe\xff")


@record
class FolderEntry:
    """One folder or file."""

    parts: Parts
    is_folder: bool
    size: int
    lines: int | None
    """None for a folder, a file without text, or one that is too large."""
    sha256: str | None


class TreeFiles:
    """The file tree of one workspace."""

    def __init__(self, root: Path, *, clock_ns: Callable[[], int] = time.time_ns) -> None:
        self._root = root
        self._clock_ns = clock_ns
        self._known: dict[Parts, tuple[Signature, FolderEntry]] = {}

    def entries(self) -> tuple[list[FolderEntry], bool]:
        """Return every folder and file, folders before their contents, and whether the list is complete."""
        found: list[FolderEntry] = []
        known: dict[Parts, tuple[Signature, FolderEntry]] = {}
        canon = self._canon(known)
        complete = True
        for entry in self._below_root(known):
            if canon is not None and entry.parts in CANON_NAMES:
                continue
            if len(found) == MAX_ENTRIES:
                complete = False
                break
            found.append(entry)
        # Replaced as a whole: deleted files are dropped, and another thread sees either the old or the new dict.
        self._known = known
        return ([canon, *found] if canon is not None else found), complete

    def _below_root(self, known: dict[Parts, tuple[Signature, FolderEntry]]) -> Iterator[FolderEntry]:
        root = os.open(self._root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            yield from self._below(root, (), known)
        finally:
            os.close(root)

    def _below(
        self, folder: int, above: Parts, known: dict[Parts, tuple[Signature, FolderEntry]]
    ) -> Iterator[FolderEntry]:
        for name, entry in sorted(_named(folder).items()):
            parts = (*above, name)
            if is_protected(parts):
                continue
            # Skip entries that were deleted, made inaccessible or replaced by a link meanwhile.
            with suppress(OSError):
                if entry.is_dir(follow_symlinks=False) and len(parts) < MAX_DEPTH:
                    inner = os.open(entry.name, _FOLDER, dir_fd=folder)
                    try:
                        yield FolderEntry(parts=parts, is_folder=True, size=0, lines=None, sha256=None)
                        yield from self._below(inner, parts, known)
                    finally:
                        os.close(inner)
                elif entry.is_file(follow_symlinks=False):
                    yield self._file(folder, entry.name, parts, known)

    def _file(
        self, folder: int, name: str, parts: Parts, known: dict[Parts, tuple[Signature, FolderEntry]]
    ) -> FolderEntry:
        seen_ns = self._clock_ns()
        signature = signature_of(os.stat(name, dir_fd=folder, follow_symlinks=False))
        held = self._known.get(parts)
        if held is not None and held[0] == signature:
            known[parts] = held
            return held[1]
        entry = _read(folder, name, parts, signature[2])
        if is_settled(signature, seen_ns):
            known[parts] = (signature, entry)
        return entry

    def _canon(self, known: dict[Parts, tuple[Signature, FolderEntry]]) -> FolderEntry | None:
        """Return the canon, which is stored in the control room and listed at the root."""
        try:
            folder = os.open(self._root.joinpath(*CANON_FILE[:-1]), _FOLDER)
        except OSError:
            return None
        try:
            if not stat.S_ISREG(os.stat(CANON_FILE[-1], dir_fd=folder, follow_symlinks=False).st_mode):
                return None
            return self._file(folder, CANON_FILE[-1], CANON, known)
        except OSError:
            return None
        finally:
            os.close(folder)


def _named(folder: int) -> "dict[str, os.DirEntry[str]]":
    """Return the entries of a folder by NFC name; if two names agree in NFC, the one stored in NFC wins."""
    found: dict[str, os.DirEntry[str]] = {}
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(".") or not nameable(entry.name):
                continue
            name = entry.name if entry.name.isascii() else unicodedata.normalize("NFC", entry.name)
            other = found.get(name)
            if other is None or entry.name == name or (other.name != name and entry.name < other.name):
                found[name] = entry
    return found


def _read(folder: int, name: str, parts: Parts, size: int) -> FolderEntry:
    descriptor = os.open(name, _FILE, dir_fd=folder)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError
        data = b"" if size > MAX_BYTES else read_up_to(descriptor, MAX_BYTES + 1)
    finally:
        os.close(descriptor)
    if max(size, len(data)) > MAX_BYTES:
        return FolderEntry(parts=parts, is_folder=False, size=max(size, len(data)), lines=None, sha256=None)
    return FolderEntry(
        parts=parts, is_folder=False, size=len(data), lines=count_lines(data), sha256=sha256(data).hexdigest()
    )


def count_lines(data: bytes) -> int | None:
    """Return the number of lines of a text, counted as for quotes; None if the data is not text."""
    if data.startswith(_MARKS) or b"\0" in data:
        try:
            data = decode(data).encode()
        except PathRefused:
            return None
    lone = data.count(b"\r") - data.count(b"\r\n") if b"\r" in data else 0
    return data.count(b"\n") + lone + (1 if data and not data.endswith((b"\n", b"\r")) else 0)

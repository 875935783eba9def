"""The signed notes of the log, appended one after another, and the latest one again in the mirror's folder."""

import io
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from tallystick.storage.journal import disk

_TAIL = 4096
"""Many times the length of a note."""
_SIGNATURE = "— ".encode()


class Checkpoints:
    """A file of notes with an empty line behind each."""

    def __init__(self, path: Path, mirror: Path | None) -> None:
        self._path = path
        self._mirror = mirror

    def put(self, note: bytes) -> None:
        """Add a note."""
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        fd = disk.open_file(self._path, flags, disk.FILE_MODE)
        try:
            size = os.fstat(fd).st_size
            try:
                disk.write_all(fd, note + b"\n")
            except OSError:
                disk.ftruncate(fd, size)
                raise
        finally:
            os.close(fd)
        if self._mirror is not None:
            disk.write_whole(self._mirror, note, durable=False)

    def last(self) -> bytes | None:
        """The latest whole note, unverified."""
        try:
            file = self._path.open("rb")
        except FileNotFoundError:
            return None
        with file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL))
            notes = list(split_notes(io.BytesIO(file.read())))
        return notes[-1] if notes else None

    def all(self) -> Iterator[bytes]:
        """All notes, in the order in which they were written."""
        try:
            file = self._path.open("rb")
        except FileNotFoundError:
            return
        with file:
            yield from split_notes(file)


def split_notes(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Notes that stand one after another; a torn one at the end is passed over."""
    note: list[bytes] = []
    for line in lines:
        if line == b"\n" and note and note[-1].startswith(_SIGNATURE):
            yield b"".join(note)
            note = []
        else:
            note.append(line)

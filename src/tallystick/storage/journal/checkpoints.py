"""The file of the log's signed notes, and a copy of the latest note in the mirror's folder."""

import contextlib
import io
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from tallystick.storage.journal import disk

_TAIL = 4096
"""Bytes read from the end of the file: many times the length of a note."""
_SIGNATURE = "— ".encode()


class Checkpoints:
    """A file of notes, each followed by an empty line."""

    def __init__(self, path: Path, mirror: Path | None) -> None:
        self._path = path
        self._fd = _open(path, os.O_APPEND)
        self._mirror = None if mirror is None else _open(mirror)

    def put(self, note: bytes, *, durable: bool = False) -> None:
        """Append a note and copy it to the mirror.

        Args:
            note: The signed note.
            durable: Wait for the disk, since a note that a power cut tore in the middle of the file stays there.
        """
        size = os.fstat(self._fd).st_size
        try:
            disk.write_all(self._fd, note + b"\n")
            if durable:
                disk.fdatasync(self._fd)
        except OSError:
            disk.ftruncate(self._fd, size)
            raise
        if self._mirror is not None:
            # Written in place: a note torn by a crash does not verify, and the next one replaces it.
            with contextlib.suppress(OSError):
                disk.pwrite(self._mirror, note, 0)
                if os.fstat(self._mirror).st_size != len(note):
                    disk.ftruncate(self._mirror, len(note))

    def last(self) -> bytes | None:
        """Return the latest whole note, unverified."""
        with self._path.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL))
            notes = list(split_notes(io.BytesIO(file.read())))
        return notes[-1] if notes else None

    def close(self) -> None:
        """Close the files."""
        os.close(self._fd)
        if self._mirror is not None:
            os.close(self._mirror)

    def all(self) -> Iterator[bytes]:
        """Yield all notes in the order written."""
        with self._path.open("rb") as file:
            yield from split_notes(file)


def _open(path: Path, more: int = 0) -> int:
    return disk.open_file(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | more, disk.FILE_MODE)


def split_notes(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Split concatenated notes; a torn note at the end is skipped."""
    note: list[bytes] = []
    for line in lines:
        if line == b"\n" and note and note[-1].startswith(_SIGNATURE):
            yield b"".join(note)
            note = []
        else:
            note.append(line)

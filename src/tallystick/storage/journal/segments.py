"""Segments: the files of the log, one after another.

A position is segment number · 2^40 + offset, so that one integer names any place in a log of any length.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tallystick.storage.journal import disk

SHIFT = 40
OFFSET = (1 << SHIFT) - 1
_CHUNK = 1 << 20
_GUESS = 4096
"""Most records are shorter, so one read fetches one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One line of the log, without its newline, and where it stands."""

    position: int
    end: int
    data: bytes
    whole: bool = True
    """False: the newline is missing, so the line is torn."""


def position(segment: int, offset: int) -> int:
    """One integer for a place."""
    return segment << SHIFT | offset


def segment_of(place: int) -> int:
    """The segment of a position."""
    return place >> SHIFT


def offset_of(place: int) -> int:
    """The offset of a position."""
    return place & OFFSET


class Segments:
    """The folder of the log's files, for reading."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, number: int) -> Path:
        """`000000.log` and so on."""
        return self.folder / f"{number:06d}.log"

    def numbers(self) -> list[int]:
        """The segments that are there, in order."""
        names = (entry.name for entry in os.scandir(self.folder)) if self.folder.is_dir() else ()
        return sorted(int(name[:-4]) for name in names if name.endswith(".log") and name[:-4].isdecimal())

    def lines(self, place: int, end: int | None = None) -> Iterator[Line]:
        """The lines from a position on, through all later segments, up to `end` if given."""
        number, offset = segment_of(place), offset_of(place)
        while self.path(number).exists():
            stop = offset_of(end) if end is not None and segment_of(end) == number else None
            yield from self._lines(number, offset, stop)
            if stop is not None:
                return
            number, offset = number + 1, 0

    def line_at(self, place: int) -> bytes | None:
        """The one line at a position, without its newline."""
        try:
            fd = _open(self.path(segment_of(place)))
        except FileNotFoundError:
            return None
        try:
            data, offset = os.pread(fd, _GUESS, offset_of(place)), offset_of(place)
            while (cut := data.find(b"\n")) < 0:
                more = os.pread(fd, _CHUNK, offset + len(data))
                if not more:
                    return None
                data += more
            return data[:cut]
        finally:
            os.close(fd)

    def size(self, number: int) -> int:
        """Bytes in a segment; 0 if it is not there."""
        try:
            return os.lstat(self.path(number)).st_size
        except FileNotFoundError:
            return 0

    def _lines(self, number: int, offset: int, stop: int | None) -> Iterator[Line]:
        fd = _open(self.path(number))
        base = number << SHIFT
        try:
            rest = b""
            at = offset
            while chunk := os.pread(fd, _CHUNK if stop is None else min(_CHUNK, stop - at - len(rest)), at + len(rest)):
                lines = (rest + chunk).split(b"\n") if rest else chunk.split(b"\n")
                rest = lines.pop()
                for data in lines:
                    end = at + len(data) + 1
                    yield Line(position=base + at, end=base + end, data=data)
                    at = end
            if rest:
                yield Line(position=base + at, end=base + at + len(rest), data=rest, whole=False)
        finally:
            os.close(fd)


class Tail:
    """The segment that is written to, held open."""

    def __init__(self, path: Path) -> None:
        self.name = path.name
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        self.fd = disk.open_file(path, flags, disk.FILE_MODE)
        # The folder is held open, so that a look at the file needs no walk down the whole path.
        self.folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self.inode = os.fstat(self.fd).st_ino

    def seal(self) -> None:
        """Nothing more is to be added: the log goes on in the next segment."""
        disk.fchmod(self.fd, disk.SEALED_MODE)

    def close(self) -> None:
        """Let go of the file."""
        os.close(self.fd)
        os.close(self.folder)


def _open(path: Path) -> int:
    return os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)

"""Segments: the files of the log, one after another.

A position is segment number · 2^40 + offset, so that one integer names any place in a log of any length.

Where a commit waits for the disk, the file that is written to is longer than the log: zeros keep room for what comes
next. A record that fills room changes no size, so the disk has only the record to write and not the file's description
as well. No record holds a zero, so the first one behind a record is where the log ends. Whoever closes the journal, or
begins the next segment, gives the room back.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import sleep

from tallystick.errors import LedgerUnwritable
from tallystick.storage.journal import disk

SHIFT = 40
OFFSET = (1 << SHIFT) - 1
_CHUNK = 1 << 20
_GUESS = 4096
"""Most records are shorter, so one read fetches one."""
ROOM = bytes(1 << 16)
"""Some sixty records: making it costs one of them what each would cost without it."""
GLANCE_NS = 10_000_000
"""How long a glance at the files holds: ten milliseconds, the length of some quick calls."""


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
    """The folder of the log's files; `Tail` is the one that is written to."""

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
        """Bytes of the log in a segment, without the room behind it; 0 if it is not there."""
        try:
            fd = _open(self.path(number))
        except FileNotFoundError:
            return 0
        try:
            end = os.fstat(fd).st_size
            while end and not (found := os.pread(fd, _GUESS, max(end - _GUESS, 0))[:end].rstrip(b"\0")):
                end = max(end - _GUESS, 0)
            return max(end - _GUESS, 0) + len(found) if end else 0
        finally:
            os.close(fd)

    def onward(self, end: int) -> int:
        """Where the log goes on behind `end`: in the next segment, if that has begun."""
        while self.path(segment_of(end) + 1).exists() and offset_of(end) == self.size(segment_of(end)):
            self._seal(segment_of(end))
            end = position(segment_of(end) + 1, 0)
        return end

    def _seal(self, number: int) -> None:
        """Seal what a process left open that died between beginning a segment and sealing the one before."""
        fd = _open(self.path(number))
        try:
            if os.fstat(fd).st_mode & disk.WRITABLE:
                seal_segment(fd)
        finally:
            os.close(fd)

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
            rest = rest.rstrip(b"\0")
            if rest:
                yield Line(position=base + at, end=base + at + len(rest), data=rest, whole=False)
        finally:
            os.close(fd)


class Tail:
    """The segment that is written to, held open."""

    def __init__(self, segments: Segments, number: int, *, roomy: bool) -> None:
        path = segments.path(number)
        self.number, self.name, self._roomy = number, path.name, roomy
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        self.fd = disk.open_file(path, flags, disk.FILE_MODE)
        # The folder is held open, so that a look at the file needs no walk down the whole path.
        self.folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        found = os.fstat(self.fd)
        self.inode, self._size = found.st_ino, found.st_size

    def ends_at(self, offset: int, size: int | None = None) -> bool:
        """Whether the log ends there, in a file of this size, if that is known: behind it is nothing, or room."""
        if size is None:
            if self._roomy and os.pread(self.fd, 1, offset) == b"\0":
                return True
            size = os.lseek(self.fd, 0, os.SEEK_END)
        self._size = size
        return size == offset or (size > offset and os.pread(self.fd, 1, offset) == b"\0")

    def still_ends_at(self, offset: int) -> bool:
        """The same for who does not write: whether this is still the log's last file, too, and nothing is behind it."""
        found = os.fstat(self.fd)
        if not (found.st_nlink and found.st_mode & disk.WRITABLE):
            return False
        return found.st_size == offset or (found.st_size > offset and os.pread(self.fd, 1, offset) == b"\0")

    def put(self, data: bytes, offset: int) -> None:
        """Write at the end of the log, and room behind it where that is wanted and there is none."""
        written = 0
        if self._roomy and self._size < offset + len(data):
            # After a batch as long as this comes mostly another: room for that would be written twice, for nothing.
            room = ROOM if len(data) < len(ROOM) else b""
            written = disk.pwrite(self.fd, data + room, offset)  # cut short by a full disk: then there is less room
            self._size = offset + written
        while written < len(data):
            written += disk.pwrite(self.fd, data[written:], offset + written)

    def trim(self, offset: int) -> None:
        """Give back the room behind the end of the log."""
        size = os.lseek(self.fd, 0, os.SEEK_END)
        if size > offset and not os.pread(self.fd, size - offset, offset).strip(b"\0"):
            disk.ftruncate(self.fd, offset)

    def followed_by(self, segments: Segments, offset: int) -> "Tail":
        """Begin the next segment, and seal this one, in which the log ends there: by that other processes notice.

        Raises:
            LedgerUnwritable: It cannot be made; the log goes on here.
        """
        try:
            tail = Tail(segments, self.number + 1, roomy=self._roomy)
            try:
                if self._roomy:
                    disk.sync_folder(segments.folder)
                self.trim(offset)
                seal_segment(self.fd)
            except OSError:
                tail.close()  # not a byte goes into it before the old one is sealed, or others would go on in that
                raise
        except OSError as error:
            raise LedgerUnwritable(f"A new journal segment cannot be made ({error.strerror}).") from error
        return tail

    def leave(self) -> None:
        """The log goes on elsewhere: let go of the file, which is seldom read from here on."""
        disk.let_rest(self.fd)
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        os.close(self.fd)
        os.close(self.folder)


def seal_segment(fd: int) -> None:
    """Nothing more is to be added to this segment: the log goes on in the next one. Called under the lock."""
    disk.fchmod(fd, disk.SEALED_MODE)
    # Another process may have glanced at the file just before, and would add to it while its glance holds. It needs
    # the lock for that, and by the time it gets it the glance is over: so no call pays for a second look.
    sleep(GLANCE_NS / 1e9)


def _open(path: Path) -> int:
    return os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)

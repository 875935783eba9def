"""Segments: the consecutive files of the log.

A position is segment number · 2^40 + offset, so that one integer addresses any byte in a log of any length.

With durability "fsync", the current segment is longer than the log: zero bytes are preallocated for the next records. A
record written into this space does not change the file size, so the disk writes only the record and no metadata. No
record contains a zero byte, so the first zero after a record marks the end of the log. Closing the journal or starting
the next segment frees the space.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import sleep

from tallystick.errors import LedgerUnwritable
from tallystick.gate.record.payload import ERASED
from tallystick.storage.journal import disk

SHIFT = 40
OFFSET = (1 << SHIFT) - 1
_CHUNK = 1 << 20
_GUESS = 4096
"""Most records are shorter, so one read fetches a whole record."""
ROOM = bytes(1 << 16)
"""Preallocated space for about sixty records: only one of them pays the cost that each would pay without it."""
CHECK_VALID_NS = 10_000_000
"""How long a check of the files stays valid: ten milliseconds, the duration of a few quick calls."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LogLine:
    """One line of the log, without its newline, with its position."""

    position: int
    end: int
    data: bytes
    whole: bool = True
    """False if the newline is missing, i.e. the line is torn."""


def position(segment: int, offset: int) -> int:
    """Encode segment and offset as a position."""
    return segment << SHIFT | offset


def segment_of(place: int) -> int:
    """Return the segment number of a position."""
    return place >> SHIFT


def offset_of(place: int) -> int:
    """Return the offset of a position."""
    return place & OFFSET


class Segments:
    """The folder of the log's files; `OpenSegment` is the segment being written."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, number: int) -> Path:
        """Return the path of a segment, e.g. `000000.log`."""
        return self.folder / f"{number:06d}.log"

    def numbers(self) -> list[int]:
        """Return the existing segment numbers in order."""
        names = (entry.name for entry in os.scandir(self.folder)) if self.folder.is_dir() else ()
        return sorted(int(name[:-4]) for name in names if name.endswith(".log") and name[:-4].isdecimal())

    def lines(self, place: int, end: int | None = None) -> Iterator[LogLine]:
        """Yield the lines from a position on, through all later segments, up to `end` if given."""
        number, offset = segment_of(place), offset_of(place)
        while self.path(number).exists():
            stop = offset_of(end) if end is not None and segment_of(end) == number else None
            yield from self._lines(number, offset, stop)
            if stop is not None:
                return
            number, offset = number + 1, 0

    def line_at(self, place: int) -> bytes | None:
        """Return the line at a position, without its newline; None if there is none."""
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
        """Return the bytes of the log in a segment, without preallocated space; 0 if it does not exist."""
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
        """Return the position where the log continues after `end`: the next segment if it exists."""
        while self.path(segment_of(end) + 1).exists() and offset_of(end) == self.size(segment_of(end)):
            self._seal(segment_of(end))
            end = position(segment_of(end) + 1, 0)
        return end

    def erase(self, place: int, columns: tuple[bytes, bytes, bytes]) -> None:
        """Overwrite the payload of the record at a position; the header stays.

        The length stays the same, so that no other byte of the log moves.
        """
        header, *payload = columns
        blank = b"\t".join(ERASED.ljust(len(column)) if column else b"" for column in payload)
        fd = disk.open_to_change(self.path(segment_of(place)))
        try:
            if disk.pwrite(fd, blank, offset_of(place) + len(header) + 1) != len(blank):
                raise OSError("short write to the log")
            disk.fsync(fd)
        finally:
            os.close(fd)

    def _seal(self, number: int) -> None:
        """Seal a segment left unsealed by a process that died after creating the next one."""
        fd = _open(self.path(number))
        try:
            if os.fstat(fd).st_mode & disk.WRITABLE:
                seal_segment(fd)
        finally:
            os.close(fd)

    def _lines(self, number: int, offset: int, stop: int | None) -> Iterator[LogLine]:
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
                    yield LogLine(position=base + at, end=base + end, data=data)
                    at = end
            rest = rest.rstrip(b"\0")
            if rest:
                yield LogLine(position=base + at, end=base + at + len(rest), data=rest, whole=False)
        finally:
            os.close(fd)


class OpenSegment:
    """The segment being written, held open."""

    def __init__(self, segments: Segments, number: int, *, preallocates: bool) -> None:
        path = segments.path(number)
        self.number, self.name, self._preallocates = number, path.name, preallocates
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        self.fd = disk.open_file(path, flags, disk.FILE_MODE)
        # The folder is held open, so that a stat of the file needs no full path lookup.
        self.folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        found = os.fstat(self.fd)
        self.inode, self._size = found.st_ino, found.st_size

    def ends_at(self, offset: int, size: int | None = None) -> bool:
        """Return whether the log ends at `offset`, with at most preallocated space after it; `size`: of the file."""
        if size is None:
            if self._preallocates and os.pread(self.fd, 1, offset) == b"\0":
                return True
            size = os.lseek(self.fd, 0, os.SEEK_END)
        self._size = size
        return size == offset or (size > offset and os.pread(self.fd, 1, offset) == b"\0")

    def still_ends_at(self, offset: int) -> bool:
        """Return, for readers, whether this is still the log's last segment and the log still ends at `offset`."""
        found = os.fstat(self.fd)
        if not (found.st_nlink and found.st_mode & disk.WRITABLE):
            return False
        return found.st_size == offset or (found.st_size > offset and os.pread(self.fd, 1, offset) == b"\0")

    def put(self, data: bytes, offset: int) -> None:
        """Write at the end of the log, preallocating space after it if enabled and used up."""
        written = 0
        if self._preallocates and self._size < offset + len(data):
            # A batch this long is usually followed by another one: preallocating would write its bytes twice.
            room = ROOM if len(data) < len(ROOM) else b""
            written = disk.pwrite(self.fd, data + room, offset)  # a full disk may shorten the write: less space then
            self._size = offset + written
        while written < len(data):
            written += disk.pwrite(self.fd, data[written:], offset + written)

    def trim(self, offset: int) -> None:
        """Free the preallocated space after the end of the log."""
        size = os.lseek(self.fd, 0, os.SEEK_END)
        if size > offset and not os.pread(self.fd, size - offset, offset).strip(b"\0"):
            disk.ftruncate(self.fd, offset)

    def followed_by(self, segments: Segments, offset: int) -> "OpenSegment":
        """Start the next segment and seal this one, whose log ends at `offset`; the seal tells other processes.

        Raises:
            LedgerUnwritable: The next segment cannot be created; the log continues in this one.
        """
        try:
            following = OpenSegment(segments, self.number + 1, preallocates=self._preallocates)
            try:
                if self._preallocates:
                    disk.sync_folder(segments.folder)
                self.trim(offset)
                seal_segment(self.fd)
            except OSError:
                following.close()  # it stays empty until the old one is sealed, or others would append to that
                raise
        except OSError as error:
            raise LedgerUnwritable(f"A new journal segment cannot be made ({error.strerror}).") from error
        return following

    def leave(self) -> None:
        """Close a finished segment and drop it from the page cache, since it is seldom read from now on."""
        disk.let_rest(self.fd)
        self.close()

    def close(self) -> None:
        """Close the file and its folder."""
        os.close(self.fd)
        os.close(self.folder)


def seal_segment(fd: int) -> None:
    """Make a segment read-only; the log continues in the next one. Called under the lock."""
    disk.fchmod(fd, disk.SEALED_MODE)
    # Another process may have checked the file just before and would append while its check is valid. Appending needs
    # the lock, and by the time it gets the lock its check has expired: so no call pays for a second check.
    sleep(CHECK_VALID_NS / 1e9)


def _open(path: Path) -> int:
    return os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)

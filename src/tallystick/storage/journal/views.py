"""Session views: the receipts of one session as JSON lines, one file per session and per issue.

A view is derived from the journal. It is appended without fsync before the head is written, so that it contains every
record the head covers; lines lost in a crash are written again when the journal is opened.

Rewriting a view replaces the file that other processes hold open. A separate file grows by one byte with every rewrite,
so that a process holding the journal's lock can tell by its length whether to reopen its views.
"""

import contextlib
import os
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from pathlib import Path

import orjson

from tallystick.gate.record.journal import SignedRecord
from tallystick.gate.session import valid_session_id
from tallystick.storage.journal import disk

NAME = "tool_receipts.jsonl"
OPEN_FILES = 128
"""Maximum number of open views; with more active sessions, views are reopened as needed."""
_FEW = OPEN_FILES // 2
"""Up to this many open views, none is about to be closed, so the LRU order is not maintained."""
_CHUNK = 1 << 16


class Views:
    """The folder of session views."""

    def __init__(self, folder: Path, marks: Path, replaced: Path) -> None:
        self._folder = folder
        self._marks = marks
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        self.replaced = disk.open_file(replaced, flags, disk.FILE_MODE)
        """File with one byte for every view rewritten by any process."""
        self.known = os.fstat(self.replaced).st_size
        """Length of `replaced` that this process has handled."""
        self.opened: OrderedDict[str, int] = OrderedDict()
        disk.make_folder(marks)
        self.broken = {mark.name for mark in marks.iterdir() if valid_session_id(mark.name)}
        """Sessions whose view must be rewritten from the log; marked on disk too, as the log continues without it."""
        self.unmarked: set[str] = set()
        """Broken sessions that could not be marked on disk."""

    def path(self, session_id: str) -> Path:
        """Return the path of a session's view."""
        return self._folder / session_id / NAME

    def current(self) -> None:
        """Close views if another process has rewritten any; called under the journal's lock."""
        size = os.lseek(self.replaced, 0, os.SEEK_END)
        if size != self.known:
            self._let_go()
            self.known = size

    def add(self, sealed: Sequence[SignedRecord]) -> list[SignedRecord]:
        """Add records to their views, one write per view; return the records that were added.

        A view is derived: one that cannot be written does not block the log and is repaired later.
        """
        sessions: dict[str, list[SignedRecord]] = {}
        for record in sealed:
            sessions.setdefault(record.session_id, []).append(record)
        added: list[SignedRecord] = []
        for session_id, some in sessions.items():
            try:
                self.append(session_id, b"".join([record.flat for record in some]))
                added += some
            except OSError:
                self.mark_if_possible(session_id)
        return added

    def append(self, session_id: str, data: bytes) -> None:
        """Append lines to a view; a broken view gets them when it is rewritten."""
        fd = self.opened.get(session_id)
        if fd is None:
            if session_id in self.broken:
                return
            fd = self._open_view(session_id)
        elif len(self.opened) > _FEW:
            self.opened.move_to_end(session_id)
        if disk.write(fd, data) != len(data):
            raise OSError("short write to a session view")

    def mark(self, session_id: str) -> None:
        """Mark a view as broken, in memory and on disk. Raises OSError if it is marked in memory only."""
        self.forget(session_id)
        self.broken.add(session_id)
        self.unmarked.add(session_id)
        # An empty file can be created even on a full disk.
        flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        os.close(disk.open_file(self._marks / session_id, flags, disk.FILE_MODE))
        self.unmarked.discard(session_id)

    def mark_if_possible(self, session_id: str) -> None:
        """Mark a view as broken, ignoring OSError: a view must not fail a commit."""
        with contextlib.suppress(OSError):
            self.mark(session_id)

    def unmark(self, session_id: str) -> None:
        """Remove the mark of a view that was rewritten."""
        with contextlib.suppress(FileNotFoundError):
            disk.unlink(self._marks / session_id)
        self.broken.discard(session_id)
        self.unmarked.discard(session_id)

    def cut(self, session_id: str, data: bytes) -> None:
        """Remove lines that were just added, if they, or a leading part of them, are at the end of the view."""
        path = self.path(session_id)
        with contextlib.suppress(FileNotFoundError), path.open("r+b") as file:
            size = file.seek(0, os.SEEK_END)
            for length in range(min(len(data), size), 0, -1):
                file.seek(size - length)
                if file.read(length) == data[:length]:
                    disk.ftruncate(file.fileno(), size - length)
                    return

    def repair(self, session_id: str, lines: Sequence[tuple[int, bytes]]) -> None:
        """Ensure that a view ends with these (seq, line) pairs, the latest of its session."""
        self.forget(session_id)
        path = self.path(session_id)
        size, last = _tail(path)
        missing = b"".join(line for seq, line in lines if seq > last)
        if size is None and not missing:
            return
        disk.make_folder(path.parent)
        fd = disk.open_file(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, disk.FILE_MODE)
        try:
            if size is not None and os.fstat(fd).st_size > size:
                disk.ftruncate(fd, size)
            os.lseek(fd, 0, os.SEEK_END)
            if missing:
                disk.write_all(fd, missing)
        finally:
            os.close(fd)

    def write_whole(self, session_id: str, lines: Iterator[bytes]) -> None:
        """Rewrite a view."""
        self.current()
        self.forget(session_id)
        path = self.path(session_id)
        disk.make_folder(path.parent)
        # Before the view: no process checks until the lock is free, and after a crash in between they only reopen it.
        disk.write_all(self.replaced, b"\n")
        self.known += 1
        disk.write_whole(path, b"".join(lines), durable=False)

    def seqs(self, session_id: str) -> Iterator[int]:
        """Yield the sequence numbers in a view; they are only a hint, the journal is authoritative."""
        with contextlib.suppress(FileNotFoundError), self.path(session_id).open("rb") as file:
            for line in file:
                seq = _seq(line)
                if seq is not None:
                    yield seq

    def sessions(self) -> Iterator[str]:
        """Yield all sessions that have a folder."""
        with contextlib.suppress(FileNotFoundError), os.scandir(self._folder) as entries:
            yield from (entry.name for entry in entries)

    def forget(self, session_id: str) -> None:
        """Close a view that is about to be rewritten."""
        fd = self.opened.pop(session_id, None)
        if fd is not None:
            os.close(fd)

    def let_rest(self) -> None:
        """Drop open views from the page cache after a full segment, since they are seldom read."""
        for fd in self.opened.values():
            disk.let_rest(fd)

    def close(self) -> None:
        """Close all views."""
        self._let_go()
        os.close(self.replaced)

    def _let_go(self) -> None:
        while self.opened:
            os.close(self.opened.popitem()[1])

    def _open_view(self, session_id: str) -> int:
        path = self.path(session_id)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            fd = disk.open_file(path, flags, disk.FILE_MODE)
        except FileNotFoundError:
            disk.make_folder(path.parent)
            fd = disk.open_file(path, flags, disk.FILE_MODE)
        self.opened[session_id] = fd
        if len(self.opened) > OPEN_FILES:
            os.close(self.opened.popitem(last=False)[1])
        return fd


def _tail(path: Path) -> tuple[int | None, int]:
    """Return the length of a view up to its last valid line, and its seq (-1: none); (None, -1) if there is no file."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return None, -1
    with file:
        size = file.seek(0, os.SEEK_END)
        tail = b""
        while len(tail) < size:
            start = max(0, size - len(tail) - _CHUNK)
            file.seek(start)
            tail = file.read(size - len(tail) - start) + tail
            for end in _line_ends(tail):
                begin = tail.rfind(b"\n", 0, end - 1) + 1
                if begin == 0 and start > 0:
                    break
                seq = _seq(tail[begin:end])
                if seq is not None:
                    return start + end, seq
    return 0, -1


def _line_ends(tail: bytes) -> Iterator[int]:
    end = tail.rfind(b"\n") + 1
    while end > 0:
        yield end
        end = tail.rfind(b"\n", 0, end - 1) + 1


def _seq(line: bytes) -> int | None:
    try:
        seq = orjson.loads(line)["seq"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return None
    return seq if type(seq) is int else None

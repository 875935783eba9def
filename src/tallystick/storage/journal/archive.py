"""Reads a journal's files for an audit: writes and recovers nothing; other processes may keep appending."""

import contextlib
import os
import re
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import orjson

from tallystick.gate.record.archive import HeadClaim
from tallystick.gate.record.checkpoint import notes_in
from tallystick.gate.record.journal import Notary
from tallystick.storage.journal import disk
from tallystick.storage.journal.blobs import Blobs
from tallystick.storage.journal.checkpoints import split_notes
from tallystick.storage.journal.head import is_behind, latest, latest_slot, named_by
from tallystick.storage.journal.segments import Segments, position
from tallystick.storage.journal.views import NAME

DEFINITIONS = {"policies": ".toml", "tools": ".json"}
"""Subfolders of the audit folder with what receipts name by digest, and how the names of their files end."""
_CHUNK = 1 << 20
_VIEW_CHUNK = 1 << 16
_OPEN_VIEWS = 128


class FileArchive:
    """Snapshot of the files under `.control-room/audit`; implements `gate.record.archive.Archive`."""

    def __init__(self, audit: Path, mirror: Path | None, notary: Notary, witnesses: Sequence[Path] = ()) -> None:
        self._folder = audit / "journal"
        self._segments = Segments(self._folder)
        self._mirror = mirror
        self._blobs = Blobs(audit / "blobs", durable=False)
        self._views = _ViewReader(audit / "sessions")
        self._heads: list[HeadClaim] = []
        self._head_faults: list[str] = []
        with _quiet(self._folder / "lock"):
            self._ends = {number: self._segments.size(number) for number in self._segments.numbers()}
            notary.renew()  # so that a head of a just activated key is recognised
            self._take_heads(notary)
            self._notes_end = _size(self._folder / "checkpoints")
            self._mirrored_note = None if mirror is None else disk.read_whole(mirror.with_suffix(".checkpoint"))
            # In the same snapshot: a later note may cover records that this audit does not see.
            self._witnessed = [(path, _size(path)) for path in witnesses]

    def heads(self) -> list[HeadClaim]:
        """Return the heads whose MAC verifies with a key of this workspace."""
        return self._heads

    def earlier(self) -> list[str]:
        """Return names of the mirror's copies of heads of earlier, non-empty logs."""
        if self._mirror is None:
            return []
        form = re.compile(re.escape(self._mirror.stem) + r"\.\d{8}T\d+\.earlier")
        try:
            found = sorted(path for path in self._mirror.parent.iterdir() if form.fullmatch(path.name))
        except OSError:
            return []
        return [path.name for path in found if named_by(disk.read_whole(path) or b"")]

    def head_faults(self) -> list[str]:
        """Return codes: no head or mirror that verifies, or a mirror that is older than the head."""
        return self._head_faults

    def lines(self) -> Iterator[list[bytes]]:
        """Yield all whole lines of the snapshot, in batches."""
        for number, end in self._ends.items():
            with self._segments.path(number).open("rb", buffering=0) as file:
                rest, left = b"", end
                while left > 0 and (chunk := file.read(min(_CHUNK, left))):
                    left -= len(chunk)
                    lines = (rest + chunk).split(b"\n")
                    rest = lines.pop()
                    yield lines
                if rest and number != max(self._ends):
                    yield [rest]  # a line without newline at the end of a segment is never a record

    def later_lines(self) -> Iterator[bytes]:
        """Yield whole lines added since the snapshot."""
        number, end = max(self._ends.items(), default=(0, 0))
        yield from (line.data for line in self._segments.lines(position(number, end)) if line.whole)

    def torn(self) -> int:
        """Return the number of bytes after the last whole line."""
        if not self._ends:
            return 0
        number, end = max(self._ends.items())
        with self._segments.path(number).open("rb") as file:
            at = end
            while at > 0:
                start = max(0, at - _CHUNK)
                file.seek(start)
                cut = file.read(at - start).rfind(b"\n")
                if cut >= 0:
                    return end - (start + cut + 1)
                at = start
        return end

    def notes(self) -> Iterator[bytes]:
        """Yield all checkpoints in the order written."""
        with contextlib.suppress(FileNotFoundError), (self._folder / "checkpoints").open("rb") as file:
            yield from split_notes(_lines_up_to(file, self._notes_end))

    def mirrored_note(self) -> bytes | None:
        """Return the latest checkpoint in the mirror's folder."""
        return self._mirrored_note

    def witnessed(self) -> Iterator[bytes]:
        """Yield the checkpoints in witness files, of this log and of others."""
        for path, end in self._witnessed:
            # An unreadable witness is skipped, like one that is not a local file.
            with contextlib.suppress(OSError), path.open("rb") as file:
                yield from notes_in(_lines_up_to(file, end))

    def blob(self, digest: str) -> bytes | None:
        """Return a payload stored outside the log."""
        return self._blobs.get(digest)

    def definition(self, kind: str, digest: str) -> bytes | None:
        """Return the stored policy or tool definition with this digest."""
        with contextlib.suppress(OSError):
            return disk.read_whole(self._folder.parent / kind / f"{digest}{DEFINITIONS[kind]}")
        return None

    def view_has(self, session_id: str, line: bytes) -> bool:
        """Return whether this line comes next in a session's view; if so, advance past it."""
        return self._views.has(session_id, line)

    def view_again(self, session_id: str) -> None:
        """Restart a session's view at its first line."""
        self._views.again(session_id)

    def other_views(self, size: int) -> Iterator[str]:
        """Yield sessions whose view contains lines that were not asked for and are not newer than the snapshot."""
        return self._views.others(size)

    def close(self) -> None:
        """Close the views."""
        self._views.close()

    def _take_heads(self, notary: Notary) -> None:
        places = {"head": self._folder / "head"} | ({} if self._mirror is None else {"mirror": self._mirror})
        slots: dict[str, bytes] = {}
        for source, path in places.items():
            slots[source] = disk.read_whole(path) or b""
            found = latest_slot(slots[source], notary.keys)
            if found is None:
                self._head_faults.append(f"{source}_missing")
            else:
                head, key_id = found
                claim = HeadClaim(
                    source=source,
                    size=head.size,
                    leaf=head.leaf,
                    key_id=key_id.hex(),
                    checkpointed=head.checkpointed,
                )
                self._heads.append(claim)
        mirrored = latest(slots.get("mirror", b""), notary.keys)
        if mirrored is not None and is_behind(mirrored, slots["head"], notary.keys):
            self._head_faults.append("mirror_behind")


class _ViewReader:
    """Reads many views in an interleaved order, each line once. For a closed view only the offset is kept."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._places: dict[str, int] = {}
        self._open: OrderedDict[str, _Cursor] = OrderedDict()

    def has(self, session_id: str, line: bytes) -> bool:
        cursor = self._open.get(session_id)
        if cursor is None:
            cursor = self._cursor(session_id)
        return cursor.takes(line)

    def again(self, session_id: str) -> None:
        cursor = self._open.pop(session_id, None)
        if cursor is not None:
            cursor.close()
        self._places.pop(session_id, None)

    def others(self, size: int) -> Iterator[str]:
        for session_id, cursor in self._open.items():
            self._places[session_id] = cursor.place
        with contextlib.suppress(FileNotFoundError), os.scandir(self._folder) as entries:
            for entry in entries:
                if not self._rest_is_later(entry.name, size):
                    yield entry.name

    def close(self) -> None:
        while self._open:
            self._open.popitem()[1].close()

    def _cursor(self, session_id: str) -> "_Cursor":
        cursor = self._open[session_id] = _Cursor(self._folder / session_id / NAME, self._places.get(session_id, 0))
        if len(self._open) > _OPEN_VIEWS:
            name, old = self._open.popitem(last=False)
            self._places[name] = old.place
            old.close()
        return cursor

    def _rest_is_later(self, session_id: str, size: int) -> bool:
        """Return whether the rest of a view contains only records added after the audit began."""
        try:
            with (self._folder / session_id / NAME).open("rb") as file:
                file.seek(self._places.get(session_id, 0))
                line = file.readline()
        except OSError:
            return True  # no view here: if one is missing, checking its records found that
        if not line or not line.endswith(b"\n"):
            return True
        try:
            return bool(orjson.loads(line)["seq"] >= size)
        except (orjson.JSONDecodeError, KeyError, TypeError):
            return False


class _Cursor:
    """An offset in a view, with a read-ahead buffer."""

    __slots__ = ("_buffer", "_fd", "_start", "place")

    def __init__(self, path: Path, place: int) -> None:
        try:
            self._fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            self._fd = -1
        self.place = place
        self._buffer = b""
        self._start = place

    def takes(self, line: bytes) -> bool:
        """Return whether the line is at the current offset; if so, advance past it."""
        at = self.place - self._start
        if at + len(line) > len(self._buffer):
            if self._fd < 0:
                return False
            self._buffer = os.pread(self._fd, max(_VIEW_CHUNK, len(line)), self.place)
            self._start, at = self.place, 0
        if not self._buffer.startswith(line, at):
            return False
        self.place += len(line)
        return True

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _lines_up_to(file: BinaryIO, end: int) -> Iterator[bytes]:
    at = 0
    for line in file:
        at += len(line)
        if at > end:
            return
        yield line


@contextlib.contextmanager
def _quiet(lock: Path) -> Iterator[None]:
    """Hold the journal's lock, so that no commit is in progress; without a lock file there is no writer."""
    try:
        fd = os.open(lock, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        yield
        return
    try:
        disk.lock(fd)
        yield
    finally:
        os.close(fd)

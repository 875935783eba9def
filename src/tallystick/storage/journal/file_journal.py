"""The journal on files: implements `gate/record/journal.py` under one lock for threads and processes."""

import contextlib
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from time import monotonic

from tallystick.errors import LedgerError, LedgerUnwritable
from tallystick.gate.record.journal import JustWritten, Notary, Place, SignedRecord
from tallystick.storage.journal import disk
from tallystick.storage.journal.definitions import keep, kept
from tallystick.storage.journal.forks import tell_children
from tallystick.storage.journal.journal_files import JournalFiles, Options, open_files
from tallystick.storage.journal.journal_tail import leaf_of, rebuilt
from tallystick.storage.journal.log_reader import parse_header, sessions_in, split_line
from tallystick.storage.journal.startup import open_writer
from tallystick.storage.journal.writer import Writer

Columns = tuple[bytes, bytes, bytes]


class FileJournal:
    """An append-only, hash-chained log in `.control-room/audit`; several may be open on one workspace."""

    def __init__(self, audit: Path, options: Options) -> None:
        self._audit = audit
        self._options = options
        self._notary: Notary | None = None
        self._closed = self._forked = False
        self._mend_at = 0.0
        self._tree_rebuilt = False
        self._ready = False
        """Whether the writer can write one record with no other work due; set by `lock`."""
        tell_children(self)
        disk.make_folder(audit / "journal")
        self._lock = disk.WriteLock(audit / "journal" / "lock")
        self._files: JournalFiles = open_files(audit, options)
        self._writer: Writer | None = None

    def attach(self, notary: Notary) -> None:
        """Open the writer: recover from a crash and record the incidents; if that fails, close the files."""
        self._notary = notary
        try:
            self._open_writer(notary)
        except BaseException:
            self._closed = True
            if self._writer is not None:
                self._writer.close()
            self._files.close()
            self._lock.close()
            raise

    def _open_writer(self, notary: Notary) -> None:
        with self._lock:
            try:
                writer = self._writer = open_writer(self._files, notary)
                self._report(writer)
                self._mend_views()
            except OSError as error:
                raise LedgerUnwritable(f"The journal cannot be opened ({error.strerror or error}).") from error

    def lock(self, *, early: bool = False) -> Place:
        """Take the lock, catch up with other processes, and return the place of the next record."""
        if self._forked:
            self._reopen()
        self._lock.acquire()
        try:
            writer = self._writer
            ready = writer is not None and not self._files.views.broken and writer.is_ready(early=early)
            if writer is None or not ready:
                writer = self._current()
                writer.prepare()
        except BaseException:
            self._lock.release()
            raise
        self._ready = ready
        return writer.tail.size, writer.tail.leaf

    def write(self, records: Sequence[SignedRecord], *, early: bool = False) -> None:
        """Store signed records; they are durable (as configured) when this returns."""
        writer = self._writer
        if writer is None:
            raise LedgerError("The ledger is closed.", code="ledger_closed")
        if self._ready and len(records) == 1:
            self._ready = False  # what was checked holds for one record
            writer.write_one(records[0], early=early)
            return
        writer.write(records)
        if self._files.views.broken and monotonic() >= self._mend_at:
            self._mend_at = monotonic() + _MEND_S
            self._mend_views()

    def unlock(self) -> None:
        """Release the lock."""
        self._lock.release()

    def settle(self) -> None:
        """Write the deferred view line and head of the last record; on failure the next commit writes them."""
        writer = self._writer
        if writer is not None and writer.deferred is not None and not self._forked:
            with contextlib.suppress(OSError, LedgerError), self._lock:
                writer.settle()

    def read(self, start: int = 0) -> Iterator[Columns]:
        """Stream the columns of all records from `start` on that existed when this was called."""
        with self._lock:
            tail = self._current().tail
            if start >= tail.size:
                return iter(())
            place, end = tail.position_of(start, self._files.tiles), tail.end
        lines = self._files.segments.lines(place, end)
        return (columns for line in lines if (columns := split_line(line.data)) is not None)

    def just_written(self, start: int) -> Sequence[JustWritten] | None:
        """Return the records this process wrote from `start` on, from memory; None: they must be read from disk."""
        with self._lock.threads:
            writer = self._writer
            if writer is None or self._forked or not writer.is_unchanged():
                with self._lock:
                    writer = self._current()
            return writer.tail.since(start)

    def get(self, seq: int) -> Columns | None:
        """Return the columns of one record; None if there is no such record."""
        with self._lock:
            tail = self._current().tail
            if not 0 <= seq < tail.size:
                return None
            line = self._line(seq)
            if line is None and self.rebuild_tree():
                line = self._line(seq)
        return None if line is None else split_line(line)

    def blob(self, digest: str) -> bytes | None:
        """Return salt and payload stored outside the log."""
        return self._files.blobs.get(digest)

    def size(self) -> int:
        """Return the number of records."""
        with self._lock:
            return self._current().tail.size

    def session(self, session_id: str) -> Iterator[int]:
        """Yield the sequence numbers of a session's records, as listed in its view."""
        self.settle()
        return self._files.views.seqs(session_id)

    def sessions(self) -> Iterator[str]:
        """Yield the ids of all sessions that have a view."""
        self.settle()
        return self._files.views.sessions()

    def node(self, level: int, index: int) -> bytes:
        """Return the hash of a complete subtree that a checkpoint covers."""
        return self._files.tiles.node(level, index)

    def keep(self, kind: str, name: str, data: bytes) -> None:
        """Store a definition in the audit folder."""
        try:
            keep(self._audit, kind, name, data, durable=self._files.durable)
        except OSError as error:
            message = f"{kind}/{name} cannot be kept ({error.strerror or error}). Free some space."
            raise LedgerUnwritable(message) from error

    def kept(self, kind: str, name: str) -> bytes | None:
        """Return a stored definition."""
        return kept(self._audit, kind, name)

    def rebuild_tree(self) -> bool:
        """Rebuild the tiles from the log after a mismatch; only once, because it takes long."""
        with self._lock:
            if self._tree_rebuilt or self._notary is None:
                return False
            self._tree_rebuilt = True
            writer = self._current()
            fresh = rebuilt(self._files.segments, self._files.tiles, self._notary, writer.head.size)
            if (fresh.size, fresh.leaf) != (writer.tail.size, writer.tail.leaf):
                return False  # the log itself does not match; an audit reports where
            writer.tail = fresh
            return True

    def checkpoint(self) -> bytes:
        """Return a signed note over all records stored so far."""
        with self._lock:
            writer = self._current()
            if writer.checkpointed == writer.tail.size > 0:
                note = self._files.checkpoints.last()
                held = None if note is None or self._notary is None else self._notary.checkpoint_holds(note)
                if note is not None and held is not None and held[0] == writer.tail.size:
                    return note
            note = writer.try_checkpoint()
            if note is None:
                self._current()
                raise LedgerUnwritable("A checkpoint cannot be written. Free some space.")
        return note

    def tick(self) -> None:
        """Write a checkpoint if records were added since the last one."""
        with self._lock, contextlib.suppress(LedgerError):
            self._current().tick()

    def erase(self, seq: int) -> None:
        """Overwrite the payload of one record, delete its blobs and remove the payload from its session's view."""
        with self._lock:
            tail = self._current().tail
            place = tail.position_of(seq, self._files.tiles)
            line = self._files.segments.line_at(place)
            columns = None if line is None else split_line(line)
            header = None if columns is None else parse_header(columns[0])
            if columns is None or header is None:
                raise LedgerError(f"Record {seq} cannot be read. Run `tally audit verify`.", code="record_unreadable")
            try:
                # Mark the view first, so that it is rewritten without the erased payload even if a later step fails.
                self._files.views.mark(header["session_id"])
                tail.recent.clear()
                self._files.segments.erase(place, columns)
                for name in ("inputs_digest", "outputs_digest"):
                    if name in header:
                        self._files.blobs.drop(header[name])
                self._mend_views()
                if header["session_id"] in self._files.views.broken:
                    raise OSError("the session view cannot be written")  # noqa: TRY301 - handled like the other errors
            except OSError as error:
                message = f"The payload could not be erased ({error.strerror or error}). Erase it again."
                raise LedgerUnwritable(message, code="erasure_unfinished") from error

    def rebuild_views(self) -> int:
        """Rewrite all session views from the log; return their number."""
        with self._lock:
            self._current()
            sessions: dict[str, list[int]] = {}
            for seq, session in sessions_in(self.read()):
                sessions.setdefault(session, []).append(seq)
            for session, seqs in sessions.items():
                self._files.views.write_whole(session, self._flat_lines(seqs))
            return len(sessions)

    def check_writable(self) -> None:
        """Check quickly, without the lock, that records can be written; raises if not."""
        if self._writer is None:
            raise LedgerError("The ledger is closed.", code="ledger_closed")
        self._writer.check_writable()

    def ready(self) -> str | None:
        """Return None if a record can be written now, else the error code."""
        try:
            with self._lock:
                if not self._current().in_place():
                    self._current()
                free = os.statvfs(self._files.folder)
        except LedgerError as error:
            return error.code
        except OSError:
            return LedgerUnwritable.code
        return None if free.f_bavail * free.f_frsize > _LITTLE else "ledger_disk_full"

    def close(self) -> None:
        """Write a final checkpoint and close the files; a second call does nothing."""
        if self._closed:
            return
        with self._lock:
            self._closed = True
            self._settle()
        # Without the lock: a witness may be slow, and other writers must not wait for it.
        unreached = self._files.witnesses.finish()
        with self._lock:
            if self._writer is not None:
                self._writer.incidents += unreached
                self._settle()
                self._writer.close()
                self._writer = None
            self._files.close()
        self._lock.close()

    def mark_forked(self) -> None:
        """Note that this process is a forked child of the one that opened the journal."""
        self._forked = True

    def _current(self) -> Writer:
        if self._writer is None:
            raise LedgerError("The ledger is closed.", code="ledger_closed")
        try:
            self._writer.catch_up()
        except OSError as error:
            message = f"The journal cannot be read or put right ({error.strerror or error}). Nothing was stored."
            raise LedgerUnwritable(message) from error
        return self._writer

    def _settle(self) -> None:
        """Finish all outstanding work where possible: repair views, record incidents, write a checkpoint."""
        if self._writer is not None:
            with contextlib.suppress(LedgerError):
                writer = self._current()
                self._mend_views()
                self._report(writer)
                writer.tick()

    def _report(self, writer: Writer) -> None:
        """Record pending incidents now instead of with the next commit."""
        if writer.incidents:
            writer.record_incidents()
            writer.try_checkpoint()

    def _reopen(self) -> None:
        """Open everything again in a forked child, which must not share open files with its parent."""
        self._forked = False
        self._lock.reopen()
        self._files = open_files(self._audit, self._options)
        if self._notary is not None:
            self._open_writer(self._notary)

    def _line(self, seq: int) -> bytes | None:
        """Return the line of a record. Its offset is derived and may be wrong, so the leaf hash is checked."""
        tail, tiles = self._current().tail, self._files.tiles
        line = self._files.segments.line_at(tail.position_of(seq, tiles))
        return line if line is not None and leaf_of(line) == tail.leaf_at(seq, tiles) else None

    def _mend_views(self) -> None:
        """Rewrite views that could not be written; a view that still cannot be written stays marked."""
        for session in sorted(self._files.views.broken):
            with contextlib.suppress(OSError):
                seqs = (seq for seq, named in sessions_in(self.read()) if named == session)
                self._files.views.write_whole(session, self._flat_lines(seqs))
                self._files.views.unmark(session)

    def _flat_lines(self, seqs: Iterable[int]) -> Iterator[bytes]:
        for seq in seqs:
            columns = self.get(seq)
            if columns is not None and self._notary is not None:
                yield self._notary.flat(*columns)[1]


_MEND_S, _LITTLE = 1.0, 1 << 20
"""Seconds before the rewrite of a failed view is retried (it reads the whole log), and free bytes below which the next
record may not fit."""

"""Writes records, head and checkpoints, under the lock that `file_journal.py` holds.

A commit writes, in this order:

1. blobs         so that a record never refers to a missing payload
2. the log       one write for all records of the commit, then fdatasync (durability "fsync")
3. views         so that every record covered by the head is in its session's view
4. the head      in the workspace, then in the mirror; the commit is now complete and is acknowledged
5. a checkpoint  after 256 records or 10 seconds, together with the tiles

An error before step 4 completes rolls everything back; a later error loses only derived data. With early
acknowledgement the caller continues after step 2, and steps 3 and 4 are deferred for a moment (`DeferredWrites`): a
process that finds a complete record beyond the head before that adopts it with all derived data, as after a crash.
"""

import contextlib
from collections.abc import Sequence
from os import SEEK_END, lseek, stat
from time import monotonic_ns
from typing import NamedTuple

from tallystick.errors import LedgerError, LedgerUnwritable
from tallystick.gate.record.journal import Incident, Notary, SignedRecord
from tallystick.storage.journal import disk
from tallystick.storage.journal.catch_up import changed, later_head, read_on, unconfirmed
from tallystick.storage.journal.head import FAILED, Head, HeadWriter
from tallystick.storage.journal.journal_files import JournalFiles
from tallystick.storage.journal.journal_tail import JournalTail
from tallystick.storage.journal.segments import CHECK_VALID_NS, OFFSET, OpenSegment, offset_of, position, segment_of


class DeferredWrites(NamedTuple):
    """A durable record whose view line and head are not written yet."""

    record: SignedRecord
    seq: int
    end: int
    view: int
    """File descriptor of its session's view."""
    length: int
    """Length of the view before the record."""


class Writer:
    """Holds the last segment open and appends to it."""

    def __init__(self, files: JournalFiles, notary: Notary, tail: JournalTail, head: Head) -> None:
        self._files, self._durable, self._notary, self.tail = files, files.durable, notary, tail
        self._views, self._replaced = files.views.opened, files.views.replaced
        self._segment_bytes, self._checkpoint_every = files.options.segment_bytes, files.options.checkpoint_every
        self.checkpointed = head.checkpointed
        """Number of records that the latest checkpoint covers, as far as this process knows."""
        self.incidents: list[Incident] = []
        """To be recorded before the next commit."""
        self._heads = HeadWriter(files.head, files.mirror, notary.keys, head, self.incidents)
        self._stopped: LedgerError | None = None
        self._checked_until = 0
        """Until when (monotonic) the last check of the files counts."""
        self.deferred: DeferredWrites | None = None
        """Deferred writes of the last commit."""
        tail.end = files.segments.onward(tail.end)
        self._segment = OpenSegment(files.segments, segment_of(tail.end), preallocates=self._durable)
        self._checkpoint_due = 0
        self._wait_for_checkpoint()

    # -- before a commit -----------------------------------------------------------------------------------------------

    def is_ready(self, *, early: bool) -> bool:
        """Return whether one record can be written with no other work due: the case of nearly every call."""
        tail, now = self.tail, monotonic_ns()  # before the check: changes during it must not count as seen
        offset, fresh = tail.end & OFFSET, now < self._checked_until
        if not early:
            self._checked_until = 0  # a check is valid once; with early acknowledgement, until it expires
        if (
            self._stopped is not None
            or self.deferred is not None
            or self.incidents
            or offset >= self._segment_bytes
            or tail.size + 1 - self.checkpointed >= self._checkpoint_every
            or now >= self._checkpoint_due
            or not self._segment.ends_at(offset, None if fresh else self._segment_size())
            or not (early or lseek(self._replaced, 0, SEEK_END) == self._files.views.known)  # `settle` checks, if early
        ):
            return False
        if early and not fresh:
            self._checked_until = now + CHECK_VALID_NS
        return True

    def catch_up(self) -> None:
        """Check that the journal is as this process left it, or catch up with records of other processes.

        Raises:
            LedgerUnwritable: The journal was made read-only, or an fsync failed.
            LedgerDamaged: The journal was deleted, replaced, truncated or damaged; it accepts no more records.
        """
        # A check made before the tool ran replaces this one, but only once and for a short time.
        fresh, self._checked_until = monotonic_ns() < self._checked_until, 0
        size = None if fresh and self._stopped is None else self._segment_size()
        if self.deferred is not None:
            self.settle()
        # Another process either appends after our end, or starts the next segment and seals this one; it releases the
        # lock only after every check made before the seal has expired.
        if not self._segment.ends_at(self.tail.end & OFFSET, size):
            self._read_on(self._segment_size())
        self._files.views.current()

    def prepare(self) -> None:
        """Start a new segment if this one is full, and record pending incidents."""
        while self.tail.end & OFFSET >= self._segment_bytes:
            self._start_segment()
        self.record_incidents()

    def record_incidents(self) -> None:
        """Write the records of pending incidents."""
        if not self.incidents:
            return
        count, records, place = len(self.incidents), list[SignedRecord](), (self.tail.size, self.tail.leaf)
        for incident in self.incidents:
            records.append(self._notary.recovery(incident)(place))
            place = place[0] + 1, records[-1].leaf
        self.write(records)
        del self.incidents[:count]

    def check_writable(self) -> None:
        """Check that the current segment still exists and is writable; raises like `catch_up`."""
        now = monotonic_ns()
        self._checked_until = now + CHECK_VALID_NS if self._segment_size() >= 0 else 0

    def is_unchanged(self) -> bool:
        """Return whether, by a cheap check, no process has appended since this one did; False: call `catch_up`."""
        settled = self._stopped is None and self.deferred is None
        return settled and self._segment.still_ends_at(self.tail.end & OFFSET)

    def _segment_size(self) -> int:
        """Return the size of the current segment; -1 if another process sealed it."""
        if self._stopped is not None:
            raise self._stopped
        segment = self._segment
        try:
            found = stat(segment.name, dir_fd=segment.folder, follow_symlinks=False)
        except FileNotFoundError:
            raise self._stop("The journal was deleted while in use.", "journal_missing") from None
        if found.st_ino != segment.inode:
            raise self._stop("The journal's file was replaced while in use.", "journal_replaced")
        if not found.st_mode & disk.WRITABLE:
            if self._files.segments.path(segment.number + 1).exists():
                return -1  # full, and sealed by another process
            raise LedgerUnwritable("The journal is read-only. Run `chmod u+w` on its files.", code="ledger_read_only")
        return found.st_size

    # -- a commit ------------------------------------------------------------------------------------------------------

    def write_one(self, record: SignedRecord, *, early: bool) -> None:
        """Commit one record after `is_ready`; steps 2 to 4 are inlined, because nearly every call uses this."""
        tail, segment = self.tail, self._segment
        start = tail.end
        offset = start & OFFSET
        header, inputs, outputs, leaf, _, session_id, flat, blobs, _ = record
        line = b"%b\t%b\t%b\n" % (header, inputs, outputs)
        end, view = start + len(line), self._views.get(session_id)
        try:
            if blobs or view is None:
                self._store([record], [line])
            else:
                segment.put(line, offset)
                if self._durable:
                    self._sync()
                if early:
                    self.deferred = DeferredWrites(record, tail.size, end, view, lseek(view, 0, SEEK_END))
                elif disk.write(view, flat) == len(flat):
                    self._heads.write(tail.size + 1, end, leaf)
                else:
                    raise OSError  # noqa: TRY301 - handled like a failed write
        except OSError as error:
            if not self._roll_back((), (record,)):
                raise _unwritable(error) from error
            self._store([record], [line])
        tail.follow(leaf, start, end, record)

    def write(self, records: Sequence[SignedRecord]) -> None:
        """Commit records: all or none; then write a checkpoint if one is due."""
        tail = self.tail
        lines = [b"%b\t%b\t%b\n" % record[:3] for record in records]
        self._store(records, lines)
        for record, line in zip(records, lines, strict=True):
            tail.follow(record.leaf, tail.end, tail.end + len(line), record)
        if tail.size - self.checkpointed >= self._checkpoint_every or monotonic_ns() >= self._checkpoint_due:
            self.try_checkpoint()

    def settle(self) -> None:
        """Perform the deferred writes unless another process has done so. On OSError they stay deferred."""
        deferred, views = self.deferred, self._files.views
        if deferred is None:
            return
        if self._segment.ends_at(deferred.end & OFFSET) and not self._heads.covered(deferred.seq + 1):
            session_id, flat = deferred.record.session_id, deferred.record.flat
            views.current()
            try:
                if (
                    views.opened.get(session_id) == deferred.view
                    and lseek(deferred.view, 0, SEEK_END) == deferred.length
                ):
                    views.append(session_id, flat)
                else:
                    views.repair(session_id, [(deferred.seq, flat)])
            except OSError:  # a view is derived: it does not block the log and is repaired later
                views.mark_if_possible(session_id)
            self._heads.write(deferred.seq + 1, deferred.end, deferred.record.leaf)
        self.deferred = None

    def _store(self, records: Sequence[SignedRecord], lines: Sequence[bytes]) -> None:
        """Perform steps 1 to 4 atomically: all or nothing."""
        files, tail = self._files, self.tail
        viewed: list[SignedRecord] = []
        try:
            files.blobs.put_all([blob for record in records for blob in record.blobs])
            data = lines[0] if len(lines) == 1 else b"".join(lines)
            self._segment.put(data, offset_of(tail.end))
            if self._durable:
                self._sync()
            viewed += files.views.add(records)
            self._heads.write(tail.size + len(records), tail.end + len(data), records[-1].leaf)
        except OSError as error:
            self._roll_back(records, viewed)
            raise _unwritable(error) from error

    def _roll_back(self, records: Sequence[SignedRecord], viewed: Sequence[SignedRecord]) -> bool:
        """Roll back a failed commit; False: part of it is still in the log, and the next catch-up sets it aside.

        Args:
            records: The records whose blobs were stored.
            viewed: The records that were added to their views.
        """
        for record in reversed(viewed):
            with contextlib.suppress(OSError):
                self._files.views.cut(record.session_id, record.flat)
        for record in records:
            with contextlib.suppress(OSError):
                self._files.blobs.drop_all(record.blobs)
        try:
            disk.ftruncate(self._segment.fd, offset_of(self.tail.end))
        except OSError:
            return False
        return True

    def _sync(self) -> None:
        """Call fdatasync; stop on failure: the kernel may mark lost pages clean, so a retry would falsely succeed."""
        try:
            disk.fdatasync(self._segment.fd)
        except OSError as error:
            with contextlib.suppress(OSError):
                # A new epoch, so that no head of another process compares as later than this one.
                self._heads.write_as(self.head._replace(epoch=self.head.epoch + 1, flags=FAILED))
            self._stopped = unconfirmed(error.strerror or "")
            raise self._stopped from error

    # -- head and checkpoint -------------------------------------------------------------------------------------------

    @property
    def head(self) -> Head:
        """The head as this process last wrote or read it."""
        return self._heads.head

    def put_head(self) -> None:
        """Write the head for the current end of the log."""
        self._heads.write(self.tail.size, self.tail.end, self.tail.leaf)

    def try_checkpoint(self) -> bytes | None:
        """Write tiles and a signed note; None on a disk error (retried later) or if the journal was replaced."""
        tail = self.tail
        self._wait_for_checkpoint()
        self.incidents += self._files.witnesses.reports()
        if not self.in_place():
            return None
        try:
            tail.flush(self._files.tiles)
            note = self._notary.checkpoint(tail.size, tail.root(self._files.tiles))
            self._files.checkpoints.put(note, durable=self._files.durable)
            self.checkpointed = tail.size
            # A wrong view without a mark on disk is repaired when the journal is opened next.
            covered = self.head.checkpointed if self._files.views.unmarked else tail.size
            self._heads.write_as(Head(self.head.epoch, tail.size, covered, 0, tail.end, tail.leaf))
        except OSError:
            return None
        self._files.witnesses.send(note)
        return note

    def tick(self) -> None:
        """Write a checkpoint if records were added since the last one."""
        if self.checkpointed != self.tail.size:
            self.try_checkpoint()

    def in_place(self) -> bool:
        """Return whether folder and head are still in place; if not, the journal accepts no more records."""
        # The segment itself is checked with every commit; this check costs more and runs less often.
        if not self._files.head.in_place():
            self._stop("The journal's folder or head was moved or replaced while in use.", "journal_replaced")
        return self._stopped is None

    def close(self) -> None:
        """Close the log and free the space preallocated after its end."""
        if self._stopped is None:
            with contextlib.suppress(OSError):
                self._segment.trim(offset_of(self.tail.end))
        self._segment.close()

    # -- segments ------------------------------------------------------------------------------------------------------

    def _read_on(self, size: int) -> None:
        """Read the records that other processes have appended, and go to the segment they write to."""
        files, notary = self._files, self._notary
        try:
            head = later_head(files, notary, self.head, size, offset_of(self.tail.end))
            self.incidents += read_on(files, self.tail, head, notary)
        except LedgerError as error:
            self._stopped = error
            raise
        self.tail.settle(min(head.checkpointed, self.tail.size))
        if head.checkpointed > self.checkpointed:
            self.checkpointed = head.checkpointed
            self._wait_for_checkpoint()
        self._heads.take(head)
        self.tail.end = files.segments.onward(self.tail.end)
        number = segment_of(self.tail.end)
        if number != self._segment.number:
            self._go_to(OpenSegment(files.segments, number, preallocates=self._durable))

    def _start_segment(self) -> None:
        """Start a new segment; hash chain and tree continue."""
        following = self._segment.number + 1
        if self._files.segments.size(following):  # another process was first, unseen by a check still valid
            self._read_on(-1)
            return
        self._go_to(self._segment.followed_by(self._files.segments, offset_of(self.tail.end)))
        self.tail.end = position(following, 0)

    def _go_to(self, segment: OpenSegment) -> None:
        left, self._segment = self._segment, segment
        left.leave()
        self._files.views.let_rest()

    def _wait_for_checkpoint(self) -> None:
        self._checkpoint_due = monotonic_ns() + self._files.options.checkpoint_s * 1_000_000_000

    def _stop(self, message: str, code: str) -> LedgerError:
        self._stopped = changed(message, code)
        return self._stopped


def _unwritable(error: OSError) -> LedgerUnwritable:
    """Build the error for a failed write."""
    reason = error.strerror or "a write was cut short"
    return LedgerUnwritable(f"The journal cannot be written ({reason}). Nothing was stored. Free some space.")

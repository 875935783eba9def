"""Commits records, head and checkpoints, under the lock that `files.py` holds.

A commit writes, in this order:

1. blobs         so that a record never refers to a missing payload
2. the log       one write for all records of the commit, then fdatasync (durability "fsync")
3. views         so that every record covered by the head is in its session's view
4. the head      in the workspace, then in the mirror; the commit is now complete and is acknowledged
5. a checkpoint  after 256 records or 10 seconds, together with the tiles

An error before step 4 completes rolls everything back; a later error loses only derived data. With early
acknowledgement the caller continues after step 2, and the other writes are deferred for a moment (`late.py`).
"""

import contextlib
from collections.abc import Sequence
from functools import partial
from os import SEEK_END, lseek, stat
from time import monotonic_ns

from tallystick.errors import LedgerError, LedgerUnwritable
from tallystick.gate.record.journal import Incident, Notary, Seal, SignedRecord
from tallystick.storage.journal import disk
from tallystick.storage.journal.catching import changed, later_head, read_on, unconfirmed
from tallystick.storage.journal.head import FAILED, Head
from tallystick.storage.journal.heads import Heads
from tallystick.storage.journal.late import Late, settle
from tallystick.storage.journal.segments import GLANCE_NS, OFFSET, Tail, offset_of, position, segment_of
from tallystick.storage.journal.shelf import Shelf
from tallystick.storage.journal.stand import Stand
from tallystick.storage.journal.undoing import take_back, unwritable


class Writer:
    """Holds the journal's tail open and appends to it."""

    def __init__(self, shelf: Shelf, notary: Notary, stand: Stand, head: Head) -> None:
        self._shelf, self._durable, self._notary, self.stand = shelf, shelf.durable, notary, stand
        self._views, self._replaced = shelf.views.opened, shelf.views.replaced
        self._segment_bytes, self._checkpoint_every = shelf.options.segment_bytes, shelf.options.checkpoint_every
        self.noted = head.checkpointed
        """Number of records that the latest checkpoint covers, as far as this process knows."""
        self.incidents: list[Incident] = []
        """To be recorded with the next commit."""
        self._heads = Heads(shelf, notary, head, self.incidents)
        self._stopped: LedgerError | None = None
        self._fresh = 0
        self.late: Late | None = None
        """Deferred writes of the last commit."""
        self.commit_early = partial(self.commit_one, early=True)
        stand.end = shelf.segments.onward(stand.end)
        self._segment = segment_of(stand.end)
        self._tail = Tail(shelf.segments, self._segment, roomy=self._durable)
        self._checkpoint_due = 0
        self._wait_for_checkpoint()

    def current(self) -> None:
        """Check that the journal is as this process left it, or catch up with records of other processes.

        Raises:
            LedgerUnwritable: The journal was made read-only, or an fsync failed.
            LedgerDamaged: The journal was deleted, replaced, truncated or damaged; it accepts no more records.
        """
        # A check made before the tool ran replaces this one, but only once and for a short time.
        fresh, self._fresh = monotonic_ns() < self._fresh, 0
        size = None if fresh and self._stopped is None else self._look()
        if self.late is not None:
            self.settle()
        # Another process either appends after our end, or starts the next segment and seals this one; it releases the
        # lock only after every check made before the seal has expired.
        if not self._tail.ends_at(self.stand.end & OFFSET, size):
            self._catch_up(self._look())
        self._shelf.views.current()

    def settle(self) -> None:
        """Perform the deferred writes of the last commit. On OSError they stay deferred."""
        if self.late is not None:
            settle(self.late, self._tail, self._heads, self._shelf)
            self.late = None

    def glance(self) -> None:
        """Check that the current segment still exists and is writable; raises like `current`."""
        now = monotonic_ns()
        self._fresh = now + GLANCE_NS if self._look() >= 0 else 0

    def unmoved(self) -> bool:
        """Return whether, by a cheap check, no process has appended since this one did; False: call `current`."""
        settled = self._stopped is None and self.late is None
        return settled and self._tail.still_ends_at(self.stand.end & OFFSET)

    def _look(self) -> int:
        """Return the size of the current segment; -1 if another process sealed it."""
        if self._stopped is not None:
            raise self._stopped
        tail = self._tail
        try:
            found = stat(tail.name, dir_fd=tail.folder, follow_symlinks=False)
        except FileNotFoundError:
            raise self._stop("The journal was deleted while in use.", "journal_missing") from None
        if found.st_ino != tail.inode:
            raise self._stop("The journal's file was replaced while in use.", "journal_replaced")
        if not found.st_mode & disk.WRITABLE:
            if self._shelf.segments.path(self._segment + 1).exists():
                return -1  # full, and sealed by another process
            raise LedgerUnwritable("The journal is read-only. Run `chmod u+w` on its files.", code="ledger_read_only")
        return found.st_size

    @property
    def head(self) -> Head:
        """The head as this process last wrote or read it."""
        return self._heads.head

    def commit(self, seals: Sequence[Seal]) -> list[SignedRecord]:
        """Sign and store records, after the records of pending incidents."""
        stand, options = self.stand, self._shelf.options
        while stand.end & OFFSET >= options.segment_bytes:
            self._roll()
        told = len(self.incidents)
        sealed = self._commit_all([*map(self._notary.recovery, self.incidents), *seals])[told:]
        del self.incidents[:told]
        if stand.size - self.noted >= options.checkpoint_every or monotonic_ns() >= self._checkpoint_due:
            self.try_checkpoint()
        return sealed

    def commit_one(self, seal: Seal, *, early: bool = False) -> SignedRecord | None:
        """Check the journal and commit one record by the fast path; None: use the general path.

        Steps 2 to 4 are inlined here because nearly every call uses this path.
        """
        stand, tail = self.stand, self._tail
        start = stand.end
        offset = start & OFFSET
        if not self._as_usual(stand.size, offset, early=early):
            return None
        record = seal((stand.size, stand.leaf))
        header, inputs, outputs, leaf, _, session_id, flat, blobs, _ = record
        line = b"%b\t%b\t%b\n" % (header, inputs, outputs)
        end, view = start + len(line), self._views.get(session_id)
        try:
            if blobs or view is None:
                self._store([record], [line], leaf)
            else:
                tail.put(line, offset)
                if self._durable:
                    self._sync()
                if early:
                    self.late = Late(record, stand.size, end, view, lseek(view, 0, SEEK_END))
                elif disk.write(view, flat) == len(flat):
                    self._heads.write(stand.size + 1, end, leaf)
                else:
                    raise OSError  # noqa: TRY301 - the general path handles it
        except OSError as error:
            if not take_back(self._shelf, tail, offset, (), (record,)):
                raise unwritable(error) from error
            self._store([record], [line], leaf)
        stand.follow(leaf, start, end, record)
        return record

    def _as_usual(self, size: int, offset: int, *, early: bool) -> bool:
        """Return whether a record can be appended with no other work due."""
        now = monotonic_ns()  # before the check: changes during it must not count as seen
        fresh = now < self._fresh
        if not early:
            self._fresh = 0  # a check is valid once; with early acknowledgement, until it expires
        if (
            self._stopped is not None
            or self.late is not None
            or self.incidents
            or offset >= self._segment_bytes
            or size + 1 - self.noted >= self._checkpoint_every
            or now >= self._checkpoint_due
            or not self._tail.ends_at(offset, None if fresh else self._look())
            or not (early or lseek(self._replaced, 0, SEEK_END) == self._shelf.views.known)  # `settle` checks, if early
        ):
            return False
        if early and not fresh:
            self._fresh = now + GLANCE_NS
        return True

    def _commit_all(self, seals: Sequence[Seal]) -> list[SignedRecord]:
        stand = self.stand
        size, leaf, sealed, lines = stand.size, stand.leaf, [], []
        for seal in seals:
            record = seal((size, leaf))
            sealed.append(record)
            lines.append(b"%b\t%b\t%b\n" % record[:3])
            size, leaf = size + 1, record.leaf
        if sealed:
            self._store(sealed, lines, leaf)
        for record, line in zip(sealed, lines, strict=True):
            stand.follow(record.leaf, stand.end, stand.end + len(line), record)
        return sealed

    def try_checkpoint(self) -> bytes | None:
        """Write tiles and a signed note; None on a disk error (retried later) or if the journal was replaced."""
        stand = self.stand
        self._wait_for_checkpoint()
        self.incidents += self._shelf.witnesses.reports()
        if not self.in_place():
            return None
        try:
            stand.flush(self._shelf.tiles)
            note = self._notary.checkpoint(stand.size, stand.root(self._shelf.tiles))
            self._shelf.checkpoints.put(note)
            self.noted = stand.size
            # A wrong view without a mark on disk is repaired when the journal is opened next.
            covered = self.head.checkpointed if self._shelf.views.unmarked else stand.size
            self._heads.write_as(Head(self.head.epoch, stand.size, covered, 0, stand.end, stand.leaf))
        except OSError:
            return None
        self._shelf.witnesses.send(note)
        return note

    def tick(self) -> None:
        """Write a checkpoint if records were added since the last one."""
        if self.noted != self.stand.size:
            self.try_checkpoint()

    def in_place(self) -> bool:
        """Return whether folder and head are still in place; if not, the journal accepts no more records."""
        # The segment itself is checked with every commit; this check costs more and runs less often.
        if not self._shelf.head.in_place():
            self._stop("The journal's folder or head was moved or replaced while in use.", "journal_replaced")
        return self._stopped is None

    def put_head(self) -> None:
        """Write the head for the current end of the log."""
        self._heads.write(self.stand.size, self.stand.end, self.stand.leaf)

    def close(self) -> None:
        """Close the log and free the space preallocated after its end."""
        if self._stopped is None:
            with contextlib.suppress(OSError):
                self._tail.trim(offset_of(self.stand.end))
        self._tail.close()

    def _store(self, sealed: Sequence[SignedRecord], lines: Sequence[bytes], leaf: bytes) -> None:
        """Perform steps 1 to 4 atomically: all or nothing."""
        shelf, stand = self._shelf, self.stand
        viewed: list[SignedRecord] = []
        try:
            shelf.blobs.put_all([blob for record in sealed for blob in record.blobs])
            data = lines[0] if len(lines) == 1 else b"".join(lines)
            self._tail.put(data, offset_of(stand.end))
            if self._durable:
                self._sync()
            viewed += shelf.views.add(sealed)
            self._heads.write(stand.size + len(sealed), stand.end + len(data), leaf)
        except OSError as error:
            take_back(shelf, self._tail, offset_of(stand.end), sealed, viewed)
            raise unwritable(error) from error

    def _sync(self) -> None:
        """Call fdatasync; stop on failure: the kernel may mark lost pages clean, so a retry would falsely succeed."""
        try:
            disk.fdatasync(self._tail.fd)
        except OSError as error:
            with contextlib.suppress(OSError):
                # A new epoch, so that no head of another process compares as later than this one.
                self._heads.write_as(self.head._replace(epoch=self.head.epoch + 1, flags=FAILED))
            self._stopped = unconfirmed(error.strerror or "")
            raise self._stopped from error

    def _catch_up(self, size: int) -> None:
        shelf, notary = self._shelf, self._notary
        try:
            head = later_head(shelf, notary, self.head, size, offset_of(self.stand.end))
            self.incidents += read_on(shelf, self.stand, head, notary)
        except LedgerError as error:
            self._stopped = error
            raise
        self.stand.settle(min(head.checkpointed, self.stand.size))
        if head.checkpointed > self.noted:
            self.noted = head.checkpointed
            self._wait_for_checkpoint()
        self._heads.take(head, shelf)
        self.stand.end = shelf.segments.onward(self.stand.end)
        segment = segment_of(self.stand.end)
        if segment != self._segment:
            self._go_to(Tail(shelf.segments, segment, roomy=self._durable), segment)

    def _roll(self) -> None:
        """Start a new segment; hash chain and tree continue."""
        if self._shelf.segments.size(self._segment + 1):  # another process was first, unseen by a check still valid
            self._catch_up(-1)
            return
        self._go_to(self._tail.followed_by(self._shelf.segments, offset_of(self.stand.end)), self._segment + 1)
        self.stand.end = position(self._segment, 0)

    def _go_to(self, tail: Tail, segment: int) -> None:
        left, self._tail, self._segment = self._tail, tail, segment
        left.leave()
        self._shelf.views.let_rest()

    def _wait_for_checkpoint(self) -> None:
        self._checkpoint_due = monotonic_ns() + self._shelf.options.checkpoint_s * 1_000_000_000

    def _stop(self, message: str, code: str) -> LedgerError:
        self._stopped = changed(message, code)
        return self._stopped

"""The one who writes: commits records, the head and checkpoints, under the lock that `files.py` holds.

What a commit writes, in this order, and why the order matters:

1. blobs         a record never names a payload that is not there
2. the log       one write for all records of the commit, then fdatasync (durability "fsync")
3. views         so that whatever the head covers stands in its session's view
4. the head      here, then in the mirror; from now on the commit counts, and its callers are told
5. a checkpoint  when 256 records or 10 seconds have passed; the tiles with it

An error before 4 is done takes everything back; an error after it loses nothing but what is derived. A caller who is
told early goes on after 2, and the rest is owed for a moment (`late.py`).
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
    """The end of the journal, held open."""

    def __init__(self, shelf: Shelf, notary: Notary, stand: Stand, head: Head) -> None:
        self._shelf, self._durable, self._notary, self.stand = shelf, shelf.durable, notary, stand
        self._views, self._replaced = shelf.views.opened, shelf.views.replaced
        self._segment_bytes, self._checkpoint_every = shelf.options.segment_bytes, shelf.options.checkpoint_every
        self.noted = head.checkpointed
        """Records that the latest checkpoint covers, as far as this process knows."""
        self.incidents: list[Incident] = []
        """To be recorded with the next commit."""
        self._heads = Heads(shelf, notary, head, self.incidents)
        self._stopped: LedgerError | None = None
        self._fresh = 0
        self.late: Late | None = None
        """What the last commit owes."""
        self.commit_early = partial(self.commit_one, early=True)
        stand.end = shelf.segments.onward(stand.end)
        self._segment = segment_of(stand.end)
        self._tail = Tail(shelf.segments, self._segment, roomy=self._durable)
        self._checkpoint_due = 0
        self._wait_for_checkpoint()

    def current(self) -> None:
        """Make sure that the journal is what this process left, or catch up with what others added.

        Raises:
            LedgerUnwritable: It was made read-only, or an fsync failed.
            LedgerDamaged: It was deleted, replaced, cut or damaged; nothing more is taken.
        """
        # A glance before the tool ran saves one now, but only once, and not for long.
        fresh, self._fresh = monotonic_ns() < self._fresh, 0
        size = None if fresh and self._stopped is None else self._look()
        if self.late is not None:
            self.settle()
        # Whatever another process adds stands behind our end, or begins the next file and seals this one; by the time
        # it lets go of the lock, no glance from before the seal holds any more.
        if not self._tail.ends_at(self.stand.end & OFFSET, size):
            self._catch_up(self._look())
        self._shelf.views.current()

    def settle(self) -> None:
        """Write what the last commit owes. Raises OSError if that cannot be; it is owed still."""
        if self.late is not None:
            settle(self.late, self._tail, self._heads, self._shelf)
            self.late = None

    def glance(self) -> None:
        """Whether the file that is written to is still there and can be; raises as `current` does."""
        now = monotonic_ns()
        self._fresh = now + GLANCE_NS if self._look() >= 0 else 0

    def unmoved(self) -> bool:
        """Whether nobody has added to the log since this process did, by one look; False: find out with `current`."""
        settled = self._stopped is None and self.late is None
        return settled and self._tail.still_ends_at(self.stand.end & OFFSET)

    def _look(self) -> int:
        """The size of the file that is written to."""
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
        """Seal and store records, after those that report incidents."""
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
        """Look and commit in one, when there is one record and nothing unusual; None: go the general way.

        Steps 2 to 4 are written out here: this is what nearly every call comes to.
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
                    raise OSError  # noqa: TRY301 - the general way knows what to do
        except OSError as error:
            if not take_back(self._shelf, tail, offset, (), (record,)):
                raise unwritable(error) from error
            self._store([record], [line], leaf)
        stand.follow(leaf, start, end, record)
        return record

    def _as_usual(self, size: int, offset: int, *, early: bool) -> bool:
        """Whether a record can be added here, with nothing else to be done."""
        now = monotonic_ns()  # before the look: what happens during it must not count as seen
        fresh = now < self._fresh
        if not early:
            self._fresh = 0  # it holds once; for who is told early, as long as it holds
        if (
            self._stopped is not None
            or self.late is not None
            or self.incidents
            or offset >= self._segment_bytes
            or size + 1 - self.noted >= self._checkpoint_every
            or now >= self._checkpoint_due
            or not self._tail.ends_at(offset, None if fresh else self._look())
            or not (early or lseek(self._replaced, 0, SEEK_END) == self._shelf.views.known)  # `settle` looks, if early
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
        """Write tiles and a signed note; a full disk only puts it off."""
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
            # A view that is wrong, and not marked as such, is looked at again by whoever opens the journal next.
            covered = self.head.checkpointed if self._shelf.views.unmarked else stand.size
            self._heads.write_as(Head(self.head.epoch, stand.size, covered, 0, stand.end, stand.leaf))
        except OSError:
            return None
        self._shelf.witnesses.send(note)
        return note

    def tick(self) -> None:
        """Write them if records were added since the last ones."""
        if self.noted != self.stand.size:
            self.try_checkpoint()

    def in_place(self) -> bool:
        """Whether folder and head are still where they were; if not, nothing more is taken."""
        # The log's own file is looked at with every commit; this, which costs more, now and then.
        if not self._shelf.head.in_place():
            self._stop("The journal's folder or head was moved or replaced while in use.", "journal_replaced")
        return self._stopped is None

    def put_head(self) -> None:
        """Write the head for what stands in the log now."""
        self._heads.write(self.stand.size, self.stand.end, self.stand.leaf)

    def close(self) -> None:
        """Let go of the log, and of the room behind it."""
        if self._stopped is None:
            with contextlib.suppress(OSError):
                self._tail.trim(offset_of(self.stand.end))
        self._tail.close()

    def _store(self, sealed: Sequence[SignedRecord], lines: Sequence[bytes], leaf: bytes) -> None:
        """Steps 1 to 4; all or nothing."""
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
        """After a failed fsync the kernel may call lost pages clean: a second try would lie."""
        try:
            disk.fdatasync(self._tail.fd)
        except OSError as error:
            with contextlib.suppress(OSError):
                # A new epoch, so that no head of another process counts as later than this one.
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
        """Begin a new segment; chain and tree go on."""
        if self._shelf.segments.size(self._segment + 1):  # another was first, and a glance that still held missed it
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

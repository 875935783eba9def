"""The journal in PostgreSQL: implements `gate/record/journal.py` for several nodes that append to one log.

A commit is one transaction: it locks the row of the head, signs the batch for the places behind it, stores the records
and moves the head. Records are acknowledged after COMMIT, which waits for the disk. The head moves only from the size
and leaf that were signed for and a sequence number is unique, so no two nodes can continue the same record.

When the connection is lost during COMMIT, the next one waits for the head's lock, so that the server has decided, and
looks whether the records are there.
"""

import contextlib
import time
from collections import deque
from collections.abc import Sequence
from typing import Any

from tallystick.errors import ConfigError, LedgerDamaged, LedgerError, LedgerUnwritable
from tallystick.gate.record.journal import ZERO, Incident, JustWritten, Notary, Place, SignedRecord
from tallystick.gate.record.payload import ERASED
from tallystick.gate.record.tree import leaf_hash, root_at
from tallystick.storage.journal.forks import tell_children
from tallystick.storage.journal.head import Head, pack, unpack
from tallystick.storage.journal.journal_files import Options
from tallystick.storage.journal.journal_tail import HANDY, RECENT
from tallystick.storage.journal.log_reader import parse_header
from tallystick.storage.journal.witnesses import Witnesses
from tallystick.storage.shared_journal import head_row
from tallystick.storage.shared_journal.head_row import HeadRow
from tallystick.storage.shared_journal.link import Connection, Link, away
from tallystick.storage.shared_journal.mirror import Mirror, rolled_back
from tallystick.storage.shared_journal.record_rows import RecordRows
from tallystick.storage.shared_journal.tree_rows import TreeRows

_SECOND = 1_000_000_000
_DECIDED_S, _PAUSE_S = 6.0, 0.2
"""How long to look for the end of a commit without an answer, and the pause between two looks."""
_REFUSE_S = 1.0
"""How long calls are refused at once after the database was found away."""


class PostgresJournal(RecordRows):
    """An append-only, hash-chained log in a database that several nodes share."""

    def __init__(self, conninfo: str, options: Options) -> None:
        super().__init__(conninfo)
        self._options = options
        self._writing = Link(conninfo, "journal")
        self._mirror = Mirror(options.mirror)
        self._witnesses = Witnesses(options.witnesses)
        self._notary: Notary | None = None
        self._tree = TreeRows()
        self._stopped: LedgerError | None = None
        self._depth = 0
        self._held: HeadRow | None = None
        """The locked head; None when nothing is locked or after its transaction has ended."""
        self._incidents: list[Incident] = []
        self._before: list[SignedRecord] = []
        """Records of incidents, stored with the next ones."""
        self._size, self._leaf, self._rotated = 0, ZERO, -1
        self._due_ns = time.monotonic_ns() + options.checkpoint_s * _SECOND
        self._away_until = 0.0
        self._rebuilt = False
        self._recent: deque[JustWritten] = deque(maxlen=RECENT)
        tell_children(self)

    # -- open and close ------------------------------------------------------------------------------------------------

    def attach(self, notary: Notary) -> None:
        """Open for appending: compare the database with this node's keys, its mirror and the latest checkpoint."""
        self._notary = notary
        notary.renew()
        try:
            slot = pack(Head(), notary.keys)
            with self._writing.use() as connection:
                connection.execute(
                    "INSERT INTO tally_head (size, leaf, slot, stamp) VALUES (0, %s, %s, '') ON CONFLICT DO NOTHING",
                    (ZERO, slot),
                )
            mirrored = self._mirror.read(notary.keys)
            self._size, self._leaf = (0, ZERO) if mirrored is None else (mirrored.size, mirrored.leaf)
            notary.witness({"timestamp": self._last_stamp()})
            self.lock()
            try:
                self._compare_checkpoint()
            finally:
                self.unlock()
        except BaseException:
            self.close()
            raise

    def _last_stamp(self) -> str:
        rows = self._query("SELECT stamp FROM tally_head", ())
        return str(rows[0][0]) if rows else ""

    def _compare_checkpoint(self) -> None:
        """Check that the tree is the one of the latest checkpoint; rebuild its stored hashes once if it is not."""
        row = self._ask("SELECT note FROM tally_checkpoints ORDER BY number DESC LIMIT 1")
        signed = None if not row or self._notary is None else self._notary.checkpoint_holds(bytes(row[0][0]))
        if signed is None or self._held is None:
            return
        if signed[0] > self._held.size:
            message = f"The journal holds {self._held.size} records, its latest checkpoint covers {signed[0]}."
            raise rolled_back(f"{message} It was rolled back.")
        for _ in range(2):
            with contextlib.suppress(IndexError):
                if (
                    root_at(signed[0], lambda level, index: self._tree.node(level, index, self._locked_query))
                    == signed[1]
                ):
                    return
            self._rebuild()
        raise LedgerDamaged("The journal does not match its checkpoint. Run `tally audit verify`.", code="tree_differs")

    def close(self) -> None:
        """Write a last checkpoint and close the connections; a second call does nothing."""
        if self._closed:
            return
        self.tick()
        self._closed = True
        self._witnesses.finish()
        for link in (self._writing, self._reading):
            with link.lock:
                link.drop()
        self._mirror.close()

    def mark_forked(self) -> None:
        """Begin without the parent's lock in a forked child."""
        self._depth, self._held = 0, None

    # -- a commit ------------------------------------------------------------------------------------------------------

    def lock(self, *, early: bool = False) -> Place:  # noqa: ARG002 - a commit has nothing to defer
        """Lock the head in a new transaction and return the place of the next record."""
        link = self._writing
        link.lock.acquire()
        self._depth += 1
        try:
            if self._held is None or self._depth == 1:
                self._held = self._take()
                self._prepare_incidents()
        except BaseException:
            self.unlock()
            raise
        last = self._before[-1].leaf if self._before else self._held.leaf
        return self._held.size + len(self._before), last

    def _take(self) -> HeadRow:
        """Begin a transaction that holds the head, and compare it with what this node knows."""
        if self._closed:
            raise LedgerError("The ledger is closed.", code="ledger_closed")
        if self._stopped is not None:
            raise self._stopped

        def begin(connection: Connection) -> tuple[Any, ...] | None:
            # One simple query: the messages that end a pipeline would also end the server's timeout for idle nodes.
            found = connection.execute(head_row.TAKE % (self._size - 1), prepare=False)
            found.nextset()
            return found.fetchone()

        row = self._writing.retried(begin)
        if row is None:
            raise self._stop("The journal's head is gone.", "head_missing")
        size, leaf, slot, stamp, rotated, moved, mine = row
        if moved:
            message = "The journal was moved out of this database. Set storage.journal to where it is now."
            raise LedgerUnwritable(message, code="journal_moved")
        head = self._opened(slot)
        self._compare(head, size, leaf, mine)
        if rotated != self._rotated:
            self._take_keys(rotated)
        if size != self._size:
            self._follow(size, leaf, slot, stamp)
        return HeadRow(size, leaf, head, rotated)

    def _compare(self, head: Head, size: int, leaf: bytes, mine: bytes | None) -> None:
        """Compare the row of the head with its MAC and with what this node has seen."""
        if (head.size, head.leaf) != (size, leaf):
            raise self._stop("The journal's head was changed by hand.", "head_differs")
        if size < self._size:
            message = f"The journal holds {size} records, this node has seen {self._size}."
            raise self._stop(message, "journal_rolled_back")
        if self._size and mine != self._leaf:
            raise self._stop("The journal is not the one that this node has seen.", "head_differs")

    def _take_keys(self, rotated: int) -> None:
        """Activate the keys of the latest rotation, which another process has recorded.

        Raises:
            LedgerUnwritable: This node does not have them.
        """
        columns, notary = self.get(rotated), self._notary
        header = {} if columns is None else parse_header(columns[0]) or {}
        if notary is not None and header:
            notary.witness(header)
            if notary.keys.active().key_id != header.get("context", {}).get("new_key"):
                raise LedgerUnwritable(head_row.NO_KEY, code="key_missing")
        self._rotated = rotated

    def _opened(self, slot: bytes) -> Head:
        """Return the head in a slot; the keys are read again if they do not know it."""
        if self._notary is None:
            raise LedgerError("The ledger is closed.", code="ledger_closed")
        head = unpack(slot, self._notary.keys)
        if head is None:
            self._notary.renew()
            head = unpack(slot, self._notary.keys)
        if head is None:
            raise LedgerUnwritable(head_row.NO_KEY, code="key_missing")
        return head

    def _follow(self, size: int, leaf: bytes, slot: bytes, stamp: str) -> None:
        """Take over that other nodes have appended."""
        self._recent.clear()
        if self._notary is not None:
            self._notary.witness({"timestamp": stamp})
        self._size, self._leaf = size, leaf
        self._mirror.write(slot)

    def _prepare_incidents(self) -> None:
        """Sign the records of pending incidents, to be stored before the next ones."""
        self._incidents += self._mirror.incidents
        self._mirror.incidents.clear()
        if self._held is None or self._notary is None:
            return
        self._before, place = [], (self._held.size, self._held.leaf)
        for incident in self._incidents:
            self._before.append(self._notary.recovery(incident)(place))
            place = place[0] + 1, self._before[-1].leaf

    def write(self, records: Sequence[SignedRecord], *, early: bool = False) -> None:  # noqa: ARG002 - as above
        """Store signed records; they are durable when this returns."""
        held, notary = self._held, self._notary
        if held is None or notary is None:
            raise LedgerError("The ledger is closed.", code="ledger_closed")
        reported, every = len(self._incidents), [*self._before, *records]
        size, leaf = held.size + len(every), every[-1].leaf
        stamp = str((parse_header(every[-1].header) or {}).get("timestamp", ""))
        rotations = [seq for seq, record in enumerate(every, held.size) if head_row.ROTATION in record.header]
        rotated = rotations[-1] if rotations else held.rotated
        slot = pack(held.head._replace(size=size, leaf=leaf, end=0), notary.keys)
        self._held = None
        self._store(held, every, (size, leaf, slot, stamp, rotated))
        del self._incidents[:reported]
        self._before = []
        self._size, self._leaf, self._rotated = size, leaf, rotated
        for record in every:
            self._remember(record)
        self._mirror.write(slot)
        if size - held.head.checkpointed >= self._options.checkpoint_every or time.monotonic_ns() >= self._due_ns:
            with contextlib.suppress(LedgerError):
                self._checkpoint(new=True)

    def _store(self, held: HeadRow, records: Sequence[SignedRecord], head: tuple[int, bytes, bytes, str, int]) -> None:
        seqs = list(range(held.size, held.size + len(records)))
        columns = (
            [record.session_id for record in records], [record.leaf for record in records],
            [record.header for record in records], [record.inputs for record in records],
            [record.outputs for record in records],
        )  # fmt: skip
        try:
            with self._writing.use() as connection, connection.pipeline():
                for digest, data in (blob for record in records for blob in record.blobs):
                    connection.execute(head_row.STORE_BLOB, (digest, data))
                stored = connection.execute(head_row.STORE, (*head, held.size, held.leaf, seqs, *columns))
                connection.execute("COMMIT")
        except LedgerUnwritable as error:
            if not self._was_stored(head[0] - 1, head[1]):
                raise
            del error
        else:
            if stored.rowcount != len(records):
                raise self._stop("The journal's head moved while it was locked.", "head_differs")

    def _was_stored(self, seq: int, leaf: bytes) -> bool:
        """Return whether a commit without an answer took effect; waits until the server has decided."""

        def look(connection: Connection) -> bool:
            with connection.transaction():
                connection.execute("SELECT 1 FROM tally_head FOR UPDATE")
                row = connection.execute("SELECT leaf FROM tally_records WHERE seq = %s", (seq,)).fetchone()
            return row is not None and bytes(row[0]) == leaf

        end = time.monotonic() + _DECIDED_S
        while True:
            try:
                return bool(self._writing.retried(look))
            except LedgerUnwritable as error:
                if time.monotonic() < end:
                    time.sleep(_PAUSE_S)
                    continue
                message = (
                    "The database was lost during a commit: the record may be stored or not; it is not acknowledged."
                )
                raise LedgerUnwritable(message, code="ledger_in_doubt") from error

    def _remember(self, record: SignedRecord) -> None:
        if len(record.inputs) > HANDY:
            self._recent.clear()
        else:
            self._recent.append((record.header, record.inputs, record.receipt_id, record.summary))

    def unlock(self) -> None:
        """End the transaction if nothing was written, and let others in."""
        self._depth -= 1
        if self._depth == 0:
            if self._held is not None:
                self._held = None
                self._roll_back()
            elif self._writing.in_transaction():
                self._roll_back()
        self._writing.lock.release()

    def _roll_back(self) -> None:
        with contextlib.suppress(LedgerError), self._writing.use() as connection:
            connection.execute("ROLLBACK")

    def settle(self) -> None:
        """Do nothing: a commit defers nothing."""

    def _stop(self, message: str, code: str) -> LedgerError:
        self._stopped = LedgerDamaged(f"{message} Run `tally audit verify`, then restart.", code=code)
        return self._stopped

    # -- checkpoints ---------------------------------------------------------------------------------------------------

    def checkpoint(self) -> bytes:
        """Return a signed note over all records stored so far."""
        return self._checkpoint()

    def tick(self) -> None:
        """Write a checkpoint if records were added since the last one."""
        with contextlib.suppress(LedgerError, ConfigError):
            self._checkpoint(new=True)

    def _checkpoint(self, *, new: bool = False) -> bytes:
        """Write tree and note for the current size, unless there is a note for it; `new`: only if there are records."""
        self._due_ns = time.monotonic_ns() + self._options.checkpoint_s * _SECOND
        self.lock()
        try:
            held, notary = self._held, self._notary
            if held is None or notary is None:
                raise LedgerError("The ledger is closed.", code="ledger_closed")
            if new and held.size == held.head.checkpointed:
                return b""
            if held.size == held.head.checkpointed:
                rows = self._ask("SELECT note FROM tally_checkpoints ORDER BY number DESC LIMIT 1")
                note = bytes(rows[0][0]) if rows else b""
                signed = notary.checkpoint_holds(note) if note else None
                if signed is not None and signed[0] == held.size:
                    return note
            note, slot = self._signed_note(held, notary)
        finally:
            self.unlock()
        self._mirror.write(slot)
        self._mirror.keep_note(note)
        self._witnesses.send(note)
        self._incidents += self._witnesses.reports()
        return note

    def _signed_note(self, held: HeadRow, notary: Notary) -> tuple[bytes, bytes]:
        self._tree.extend(held.head.checkpointed, held.size, self._locked_query)
        note = notary.checkpoint(held.size, self._tree.root(held.size, self._locked_query))
        head = held.head._replace(size=held.size, leaf=held.leaf, checkpointed=held.size)
        slot = pack(head, notary.keys)
        self._held = None
        with self._writing.use() as connection, connection.pipeline():
            connection.execute("INSERT INTO tally_checkpoints (size, note) VALUES (%s, %s)", (held.size, note))
            connection.execute("UPDATE tally_head SET slot = %s WHERE size = %s", (slot, held.size))
            connection.execute("COMMIT")
        return note, slot

    # -- reading -------------------------------------------------------------------------------------------------------

    def just_written(self, start: int) -> Sequence[JustWritten] | None:
        """Return the records from `start` on from memory, if no other node has written since; None: read them."""
        size = self.size()
        with self._writing.lock:
            behind = size - start
            if size != self._size or behind > len(self._recent):
                return None
            return [self._recent[at] for at in range(-behind, 0)] if behind > 0 else ()

    def _ask(self, text: str) -> list[tuple[Any, ...]]:
        return self._locked_query(text, ())

    def _locked_query(self, text: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        """Query within the transaction that holds the head."""
        with self._writing.use() as connection:
            return connection.execute(text, values, binary=True).fetchall()

    # -- tree, erasure, health -----------------------------------------------------------------------------------------

    def node(self, level: int, index: int) -> bytes:
        """Return the hash of a complete subtree that a checkpoint covers."""
        with self._reading.lock:
            try:
                return self._tree.node(level, index, self._query)
            except IndexError:
                return ZERO  # a hash is missing; the proof does not hold, and the tree is rebuilt

    def rebuild_tree(self) -> bool:
        """Rebuild the stored hashes after a mismatch; only once, because it takes long."""
        if self._rebuilt:
            return False
        self._rebuilt = True
        self.lock()
        try:
            return self._rebuild()
        finally:
            self.unlock()

    def _rebuild(self) -> bool:
        """Compute leaves and subtree roots from the headers; False if the records do not lead to the head."""
        held, leaf = self._held, ZERO
        if held is None:
            return False
        with self._writing.use() as connection:
            for seq, (header, _, _) in enumerate(self._pages(0, held.size)):
                leaf = leaf_hash(header)
                connection.execute(
                    "UPDATE tally_records SET leaf = %s WHERE seq = %s AND leaf <> %s", (leaf, seq, leaf)
                )
            connection.execute("DELETE FROM tally_nodes")
            self._tree.forget()
            self._tree.extend(0, held.size, self._locked_query)
            connection.execute("COMMIT")
        self._held = None
        self._held = self._take()
        return leaf == held.leaf

    def erase(self, seq: int) -> None:
        """Overwrite the payload of one record and delete its blobs; the old row is gone with the next VACUUM."""
        columns = self.get(seq)
        header = None if columns is None else parse_header(columns[0])
        if columns is None or header is None:
            raise LedgerError(f"Record {seq} cannot be read. Run `tally audit verify`.", code="record_unreadable")
        blank = [ERASED.ljust(len(column)) if column else b"" for column in columns[1:]]
        digests = [header[name] for name in ("inputs_digest", "outputs_digest") if name in header]

        def overwrite(connection: Connection) -> None:
            with connection.transaction():
                connection.execute("UPDATE tally_records SET inputs = %s, outputs = %s WHERE seq = %s", (*blank, seq))
                connection.execute("DELETE FROM tally_blobs WHERE digest = ANY(%s)", (digests,))

        with self._writing.lock:
            self._recent.clear()
        try:
            self._reading.retried(overwrite)
        except LedgerUnwritable as error:
            message = f"The payload could not be erased ({error}). Erase it again."
            raise LedgerUnwritable(message, code="erasure_unfinished") from error

    def check_writable(self) -> None:
        """Check without a round trip that the server has not closed the connection; ask it if it has."""
        if self._closed:
            raise LedgerError("The ledger is closed.", code="ledger_closed")
        if self._stopped is not None:
            raise self._stopped
        if self._writing.is_alive() or not self._writing.lock.acquire(blocking=False):
            return  # or a commit is connecting just now
        try:
            if time.monotonic() < self._away_until:
                raise away()
            self._writing.drop()
            self._writing.open()
        except LedgerUnwritable:
            self._away_until = max(self._away_until, time.monotonic() + _REFUSE_S)
            raise
        finally:
            self._writing.lock.release()

    def ready(self) -> str | None:
        """Return None if a record can be written now, else the error code."""
        try:
            self.lock()
            self.unlock()
        except (LedgerError, ConfigError) as error:
            return error.code
        return None

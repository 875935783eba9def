"""The ledger: record and look up receipts, on top of a journal (storage) and keys (signatures).

    receipt = await ledger.record(draft)        durable before this returns (record_sync for scripts and threads)
    ledger.find(receipt_id)                     verified, or None
    ledger.prove(receipt_id)                    an inclusion proof that can be checked without a secret

`storage/ledger.py` opens a ledger. With durability "os" a record is appended at once; with "fsync" callers share one
fsync.
"""

import asyncio
import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from typing import Any

from tallystick.errors import LedgerDamaged, LedgerError
from tallystick.gate.record.clock import Clock, ClockMonitor, SystemClock
from tallystick.gate.record.commit import GroupCommit, append, append_one
from tallystick.gate.record.consistency import Consistency, consistency_fault, make_consistency
from tallystick.gate.record.header_templates import TemplateSigner
from tallystick.gate.record.in_flight import EndedProcess, InFlightCalls, ProcessRegistry, unfinished, unknown_outcome
from tallystick.gate.record.journal import Journal, RecordFactory, SignedRecord
from tallystick.gate.record.maintenance import erase_call, rotate, settle_rotation
from tallystick.gate.record.notary import KeyNotary
from tallystick.gate.record.payload import Followed, just_made, read_receipt
from tallystick.gate.record.portable_receipt import PortableReceipt, erased_by, portable_receipt
from tallystick.gate.record.proof import Proof, make_proof, proof_fault, sound
from tallystick.gate.record.receipt import Draft, Receipt
from tallystick.gate.record.record_signer import RecordSigner, seq_of
from tallystick.gate.record.signing import Keys, signed_header
from tallystick.gate.session import Session
from tallystick.gate.tool import Card

INLINE_BYTES = 65_536


class Ledger:
    """Stores drafts and returns receipts."""

    shared: bool
    """Whether callers share an fsync."""
    ready: Callable[[], None]
    """Quick check before a tool runs, so that no call runs that could not be recorded; raises LedgerError."""
    plain: Callable[[Session, Card, str, bytes, bytes, int, str | None, str | None], RecordFactory | None]
    """RecordFactory of a plain outcome (only tool, policy, payload, `started` link); None: not plain, use `record`."""
    append_one: Callable[[RecordFactory], SignedRecord]
    """Store the record of such a factory at once; used when callers do not share an fsync."""

    def __init__(
        self,
        journal: Journal,
        keys: Keys,
        *,
        grouped: bool,
        registry: ProcessRegistry | None = None,
        clock: Clock | None = None,
        random: Callable[[int], bytes] = os.urandom,
        inline_bytes: int = INLINE_BYTES,
        inline: bool = True,
    ) -> None:
        """Open the journal and recover from a crash if there was one.

        Args:
            journal: Stores the records.
            keys: Sign them.
            grouped: Whether callers share an fsync; else each record is appended at once.
            registry: Knows which processes are alive, to find started calls without an outcome.
            clock: Source of time.
            random: Random bytes, for ids and salts.
            inline_bytes: Payloads larger than this are stored as blobs outside the log line.
            inline: Whether a record may be stored on the event loop itself.

        Raises:
            LedgerDamaged: Damage before the tail, or the journal has fewer records than its head file states.
        """
        monitor = ClockMonitor(clock or SystemClock())
        self._journal, self._keys = journal, keys
        self.ready, self.append_one, self.shared = journal.check_writable, partial(append_one, journal), grouped
        self._signer = RecordSigner(keys, monitor, random, inline=inline_bytes)
        templates = TemplateSigner(self._signer, random, inline=inline_bytes)
        self.plain, self._plain_started = templates.outcome, templates.started
        self._notary = KeyNotary(keys, monitor, self._signer)
        self._in_flight = InFlightCalls(registry)
        journal.attach(self._notary)
        settle_rotation(keys, journal)
        commit = partial(GroupCommit, idle=journal.tick, inline=inline)
        self._group = commit(partial(append, journal), self.append_one) if grouped else None

    @property
    def keys(self) -> Keys:
        """The workspace's keys."""
        return self._keys

    def ack_after_fsync(self) -> None:
        """Acknowledge a record after its fsync, and write the session's view and the head file afterwards.

        Only for callers that do not read these files themselves.
        """
        if self._group is not None:
            self._group.ack_after_fsync(partial(append_one, self._journal, early=True), self._journal.settle)

    async def record(self, draft: Draft) -> Receipt:
        """Store a record; durable (as configured) when this returns. Cancelling the wait does not undo it.

        Raises:
            LedgerUnwritable: Nothing was stored.
            LedgerDamaged: The journal accepts no more records.
            TypeError: The draft holds a float or another value that a header cannot hold.
        """
        header, factory = self._prepare(draft)
        return self._written(draft, header, self._store_inline(factory) or await self._store_queued(factory))

    async def begin(self, session: Session, card: Card, policy_digest: str, inputs: bytes) -> str | None:
        """Store a plain `started` record with these fields only and return its id; None: not plain, use `record`."""
        process = self._in_flight.process(self._journal.size)
        factory = None if process is None else self._plain_started(session, card, policy_digest, inputs, process)
        if factory is None:
            return None
        receipt_id = (self._store_inline(factory) or await self._store_queued(factory)).receipt_id
        self._in_flight.began(receipt_id, seq_of(receipt_id) or 0)
        return receipt_id

    async def store(self, factory: RecordFactory, started: str | None = None) -> str:
        """Store the record of a factory from `plain`, with a shared fsync if so configured; return the receipt id."""
        stored = self._store_inline(factory) or await self._store_queued(factory)
        self._in_flight.ended(started)
        return stored.receipt_id

    def record_sync(self, draft: Draft) -> Receipt:
        """Store a record synchronously, for scripts and threads; otherwise like `record`."""
        header, factory = self._prepare(draft)
        store = self.append_one if self._group is None else self._group.store
        return self._written(draft, header, store(factory))

    def find(self, receipt_id: str) -> Receipt | None:
        """Return the receipt if it exists and verifies, else None."""
        seq = seq_of(receipt_id)
        columns = None if seq is None else self._journal.get(seq)
        receipt = None if columns is None else self._verified(columns)
        return receipt if receipt is not None and receipt.receipt_id == receipt_id else None

    def read(self, start: int = 0, *, about: bytes = b"") -> Iterator[Receipt]:
        """Stream the receipts from a sequence number on; with `about`, only those whose header contains these bytes.

        Raises:
            LedgerDamaged: At the first receipt that does not verify.
        """
        numbered = enumerate(self._journal.read(start), start)
        for seq, columns in ((seq, columns) for seq, columns in numbered if about in columns[0]):
            receipt = self._verified(columns)
            if receipt is None or receipt.seq != seq:
                raise LedgerDamaged(f"Record {seq} does not verify. Run `tally audit verify`.", code="record_invalid")
            yield receipt

    def follow(self, start: int, wanted: Callable[[bytes], bool]) -> Iterable[Followed]:
        """Like `read`, but take records just written from memory where possible; see `just_made` for their content."""
        made = just_made(self._journal.just_written(start), start, wanted)
        return ((receipt.seq, receipt) for receipt in self.read(start)) if made is None else made

    def select(self, start: int, wanted: Callable[[bytes], bool]) -> Iterator[Receipt]:
        """Yield verified receipts from a sequence number on whose header bytes are `wanted`; skip others unparsed."""
        found = (self._verified(columns) for columns in self._journal.read(start) if wanted(columns[0]))
        return (receipt for receipt in found if receipt is not None)

    def session(self, session_id: str, *, start: int = 0, limit: int | None = None) -> Iterator[Receipt]:
        """Yield receipts of one session in order: at most `limit`, after skipping the first `start`."""
        for seq in islice(self._journal.session(session_id), start, None if limit is None else start + limit):
            columns = self._journal.get(seq)
            receipt = None if columns is None else self._verified(columns)
            if receipt is not None and receipt.header.get("session_id") == session_id:
                yield receipt

    def sessions(self) -> list[str]:
        """Return the ids of all sessions that have receipts."""
        return sorted(self._journal.sessions())

    def size(self) -> int:
        """Return the number of records."""
        return self._journal.size()

    def prove(self, receipt_id: str) -> Proof | None:
        """Make an inclusion proof of a receipt for a third party; None if there is no such receipt."""
        seq = seq_of(receipt_id)
        if seq is None or self.find(receipt_id) is None:
            return None
        note, columns = self._journal.checkpoint(), self._journal.get(seq)
        return None if columns is None else self._proof(seq, columns[0], note)

    def prove_consistency(self, old_size: int, new_size: int | None = None) -> Consistency:
        """Prove that the log at `new_size` (default: the current size) extends the log at `old_size`.

        Raises:
            LedgerError: The log never had these sizes.
        """
        make = partial(make_consistency, old_size, new_size, self._journal.checkpoint(), self._journal.node)
        return sound(make, consistency_fault, rebuild=self._journal.rebuild_tree)

    def portable_receipt(self, receipt_id: str) -> PortableReceipt | None:
        """Return a verified receipt in portable form, with blobs inlined; None if there is none."""
        seq, receipt = seq_of(receipt_id), self.find(receipt_id)
        columns = None if seq is None or receipt is None else self._journal.get(seq)
        return None if receipt is None or columns is None else portable_receipt(columns, receipt, self._journal.blob)

    def erasures_of(self, receipt_ids: set[str]) -> list[PortableReceipt]:
        """Return the records of the erasures of these receipts in portable form; reads the log if there are any."""
        if not receipt_ids:
            return []
        start = min(seq for receipt_id in receipt_ids if (seq := seq_of(receipt_id)) is not None)
        found = []
        for columns in self._journal.read(start):
            header = signed_header(columns[0], self._keys) or {}
            if header.get("kind") == "erasure" and erased_by(header) in receipt_ids:
                found.append(PortableReceipt(stored=columns[0], inputs=columns[1], outputs=columns[2]))
        return found

    def path_of(self, carried: PortableReceipt, note: bytes) -> list[bytes]:
        """Return the inclusion path of a record to the root in a checkpoint of this log."""
        return list(self._proof(carried.seq, carried.stored, note).path)

    def checkpoint(self) -> bytes:
        """Return a signed note over all records, to be kept by a witness elsewhere."""
        return self._journal.checkpoint()

    def erase(self, receipt_id: str, *, session: Session, reason: str) -> Receipt:
        """Erase the payload of a receipt; the erasure is itself recorded, and every proof stays valid.

        The arguments of a call are in its outcome and in its `started` record: both are erased.

        Raises:
            LedgerError: There is no such receipt.
            LedgerUnwritable: The erasure is incomplete; retry.
        """
        return erase_call(self, self._journal, receipt_id, session=session, reason=reason)

    def finish_erasure(self, receipt_id: str) -> None:
        """Repeat the erasure of an erased receipt: a failure may have left a blob or a line of the session view."""
        seq = seq_of(receipt_id)
        if seq is not None and (found := self.find(receipt_id)) is not None and found.erased:
            self._journal.erase(seq)

    def accept_loss(self, name: str, *, session: Session, reason: str) -> Receipt:
        """Record that the owner acknowledges a loss of records, by its name in the audit report.

        Audits then report it only as a note.
        """
        context = {"incident": "loss_accepted", "accepted": name, "reason": reason}
        return self.record_sync(Draft(kind="recovery", session=session, context=context))

    def rotate(self, *, session: Session) -> Receipt:
        """Activate new keys; the rotation record is signed with the old key.

        Raises:
            LedgerUnwritable: The new keys could not be stored; if the rotation record was, the next process that opens
                the ledger stores them.
        """
        return rotate(self._keys, self._journal, self._signer, session)

    def unfinished(self) -> list[Receipt]:
        """Return the `started` receipts of ended processes without a recorded outcome."""
        return [Receipt(header=header) for gone in self._in_flight.gone() for header in self._started_by(gone)]

    def recover(self) -> list[Receipt]:
        """Record the outcome `unknown` for all unfinished calls."""
        return self._in_flight.recover(self._started_by, lambda header: self.record_sync(unknown_outcome(header)))

    def keep(self, kind: str, name: str, data: bytes) -> None:
        """Store a policy or tool definition that receipts name by digest (`kind`: policies, tools).

        Raises:
            LedgerUnwritable: It cannot be stored.
        """
        self._journal.keep(kind, name, data)

    def kept(self, kind: str, name: str) -> bytes | None:
        """Return a stored definition; None if there is none."""
        return self._journal.kept(kind, name)

    def tick(self) -> None:
        """Write a checkpoint if one is due; for processes that may be idle for long."""
        self._journal.tick()

    def rebuild_views(self) -> int:
        """Rewrite all session views from the journal; return how many."""
        return self._journal.rebuild_views()

    def obstacle(self) -> str | None:
        """Return None if a record can be stored now, else the error code (for `/health`)."""
        return self._journal.ready()

    def close(self) -> None:
        """Store queued records, write a last checkpoint, and close."""
        if self._group is not None:
            self._group.close()
        self._journal.close()
        self._in_flight.leave()

    def _store_inline(self, factory: RecordFactory) -> SignedRecord | None:
        """Store a record inline; None: others may share its fsync, so use `_store_queued`."""
        return self.append_one(factory) if self._group is None else self._group.store_inline(factory)

    async def _store_queued(self, factory: RecordFactory) -> SignedRecord:
        assert self._group is not None  # noqa: S101 - without a group, `_store_inline` stores the record
        try:
            return await self._group.store_async(factory)
        except (asyncio.CancelledError, GeneratorExit):
            self._in_flight.sure = False  # the record may be stored without its id being known here
            raise
        except LedgerError as error:
            if error.code == "ledger_in_doubt":
                self._in_flight.sure = False  # as above: the database was lost during the commit
            raise

    def _prepare(self, draft: Draft) -> tuple[dict[str, Any], RecordFactory]:
        header, factory = self._signer.prepare(draft)
        if draft.kind == "started" and (process := self._in_flight.process(self._journal.size)) is not None:
            header["links"] = {**header.get("links", {}), "process": process}
        return header, factory

    def _written(self, draft: Draft, header: dict[str, Any], stored: SignedRecord) -> Receipt:
        if draft.kind == "started":
            self._in_flight.began(stored.receipt_id, header["seq"])
        elif draft.links:
            self._in_flight.ended(draft.links.get("started"))
        return Receipt.just_written(header, stored.flat)

    def _verified(self, columns: tuple[bytes, bytes, bytes]) -> Receipt | None:
        header = signed_header(columns[0], self._keys)
        return None if header is None else read_receipt(columns, header, self._journal.blob)

    def _proof(self, seq: int, header: bytes, note: bytes) -> Proof:
        make = partial(make_proof, seq, header, note, self._journal.node)
        return sound(make, lambda proof: proof_fault(proof, None), rebuild=self._journal.rebuild_tree)

    def _started_by(self, gone: EndedProcess) -> list[Any]:
        headers = (signed_header(columns[0], self._keys) or {} for columns in self._journal.read(gone.since))
        return list(unfinished(headers, gone.token))

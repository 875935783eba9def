"""The ports of the store: the journal that keeps the record chain, and the `Notary` that verifies for it.

`storage/journal/` implements the store with files, `storage/shared_journal/` in a database that several
nodes share. The journal handles order, sequence numbers and durability. It never signs and never interprets a header:
for records that it did not write itself, it asks its `Notary`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from tallystick.gate.record.signing import Keys

ZERO = bytes(32)
"""The `prev` of the first record."""


HeaderSummary = tuple[Mapping[str, Any], str]
"""Header fields of a plain record that describe the call, and its timestamp: followers of the log use them instead of
re-reading a record that this process has just written."""
JustWritten = tuple[bytes, bytes, str, HeaderSummary | None]
"""Header, inputs column and id of a record, and its `HeaderSummary` if it is plain."""


class SignedRecord(NamedTuple):
    """One record's bytes, ready to be stored.

    A named tuple, because one is made for every call and it costs a third of a frozen record.
    """

    header: bytes
    """RFC 8785 bytes of the header with its signature: the data of the Merkle leaf."""
    inputs: bytes
    """Salt (32 hex digits) ‖ JSON, or empty; `payload.py` lists the other forms."""
    outputs: bytes
    leaf: bytes
    """SHA-256(0x00 ‖ header)."""
    receipt_id: str
    session_id: str
    flat: bytes
    """The record's line in the session view (the session's own file with its records), with its newline."""
    blobs: tuple[tuple[str, bytes], ...] = ()
    """Payloads stored outside the log line, as (digest, bytes); stored before the record."""
    summary: HeaderSummary | None = None


Place = tuple[int, bytes]
"""Sequence number of the next record, and leaf hash of the previous record (32 zero bytes for the first)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Incident:
    """A fault or event that the journal detected; it is reported in a `recovery` record."""

    what: str
    """torn_tail, acknowledged_lost, head_missing, fsync_failed, mirror_unwritable, witness_unreachable, earlier_log,
    loss_accepted."""
    details: Mapping[str, Any]
    """Integers and text only, because it goes into a signed header."""


RecordFactory = Callable[[Place], SignedRecord]
"""A function that signs a prepared record once its place is known; called once, under the journal's lock."""


class Notary(Protocol):
    """Signs and verifies for a journal; the ledger provides it."""

    keys: Keys
    """The workspace's keys; the journal's head carries a MAC of the active one."""

    def renew(self) -> None:
        """Reload the keys: another process may have rotated them."""
        ...

    def signed(self, header: bytes) -> bool:
        """Return whether a key of this workspace signed this header."""
        ...

    def witness(self, header: Mapping[str, Any]) -> None:
        """Note the time of a record that another process wrote; if it is a key rotation, activate the new keys."""
        ...

    def recovery(self, incident: Incident) -> RecordFactory:
        """Build the record that reports an incident."""
        ...

    def flat(self, header: bytes, inputs: bytes, outputs: bytes) -> tuple[str, bytes]:
        """Return session id and view line of a stored record, so that a lost view can be rebuilt."""
        ...

    def checkpoint(self, size: int, root: bytes) -> bytes:
        """Return the signed note for a tree of this size."""
        ...

    def checkpoint_holds(self, note: bytes) -> tuple[int, bytes] | None:
        """Return size and root of a note that this log signed; None if it did not sign it."""
        ...


class Journal(Protocol):
    """An append-only, chained store of signed records."""

    def attach(self, notary: Notary) -> None:
        """Open for appending: recover from a crash, and record the recovery. Called once, before anything else.

        Raises:
            LedgerDamaged: Damage before the tail, or the journal has fewer records than its head file states.
        """
        ...

    def lock(self, *, early: bool = False) -> Place:
        """Take the journal's lock, catch up with other processes, and return the place of the next record.

        Call `unlock` afterwards, whatever happens in between.

        Args:
            early: The next record will be written with `early`.

        Raises:
            LedgerUnwritable: No record can be written now; the caller may retry, unless an fsync failed.
            LedgerDamaged: The journal no longer has its expected content; it accepts no more records.
        """
        ...

    def write(self, records: Sequence[SignedRecord], *, early: bool = False) -> None:
        """Store records that were signed for consecutive places, starting at the one that `lock` returned.

        They are durable (as configured) when this returns.

        Args:
            records: All are stored, or none.
            early: Return when the record is durable; derived data is written by `settle`. If another process finds the
                record before that, it recovers as after a crash.

        Raises:
            LedgerUnwritable: Nothing was stored; the caller may retry, unless an fsync failed.
        """
        ...

    def unlock(self) -> None:
        """Release the journal's lock."""
        ...

    def settle(self) -> None:
        """Write the derived data of a record that was stored with `early`, if still missing; raises nothing."""
        ...

    def read(self, start: int = 0) -> Iterator[tuple[bytes, bytes, bytes]]:
        """Stream the stored (header, inputs, outputs) columns, starting at a sequence number."""
        ...

    def just_written(self, start: int) -> Sequence[JustWritten] | None:
        """Return all records from a sequence number on, if this process wrote all of them and still has them in memory.

        None: read them instead. The returned records are not erased, and no other process could have changed them.
        """
        ...

    def get(self, seq: int) -> tuple[bytes, bytes, bytes] | None:
        """Return the columns of one record."""
        ...

    def blob(self, digest: str) -> bytes | None:
        """Return salt and payload of a blob."""
        ...

    def size(self) -> int:
        """Return the number of records."""
        ...

    def erase(self, seq: int) -> None:
        """Overwrite the payload columns of one record and delete its blobs; durable when this returns."""
        ...

    def session(self, session_id: str) -> Iterator[int]:
        """Yield the sequence numbers of a session's records, in order."""
        ...

    def sessions(self) -> Iterator[str]:
        """Yield the ids of all sessions that have records."""
        ...

    def node(self, level: int, index: int) -> bytes:
        """Return the hash of the complete subtree over leaves index·2^level … (index+1)·2^level - 1."""
        ...

    def keep(self, kind: str, name: str, data: bytes) -> None:
        """Store a policy or tool definition (`kind`: policies, tools) once; its name contains the content's digest.

        Raises:
            LedgerUnwritable: It cannot be stored.
        """
        ...

    def kept(self, kind: str, name: str) -> bytes | None:
        """Return a stored definition; None if there is none."""
        ...

    def rebuild_tree(self) -> bool:
        """Rebuild the hashes that `node` returns from the records.

        False if already rebuilt, or if the records do not match the signed root.
        """
        ...

    def checkpoint(self) -> bytes:
        """Return a signed note over all stored records (written now unless the latest one covers them)."""
        ...

    def tick(self) -> None:
        """Write a checkpoint if one is due."""
        ...

    def rebuild_views(self) -> int:
        """Rewrite all session views; return how many there are."""
        ...

    def check_writable(self) -> None:
        """Check quickly whether records can be appended; raise what `lock` would raise."""
        ...

    def ready(self) -> str | None:
        """Return None if a record can be appended now, else the error code."""
        ...

    def close(self) -> None:
        """Write a last checkpoint and close the files."""
        ...

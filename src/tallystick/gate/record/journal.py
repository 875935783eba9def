"""The journal's ports: the store of the record chain, and the `Notary` that signs and verifies for it.

`storage/journal/` implements the store with files; a Postgres journal can implement it with one locked row per head.
The journal handles order, sequence numbers and durability. It never signs and never interprets a header: for records
that it did not write itself, it asks its `Notary`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

ZERO = bytes(32)
"""The `prev` of the first record."""


Told = tuple[Mapping[str, Any], str]
"""Header fields of a plain record that describe the call, and its timestamp: followers of the log use them instead of
re-reading a record that this process has just written."""
JustWritten = tuple[bytes, bytes, str, Told | None]
"""Header, inputs column and id of a record, and its `Told` if it is plain."""


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
    """The line of the session view, with its newline."""
    blobs: tuple[tuple[str, bytes], ...] = ()
    """Payloads stored outside the log line, as (digest, bytes); stored before the record."""
    told: Told | None = None


Place = tuple[int, bytes]
"""Sequence number of the next record, and leaf hash of the previous record (32 zero bytes for the first)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Incident:
    """A fault that the journal repaired by itself; the notary makes a `recovery` record of it."""

    what: str
    """torn_tail, acknowledged_lost, head_missing, fsync_failed, mirror_unwritable, witness_unreachable, earlier_log,
    loss_accepted."""
    details: Mapping[str, Any]
    """Integers and text only, because it goes into a signed header."""


Seal = Callable[[Place], SignedRecord]


class Notary(Protocol):
    """Signs and verifies for a journal; the ledger provides it."""

    def renew(self) -> None:
        """Reload the keys: another process may have rotated them."""
        ...

    def signed(self, header: bytes) -> bool:
        """Return whether a key of this workspace signed this header."""
        ...

    def witness(self, header: Mapping[str, Any]) -> None:
        """Process a record that another process wrote: its timestamp, and a key rotation."""
        ...

    def recovery(self, incident: Incident) -> Seal:
        """Build the record that reports an incident."""
        ...

    def flat(self, header: bytes, inputs: bytes, outputs: bytes) -> tuple[str, bytes]:
        """Return session id and view line of a stored record, so that a lost view can be rebuilt."""
        ...

    def head_mac(self, data: bytes) -> tuple[bytes, bytes, bytes]:
        """Return key id (8 bytes), the given head and its MAC: the content of a head slot, in that order."""
        ...

    def head_holds(self, key_id: bytes, data: bytes, mac: bytes) -> bool:
        """Return whether a head has a valid MAC of this workspace."""
        ...

    def checkpoint(self, size: int, root: bytes) -> bytes:
        """Return the signed note for a tree of this size."""
        ...

    def checkpoint_holds(self, note: bytes) -> tuple[int, bytes] | None:
        """Return size and root of a note that this log signed; None if it did not sign it."""
        ...


class Journal(Protocol):
    """An append-only, chained store of sealed records."""

    def attach(self, notary: Notary) -> None:
        """Open for appending: recover from a crash, and record the recovery. Called once, before anything else.

        Raises:
            LedgerDamaged: Damage before the tail, or the journal is older than its head.
        """
        ...

    def append(self, seals: Sequence[Seal], *, after: Callable[[], None] | None = None) -> list[SignedRecord]:
        """Seal and store records in order, under the journal's lock; durable (as configured) when this returns.

        Args:
            seals: Each is called once, with its place.
            after: Called when the records are stored, before the lock is released.

        Raises:
            LedgerUnwritable: Nothing was stored; the caller may retry, unless an fsync failed.
            LedgerDamaged: The journal no longer has its expected content; it accepts no more records.
        """
        ...

    def append_one(self, seal: Seal, *, early: bool = False) -> SignedRecord:
        """Append a single record, the most frequent case.

        Args:
            seal: Called once, with the record's place.
            early: Return when the record is durable; derived data is written by `settle`. If another process finds the
                record before that, it recovers as after a crash.
        """
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

    def rebuild_tree(self) -> bool:
        """Rebuild the hashes behind `node` from the records; False if done before, or the records do not match."""
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

    def glance(self) -> None:
        """Check quickly whether records can be appended; raise what `append` would raise."""
        ...

    def ready(self) -> str | None:
        """Return None if a record can be appended now, else the error code."""
        ...

    def close(self) -> None:
        """Write a last checkpoint and close the files."""
        ...

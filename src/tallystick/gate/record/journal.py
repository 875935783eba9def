"""The ports of the journal: what a store must do to keep a chain, and what it may ask back.

`storage/journal/` satisfies them with files; a Postgres journal can satisfy them with one locked row per head. The
journal knows order, place and durability. It never signs and never reads a header's meaning: what it must know of a
record that it did not itself write, it asks its `Notary`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

ZERO = bytes(32)
"""What the first record's `prev` points to."""


Told = tuple[Mapping[str, Any], str]
"""Of a plain record what its header says of the call, and its timestamp: for who follows the log, and need not read
what this process has just written."""
JustWritten = tuple[bytes, bytes, str, Told | None]
"""Header, inputs column and id of a record, and what is told of it."""


class Sealed(NamedTuple):
    """One record's bytes, ready to be stored.

    A named tuple: one is made for every call, at a third of the cost of a frozen record.
    """

    header: bytes
    """RFC 8785 bytes of the header, signature included: the Merkle leaf's data."""
    inputs: bytes
    """Salt (32 hex digits) ‖ JSON, or empty; see `payload.py` for the other forms."""
    outputs: bytes
    leaf: bytes
    """SHA-256(0x00 ‖ header)."""
    receipt_id: str
    session_id: str
    flat: bytes
    """The line of the session view, with its newline."""
    blobs: tuple[tuple[str, bytes], ...] = ()
    """Payloads that lie beside the log: digest and bytes; stored before the record."""
    told: Told | None = None


Place = tuple[int, bytes]
"""Where the next record goes: its sequence number, and the leaf hash of the record before (32 zero bytes at first)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Incident:
    """Something the journal had to put right by itself; the notary makes a `recovery` record of it."""

    what: str
    """torn_tail, acknowledged_lost, head_missing, fsync_failed, mirror_unwritable, witness_unreachable, earlier_log,
    loss_accepted."""
    details: Mapping[str, Any]
    """Integers and text only: it goes into a signed header."""


Seal = Callable[[Place], Sealed]


class Notary(Protocol):
    """What a journal asks about records; the ledger answers."""

    def renew(self) -> None:
        """Read the keys again: another process may have rotated them."""
        ...

    def signed(self, header: bytes) -> bool:
        """Whether a key that may sign here signed this header."""
        ...

    def witness(self, header: Mapping[str, Any]) -> None:
        """Take note of a record that another process wrote (its time; a rotated key)."""
        ...

    def recovery(self, incident: Incident) -> Seal:
        """The record that reports an incident."""
        ...

    def flat(self, header: bytes, inputs: bytes, outputs: bytes) -> tuple[str, bytes]:
        """Session id and view line of a stored record, so that a lost view can be written again."""
        ...

    def head_mac(self, data: bytes) -> tuple[bytes, bytes, bytes]:
        """Key id (8 bytes), the head as it was given, and its MAC: what stands in a slot, in that order."""
        ...

    def head_holds(self, key_id: bytes, data: bytes, mac: bytes) -> bool:
        """Whether a head was written with a key of this workspace."""
        ...

    def checkpoint(self, size: int, root: bytes) -> bytes:
        """The signed note for a tree of this size."""
        ...

    def checkpoint_holds(self, note: bytes) -> tuple[int, bytes] | None:
        """Size and root of a note that this log signed; None: it did not."""
        ...


class Journal(Protocol):
    """An append-only, chained store of sealed records."""

    def attach(self, notary: Notary) -> None:
        """Open for appending: recover what a crash left, and report it. Called once, before anything else.

        Raises:
            LedgerDamaged: Damage before the tail, or the journal is older than its head.
        """
        ...

    def append(self, seals: Sequence[Seal], *, after: Callable[[], None] | None = None) -> list[Sealed]:
        """Seal and store records in order, under the one lock; durable (as configured) when this returns.

        Args:
            seals: Each is called once, with its place.
            after: Called when the records are stored, before anybody else can append.

        Raises:
            LedgerUnwritable: Nothing was stored; the next call may try again, unless an fsync failed.
            LedgerDamaged: The journal is not what it was; it takes no more.
        """
        ...

    def append_one(self, seal: Seal, *, early: bool = False) -> Sealed:
        """`append` for a single record, which is what most calls need.

        Args:
            seal: Called once, with the record's place.
            early: The caller waits for the record alone; what is derived from it follows with `settle`. A process that
                finds it before that takes it over as it would after a crash.
        """
        ...

    def settle(self) -> None:
        """Write what is derived from a record that was stored early, if nobody has; raises nothing."""
        ...

    def read(self, start: int = 0) -> Iterator[tuple[bytes, bytes, bytes]]:
        """Stream (header, inputs, outputs) columns from a sequence number on, as they are stored."""
        ...

    def just_written(self, start: int) -> Sequence[JustWritten] | None:
        """All records from a sequence number on, if this process made every one of them and still has them in memory.

        None: they must be read. Nothing of what it gives was erased, and nobody but this process had it in hand.
        """
        ...

    def get(self, seq: int) -> tuple[bytes, bytes, bytes] | None:
        """The columns of one record."""
        ...

    def blob(self, digest: str) -> bytes | None:
        """Salt and payload that lie beside the log."""
        ...

    def size(self) -> int:
        """How many records there are."""
        ...

    def erase(self, seq: int) -> None:
        """Overwrite the payload columns of one record and delete its blobs; durable when this returns."""
        ...

    def session(self, session_id: str) -> Iterator[int]:
        """Sequence numbers of a session's records, in order."""
        ...

    def sessions(self) -> Iterator[str]:
        """Ids of all sessions that have records."""
        ...

    def node(self, level: int, index: int) -> bytes:
        """Hash of the complete subtree over leaves index·2^level … (index+1)·2^level - 1."""
        ...

    def rebuild_tree(self) -> bool:
        """Build what `node` gives again from the records; False if that was done before, or they do not fit."""
        ...

    def checkpoint(self) -> bytes:
        """A signed note over everything stored so far (written now unless the latest one covers it)."""
        ...

    def tick(self) -> None:
        """Write a checkpoint if one is due."""
        ...

    def rebuild_views(self) -> int:
        """Write all session views anew; how many there are."""
        ...

    def glance(self) -> None:
        """A quick look whether records can be taken; raises what `append` would."""
        ...

    def ready(self) -> str | None:
        """None if it can take a record now; else the code of what stands in the way."""
        ...

    def close(self) -> None:
        """Write a last checkpoint and let go of the files."""
        ...

"""The port of the journal: what a store must do to keep a chain.

`storage/journal/` satisfies it with files; a Postgres journal can satisfy it with one locked row per head. The
journal knows order, place and durability; it never signs and never reads a header's meaning.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, kw_only=True, slots=True)
class Sealed:
    """One record's bytes, ready to be stored."""

    header: bytes
    """RFC 8785 bytes of the header, signature included: the Merkle leaf's data."""
    inputs: bytes
    """Salt (32 hex digits) ‖ JSON, or empty."""
    outputs: bytes
    leaf: bytes
    """SHA-256(0x00 ‖ header)."""
    receipt_id: str
    session_id: str
    flat: bytes
    """The line of the session view, with its newline."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where the next record goes."""

    seq: int
    prev: bytes
    """Leaf hash of the record before (32 zero bytes at the start)."""




class Journal(Protocol):
    """An append-only, chained store of sealed records."""

    def append(self, seals: Sequence[Callable[[Place], Sealed]]) -> list[Sealed]:
        """Seal and store records in order, under the one lock; durable (as configured) when this returns.

        Raises:
            LedgerUnwritable: Nothing was stored; the next call may try again, unless an fsync failed.
            LedgerDamaged: The journal is not what it was; it takes no more.
        """
        ...

    def read(self, start: int = 0) -> Iterator[tuple[bytes, bytes, bytes]]:
        """Stream (header, inputs, outputs) columns from a sequence number on."""
        ...

    def get(self, seq: int) -> tuple[bytes, bytes, bytes] | None:
        """The columns of one record."""
        ...

    def size(self) -> int:
        """How many records there are."""
        ...

    def close(self) -> None:
        """Write a last checkpoint and let go of the files."""
        ...

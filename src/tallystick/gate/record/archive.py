"""The read-only port of an audit: all stored data of a log."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, kw_only=True, slots=True)
class HeadClaim:
    """The content of a head: the size of the log and its last leaf."""

    source: str
    """head, mirror, or the name of a copy supplied from outside."""
    size: int
    leaf: bytes
    key_id: str
    """Id of the key that made its MAC."""


class Archive(Protocol):
    """A log at rest, or a snapshot of one that other processes are appending to."""

    def heads(self) -> list[HeadClaim]:
        """Return the heads with a valid MAC of this workspace."""
        ...

    def earlier(self) -> list[str]:
        """Return the names under which the mirror keeps earlier, non-empty logs of this workspace."""
        ...

    def missing_heads(self) -> list[str]:
        """Return where a valid head was expected but not found: head, mirror."""
        ...

    def lines(self) -> Iterator[list[bytes]]:
        """Yield all lines of the snapshot, without their newlines, in batches."""
        ...

    def later_lines(self) -> Iterator[bytes]:
        """Yield complete lines appended since the snapshot."""
        ...

    def torn(self) -> int:
        """Return how many bytes at the end of the snapshot do not form a complete line."""
        ...

    def notes(self) -> Iterator[bytes]:
        """Yield all checkpoints in the order in which they were written."""
        ...

    def mirrored_note(self) -> bytes | None:
        """Return the latest checkpoint in the mirror's folder."""
        ...

    def witnessed(self) -> Iterator[bytes]:
        """Yield the checkpoints kept by reachable witnesses; some may belong to other logs."""
        ...

    def blob(self, digest: str) -> bytes | None:
        """Return a payload that is stored outside the log line."""
        ...

    def view_has(self, session_id: str, line: bytes) -> bool:
        """Return whether this line comes next in a session's view."""
        ...

    def other_views(self, size: int) -> Iterator[str]:
        """Yield sessions whose view holds lines that `view_has` never asked for, except records from `size` on."""
        ...

    def view_again(self, session_id: str) -> None:
        """Restart a session's view from its first line (it may have been rewritten meanwhile)."""
        ...

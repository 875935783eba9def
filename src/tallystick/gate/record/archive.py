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
    checkpointed: int = 0
    """Number of records that the latest checkpoint covers."""


class LogArchive(Protocol):
    """A log that no process is writing to, or a snapshot of one that other processes are appending to."""

    def heads(self) -> list[HeadClaim]:
        """Return the heads with a valid MAC of this workspace."""
        ...

    def earlier(self) -> list[str]:
        """Return the names of earlier, non-empty logs whose heads the mirror (copy outside the workspace) contains."""
        ...

    def head_faults(self) -> list[str]:
        """Return the codes of what is wrong with the head files: head_missing, mirror_missing, mirror_behind."""
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

    def definition(self, kind: str, digest: str) -> bytes | None:
        """Return the stored policy or tool definition (`kind`: policies, tools) with this digest; None if missing."""
        ...

    def view_has(self, session_id: str, line: bytes) -> bool:
        """Return whether this is the next line of a session's view (the session's own file); if so, advance past it."""
        ...

    def other_views(self, size: int) -> Iterator[str]:
        """Yield the sessions whose view contains lines that were never passed to `view_has`.

        Lines of records with a sequence number of `size` or more do not count: they are newer than the snapshot.
        """
        ...

    def close(self) -> None:
        """Release what the archive holds open."""
        ...

    def view_again(self, session_id: str) -> None:
        """Read a session's view from its first line again, because it may have been rewritten in the meantime."""
        ...

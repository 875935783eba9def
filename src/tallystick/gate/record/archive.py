"""The port of an audit: everything a log has left behind, to be read and compared. Nothing is written through it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, kw_only=True, slots=True)
class HeadClaim:
    """What a head says: how long the log was, and how it ended."""

    source: str
    """head, mirror, or the name of a copy that was given from outside."""
    size: int
    leaf: bytes
    key_id: str
    """Of the key whose MAC it bears."""


class Archive(Protocol):
    """A log at rest, or a moment of one that others are writing to."""

    def heads(self) -> list[HeadClaim]:
        """The heads that bear a MAC of this workspace."""
        ...

    def earlier(self) -> list[str]:
        """Logs that were here before this one and held something, by the name that the mirror keeps them under."""
        ...

    def missing_heads(self) -> list[str]:
        """Where a head was expected and none holds: head, mirror."""
        ...

    def lines(self) -> Iterator[list[bytes]]:
        """All lines of the log at that moment, without their newlines, in batches."""
        ...

    def later_lines(self) -> Iterator[bytes]:
        """Whole lines that were added since."""
        ...

    def torn(self) -> int:
        """Bytes at the end of the log, at that moment, that are no whole line."""
        ...

    def notes(self) -> Iterator[bytes]:
        """All checkpoints, in the order in which they were written."""
        ...

    def mirrored_note(self) -> bytes | None:
        """The latest checkpoint in the mirror's folder."""
        ...

    def witnessed(self) -> Iterator[bytes]:
        """The checkpoints that witnesses within reach kept, perhaps those of other logs among them."""
        ...

    def blob(self, digest: str) -> bytes | None:
        """A payload that lies beside the log."""
        ...

    def view_has(self, session_id: str, line: bytes) -> bool:
        """Whether this line comes next in a session's view."""
        ...

    def other_views(self, size: int) -> Iterator[str]:
        """Sessions whose view holds more than was asked for, other than records from `size` on."""
        ...

    def view_again(self, session_id: str) -> None:
        """Begin a session's view from its first line again (it may just have been written anew)."""
        ...

"""Writes the head to workspace and mirror with every commit."""

import os

from tallystick.gate.record.journal import Incident, Notary
from tallystick.storage.journal import disk
from tallystick.storage.journal.head import SLOT, STRIDE, Head, pack
from tallystick.storage.journal.shelf import Shelf


class Heads:
    """The head as this process last wrote or read it, and the two slots it alternates between."""

    def __init__(self, shelf: Shelf, notary: Notary, head: Head, incidents: list[Incident]) -> None:
        self._fd = shelf.head.fd
        self._mirror = shelf.mirror
        self._notary = notary
        self._incidents = incidents
        self._mirror_reported = False
        self._at = shelf.head.newest_at(notary)
        self._slots = self._read(self._at), self._read(STRIDE - self._at)
        """Contents of the newest slot and of the older one, which the next head overwrites."""
        self._head: tuple[int, int, int, int, int, bytes] = head

    @property
    def head(self) -> Head:
        """The head as this process last wrote or read it."""
        return Head._make(self._head)

    def take(self, head: Head, shelf: Shelf) -> None:
        """Adopt a head that another process has written."""
        self._head, self._at = head, shelf.head.newest_at(self._notary)
        self._slots = self._read(self._at), self._read(STRIDE - self._at)

    def covered(self, shelf: Shelf, size: int) -> bool:
        """Return whether another process has written a head covering `size` records; a smaller head is adopted."""
        if self._read(STRIDE - self._at) == self._slots[1]:
            return False
        head = shelf.head.read(self._notary)
        if head is None or head.size >= size:
            return True
        self.take(head, shelf)  # another process wrote a checkpoint, which changes only the head
        return False

    def write(self, size: int, end: int, leaf: bytes) -> None:
        """Write the head of a commit. A mirror error is recorded in the log and does not fail the commit."""
        # A plain tuple, because this runs for every call and fields are rarely accessed.
        self.write_as((self._head[0], size, self._head[2], 0, end, leaf))

    def write_as(self, head: tuple[int, int, int, int, int, bytes]) -> None:
        """Write a head in which any field may have changed."""
        slot, at = pack(head, self._notary), STRIDE - self._at
        if disk.pwrite(self._fd, slot, at) != SLOT:
            raise OSError("short write to the head")
        self._head, self._at, self._slots = head, at, (slot, self._slots[0])
        if self._mirror is not None:
            try:
                disk.pwrite(self._mirror.fd, slot, at)
            except OSError as error:
                self._report_mirror(error.strerror or "")

    def _read(self, at: int) -> bytes:
        return os.pread(self._fd, SLOT, at)

    def _report_mirror(self, reason: str) -> None:
        """Report a mirror error once: a permanently missing mirror would otherwise add a record to every commit."""
        if not self._mirror_reported:
            self._mirror_reported = True
            self._incidents.append(Incident(what="mirror_unwritable", details={"reason": reason}))

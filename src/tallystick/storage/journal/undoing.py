"""Taking back a commit that failed, and what its caller is told."""

import contextlib
from collections.abc import Sequence

from tallystick.errors import LedgerUnwritable
from tallystick.gate.record.journal import SignedRecord
from tallystick.storage.journal import disk
from tallystick.storage.journal.segments import Tail
from tallystick.storage.journal.shelf import Shelf


def take_back(
    shelf: Shelf, tail: Tail, offset: int, sealed: Sequence[SignedRecord], viewed: Sequence[SignedRecord]
) -> bool:
    """Undo a commit that failed; False: part of it is still in the log, and the next look at it sets it aside.

    Args:
        shelf: The parts on disk.
        tail: The segment that was written to.
        offset: Where the log ended before.
        sealed: The records whose blobs were stored.
        viewed: Those that stand in their views.
    """
    for record in reversed(viewed):
        with contextlib.suppress(OSError):
            shelf.views.cut(record.session_id, record.flat)
    for record in sealed:
        with contextlib.suppress(OSError):
            shelf.blobs.drop_all(record.blobs)
    try:
        disk.ftruncate(tail.fd, offset)
    except OSError:
        return False
    return True


def unwritable(error: OSError) -> LedgerUnwritable:
    """What stood in the way."""
    reason = error.strerror or "a write was cut short"
    return LedgerUnwritable(f"The journal cannot be written ({reason}). Nothing was stored. Free some space.")

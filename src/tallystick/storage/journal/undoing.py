"""Rolls back a failed commit and builds the caller's error."""

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
    """Roll back a failed commit; False: part of it is still in the log, and the next catch-up sets it aside.

    Args:
        shelf: The journal's files.
        tail: The segment that was written to.
        offset: Where the log ended before the commit.
        sealed: The records whose blobs were stored.
        viewed: The records that were added to their views.
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
    """Build the error for a failed write."""
    reason = error.strerror or "a write was cut short"
    return LedgerUnwritable(f"The journal cannot be written ({reason}). Nothing was stored. Free some space.")

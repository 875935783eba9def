"""Writes deferred until after the acknowledgement of a durable record: the view's line and the head.

They are done a moment later, or by the next process: a process that finds a whole record beyond the head adopts it with
all derived data, as after a crash. So `settle` first checks that no process has done so.
"""

import os
from typing import NamedTuple

from tallystick.gate.record.journal import SignedRecord
from tallystick.storage.journal.heads import Heads
from tallystick.storage.journal.segments import OFFSET, Tail
from tallystick.storage.journal.shelf import Shelf


class Late(NamedTuple):
    """A record whose view line and head are not written yet."""

    record: SignedRecord
    seq: int
    end: int
    view: int
    """File descriptor of its session's view."""
    length: int
    """Length of the view before the record."""


def settle(late: Late, tail: Tail, heads: Heads, shelf: Shelf) -> None:
    """Perform the deferred writes unless another process has done so; called under the journal's lock.

    Raises:
        OSError: The head cannot be written; retry later.
    """
    if not tail.ends_at(late.end & OFFSET) or heads.covered(shelf, late.seq + 1):
        return
    record, views = late.record, shelf.views
    views.current()
    try:
        if views.opened.get(record.session_id) == late.view and os.lseek(late.view, 0, os.SEEK_END) == late.length:
            views.append(record.session_id, record.flat)
        else:
            views.repair(record.session_id, [(late.seq, record.flat)])
    except OSError:  # a view is derived: it does not block the log and is repaired later
        views.mark_if_possible(record.session_id)
    heads.write(late.seq + 1, late.end, record.leaf)

"""What a commit still owes whose caller was told as soon as its record was durable: the view's line, and the head.

It is written a moment later, or by whoever comes next: a process that finds a whole record beyond the head takes it
over, with all that follows from it, as it would after a crash. So before anything is written here it must be seen that
nobody did.
"""

import os
from typing import NamedTuple

from tallystick.gate.record.journal import SignedRecord
from tallystick.storage.journal.heads import Heads
from tallystick.storage.journal.segments import OFFSET, Tail
from tallystick.storage.journal.shelf import Shelf


class Late(NamedTuple):
    """One record whose view and head are not written yet."""

    record: SignedRecord
    seq: int
    end: int
    view: int
    """The open file of its session's view,"""
    length: int
    """and how long that was."""


def settle(late: Late, tail: Tail, heads: Heads, shelf: Shelf) -> None:
    """Write what is owed, unless another process came between; called under the journal's lock.

    Raises:
        OSError: The head cannot be written; to be tried again.
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
    except OSError:  # derived: it does not hold up the log, and is mended later
        views.mark_if_possible(record.session_id)
    heads.write(late.seq + 1, late.end, record.leaf)

"""Catching up: read what other processes wrote since, adopt what a crash left whole, set aside what it left torn."""

import os
from collections import defaultdict
from datetime import UTC, datetime

from tallystick.errors import LedgerDamaged, LedgerUnwritable
from tallystick.gate.record.journal import Incident, Notary
from tallystick.storage.journal import disk
from tallystick.storage.journal.head import FAILED, Head
from tallystick.storage.journal.recovery import Walk
from tallystick.storage.journal.segments import offset_of, segment_of
from tallystick.storage.journal.shelf import Shelf
from tallystick.storage.journal.stand import Stand, follow

Signed = tuple[int, bytes]
"""Size and root of a checkpoint."""

_ADVICE = "Run `tally audit verify`. Bring the journal back from a copy, or move the audit folder aside to begin anew."


def read_on(
    shelf: Shelf, stand: Stand, head: Head, notary: Notary, *, opening: bool = False, signed: Signed | None = None
) -> list[Incident]:
    """Bring `stand` to the end of the log.

    Args:
        shelf: The parts on disk.
        stand: Where to read on from; moved to the end.
        head: The latest head that holds.
        notary: Knows signatures.
        opening: The journal is being opened: views since the last checkpoint are looked at too.
        signed: The latest checkpoint (size and root), which the tree must agree with on the way.

    Returns:
        What had to be put right.

    Raises:
        LedgerDamaged: Damage before the tail, or the log is older than its head.
    """
    walk = Walk(shelf.segments, notary, trusted=head.size, seq=stand.size, leaf=stand.leaf, end=stand.end)
    views: dict[str, list[tuple[int, bytes]]] = defaultdict(list)
    views_from = min(head.size, head.checkpointed) if opening else head.size
    for found in walk.records():
        notary.witness(found.header)
        if not follow(stand, found, shelf.tiles, signed):
            raise LedgerDamaged(
                f"The journal is not the one its checkpoint was signed for. {_ADVICE}", code="tree_differs"
            )
        if found.seq >= views_from:
            session, line = notary.flat(*found.columns)
            views[session].append((found.seq, line))
    lost = _check_head(shelf, stand, head, walk, opening=opening)
    for session, lines in views.items():
        try:
            shelf.views.repair(session, lines)
        except OSError:  # derived: it does not hold up the log, and is mended later
            shelf.views.mark_if_possible(session)
    torn = [] if walk.fault is None else [_set_aside(shelf, walk)]
    return [*lost, *torn]


def later_head(shelf: Shelf, notary: Notary, known: Head, size: int, offset: int) -> Head:
    """The head that other processes left, if the log can go on from what this one knows.

    Args:
        shelf: The parts on disk.
        notary: Knows signatures.
        known: The head as this process last wrote or read it.
        size: Bytes in the segment that this process writes to; negative: it is sealed.
        offset: How many of them this process knows.

    Raises:
        LedgerDamaged: The head is gone or rolled back, or the log was cut.
        LedgerUnwritable: An fsync failed in another process.
    """
    head = shelf.head.read(notary)
    if head is None:
        # The record that says so lies behind the head: keys were rotated, and both slots are of the new one by now.
        notary.renew()
        head = shelf.head.read(notary)
    if head is None:
        raise changed("The journal's head is gone.", "head_missing")
    if head.flags & FAILED:
        raise unconfirmed("in another process")
    if head < known:
        raise changed("The journal's head was rolled back.", "head_rolled_back")
    if 0 <= size < offset:
        raise changed("The journal was cut while in use.", "journal_truncated")
    return head


def changed(message: str, code: str) -> LedgerDamaged:
    """The journal is not what this process left, nor what another could have made of it."""
    return LedgerDamaged(f"{message} Run `tally audit verify`, then restart.", code=code)


def unconfirmed(reason: str) -> LedgerUnwritable:
    """A failed fsync: nothing more can be taken."""
    message = f"The disk did not confirm a write ({reason}). The journal takes no more; check the disk and restart."
    return LedgerUnwritable(message, code="ledger_fsync_failed")


def _check_head(shelf: Shelf, stand: Stand, head: Head, walk: Walk, *, opening: bool) -> list[Incident]:
    """Compare with the head; a last record that is torn although its head was written is reported, not hidden."""
    if stand.size < head.size:
        last_is_torn = walk.fault is not None and stand.size == head.size - 1 and _is_partial(shelf, walk)
        if opening and last_is_torn:
            return [Incident(what="acknowledged_lost", details={"seq": stand.size, "leaf": head.leaf.hex()})]
        if walk.fault is not None:
            message = f"Record {stand.size} of the journal is damaged: {walk.fault}. {_ADVICE}"
            raise LedgerDamaged(message, code="journal_damaged")
        message = (
            f"The journal holds {stand.size} records, its head names {head.size}: it is older than its head. {_ADVICE}"
        )
        raise LedgerDamaged(message, code="journal_rolled_back")
    if head.size and stand.leaf_at(head.size - 1, shelf.tiles) != head.leaf:
        raise LedgerDamaged(f"The journal is not the one its head was written for. {_ADVICE}", code="head_differs")
    return []


def _is_partial(shelf: Shelf, walk: Walk) -> bool:
    """Whether what follows the last good record is part of one line and nothing more."""
    rest = list(shelf.segments.lines(walk.end))
    return len(rest) == 1 and not rest[0].whole


def _set_aside(shelf: Shelf, walk: Walk) -> Incident:
    """Move what follows the last good record out of the log, and keep it."""
    segment, offset = segment_of(walk.end), offset_of(walk.end)
    if any(shelf.segments.size(number) for number in shelf.segments.numbers() if number > segment):
        message = f"Record {walk.seq} of the journal is damaged: {walk.fault}. {_ADVICE}"
        raise LedgerDamaged(message, code="journal_damaged")
    torn = shelf.folder / "torn"
    disk.make_folder(torn)
    fd = disk.open_to_change(shelf.segments.path(segment))
    try:
        torn_part = os.pread(fd, os.fstat(fd).st_size - offset, offset).rstrip(b"\0")
        name = f"{datetime.now(UTC):%Y%m%dT%H%M%S%f}-{segment:06d}-{offset}"
        disk.write_whole(torn / name, torn_part)
        disk.ftruncate(fd, offset)
        if shelf.durable:
            disk.fdatasync(fd)
    finally:
        os.close(fd)
    details = {"bytes": len(torn_part), "file": f"torn/{name}", "reason": walk.fault or "", "seq": walk.seq}
    return Incident(what="torn_tail", details=details)

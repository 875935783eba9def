"""Catches up with the log: reads new records, adopts whole ones left by a crash, sets aside a torn tail."""

import os
from collections import defaultdict
from datetime import UTC, datetime

from tallystick.errors import LedgerDamaged, LedgerUnwritable
from tallystick.gate.record.journal import Incident, Notary
from tallystick.storage.journal import disk
from tallystick.storage.journal.head import FAILED, Head
from tallystick.storage.journal.journal_files import JournalFiles
from tallystick.storage.journal.journal_tail import JournalTail, follow
from tallystick.storage.journal.log_reader import LogReader
from tallystick.storage.journal.segments import offset_of, segment_of

Signed = tuple[int, bytes]
"""Size and root of a checkpoint."""

_ADVICE = "Run `tally audit verify`. Bring the journal back from a copy, or move the audit folder aside to begin anew."


def read_on(
    files: JournalFiles,
    tail: JournalTail,
    head: Head,
    notary: Notary,
    *,
    opening: bool = False,
    signed: Signed | None = None,
) -> list[Incident]:
    """Advance `tail` to the end of the log, and return the incidents that were repaired.

    Args:
        files: The journal's files.
        tail: The tail to resume from.
        head: The latest head that verifies.
        notary: Verifies signatures.
        opening: The journal is being opened: also repair views since the last checkpoint.
        signed: Size and root of the latest checkpoint, which the tree must match when it reaches that size.

    Raises:
        LedgerDamaged: The log is damaged before its tail, or older than its head.
    """
    reader = LogReader(files.segments, notary, trusted=head.size, seq=tail.size, leaf=tail.leaf, end=tail.end)
    views: dict[str, list[tuple[int, bytes]]] = defaultdict(list)
    views_from = min(head.size, head.checkpointed) if opening else head.size
    for found in reader.records():
        notary.witness(found.header)
        if not follow(tail, found, files.tiles, signed):
            raise LedgerDamaged(f"The journal does not match its checkpoint. {_ADVICE}", code="tree_differs")
        if found.seq >= views_from:
            session, line = notary.flat(*found.columns)
            views[session].append((found.seq, line))
    lost = _check_head(files, tail, head, reader, opening=opening)
    for session, lines in views.items():
        try:
            files.views.repair(session, lines)
        except OSError:  # a view is derived: it does not block the log and is repaired later
            files.views.mark_if_possible(session)
    torn = [] if reader.fault is None else [_set_aside(files, reader)]
    return [*lost, *torn]


def later_head(files: JournalFiles, notary: Notary, known: Head, size: int, offset: int) -> Head:
    """Return the head that other processes wrote, if the log extends what this process knows.

    Args:
        files: The journal's files.
        notary: Verifies signatures.
        known: The head as this process last wrote or read it.
        size: Bytes in the segment that this process writes to; negative: the segment is sealed.
        offset: How many of these bytes this process knows.

    Raises:
        LedgerDamaged: The head is missing or rolled back, or the log was truncated.
        LedgerUnwritable: An fsync failed in another process.
    """
    head = files.head.read(notary.keys)
    if head is None:
        # Keys may have been rotated: both slots then carry MACs of the new key; the rotation record is not read yet.
        notary.renew()
        head = files.head.read(notary.keys)
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
    """Build the error for a journal state that neither this process nor another could have left."""
    return LedgerDamaged(f"{message} Run `tally audit verify`, then restart.", code=code)


def unconfirmed(reason: str) -> LedgerUnwritable:
    """Build the error for a failed fsync, after which the journal accepts no more records."""
    message = f"The disk did not confirm a write ({reason}). The journal takes no more; check the disk and restart."
    return LedgerUnwritable(message, code="ledger_fsync_failed")


def _check_head(
    files: JournalFiles, tail: JournalTail, head: Head, reader: LogReader, *, opening: bool
) -> list[Incident]:
    """Compare the log with the head; report a last record that is torn although its head was written."""
    if tail.size < head.size:
        last_is_torn = reader.fault is not None and tail.size == head.size - 1 and _is_partial(files, reader)
        if opening and last_is_torn:
            return [Incident(what="acknowledged_lost", details={"seq": tail.size, "leaf": head.leaf.hex()})]
        if reader.fault is not None:
            message = f"Record {tail.size} of the journal is damaged: {reader.fault}. {_ADVICE}"
            raise LedgerDamaged(message, code="journal_damaged")
        message = (
            f"The journal holds {tail.size} records, its head names {head.size}: it is older than its head. {_ADVICE}"
        )
        raise LedgerDamaged(message, code="journal_rolled_back")
    if head.size and tail.leaf_at(head.size - 1, files.tiles) != head.leaf:
        raise LedgerDamaged(f"The journal is not the one its head was written for. {_ADVICE}", code="head_differs")
    return []


def _is_partial(files: JournalFiles, reader: LogReader) -> bool:
    """Return whether the bytes after the last valid record are one partial line and nothing more."""
    rest = list(files.segments.lines(reader.end))
    return len(rest) == 1 and not rest[0].whole


def _set_aside(files: JournalFiles, reader: LogReader) -> Incident:
    """Move the bytes after the last valid record out of the log into `torn/`."""
    segment, offset = segment_of(reader.end), offset_of(reader.end)
    if any(files.segments.size(number) for number in files.segments.numbers() if number > segment):
        message = f"Record {reader.seq} of the journal is damaged: {reader.fault}. {_ADVICE}"
        raise LedgerDamaged(message, code="journal_damaged")
    torn = files.folder / "torn"
    disk.make_folder(torn)
    fd = disk.open_to_change(files.segments.path(segment))
    try:
        torn_part = os.pread(fd, os.fstat(fd).st_size - offset, offset).rstrip(b"\0")
        name = f"{datetime.now(UTC):%Y%m%dT%H%M%S%f}-{segment:06d}-{offset}"
        disk.write_whole(torn / name, torn_part)
        disk.ftruncate(fd, offset)
        if files.durable:
            disk.fdatasync(fd)
    finally:
        os.close(fd)
    details = {"bytes": len(torn_part), "file": f"torn/{name}", "reason": reader.fault or "", "seq": reader.seq}
    return Incident(what="torn_tail", details=details)

"""Opens the journal for writing: finds its end, recovers from a crash, and compares it with head and mirror.

1. The latest checkpoint and the tiles give the position to resume reading from (otherwise the start of the log).
2. After a failed fsync, the last segment is rewritten (its pages may exist only in memory).
3. The log is read to its end and compared with the head (if older than the head or damaged: stop).
4. The mirror must not cover more records than the log, nor a different last leaf (rolled back or forked: stop).
"""

from collections import defaultdict
from datetime import UTC, datetime

from tallystick.errors import LedgerDamaged
from tallystick.gate.record.journal import Incident, Notary
from tallystick.storage.journal import disk
from tallystick.storage.journal.catching import Signed, read_on
from tallystick.storage.journal.head import FAILED, Head, named_by
from tallystick.storage.journal.recovery import parse_header, split_line
from tallystick.storage.journal.segments import segment_of
from tallystick.storage.journal.shelf import Shelf
from tallystick.storage.journal.stand import Stand, starting_stand
from tallystick.storage.journal.writer import Writer


def open_writer(shelf: Shelf, notary: Notary) -> Writer:
    """Recover the journal and return its writer; called under its lock.

    Raises:
        LedgerDamaged: The journal is damaged before its tail, or older than its head, checkpoint or mirror.
    """
    notary.renew()  # the keys were read without the lock
    incidents: list[Incident] = []
    note = shelf.checkpoints.last()
    signed = None if note is None else notary.checkpoint_holds(note)
    stand = starting_stand(shelf.segments, shelf.tiles, signed)
    if stand.size:
        _witness_last(shelf, stand, notary)
    found = shelf.head.read(notary)
    mirrored = _read_mirror(shelf, notary, incidents)
    if found is None and any(map(shelf.segments.size, shelf.segments.numbers())):
        incidents.append(Incident(what="head_missing", details={}))
    head = found or mirrored or Head()
    if head.flags & FAILED:
        incidents.append(_write_anew(shelf, head))
    if head.checkpointed < stand.size:
        _repair_views(shelf, stand, head.checkpointed, notary)
    incidents += read_on(shelf, stand, head, notary, opening=True, signed=signed)
    lost = any(incident.what == "acknowledged_lost" for incident in incidents)
    _compare(shelf, stand, signed, mirrored, allowed=1 if lost else 0)
    # A head from before a loss, or one with the failed-fsync flag, must never again count as the later one.
    renewed = lost or head.flags & FAILED
    writer = Writer(shelf, notary, stand, head._replace(epoch=head.epoch + 1) if renewed else head)
    writer.incidents += incidents
    if shelf.durable and stand.size == 0:
        disk.sync_folder(shelf.folder)
    if (head.size, head.flags) != (stand.size, 0) or found is None or mirrored != found:
        writer.put_head()
    return writer


def _witness_last(shelf: Shelf, stand: Stand, notary: Notary) -> None:
    """Pass the record before the first unread one to the notary, which compares the next record's time with it."""
    line = shelf.segments.line_at(stand.position_of(stand.size - 1, shelf.tiles)) or b""
    notary.witness(parse_header(line.partition(b"\t")[0]) or {})


def _repair_views(shelf: Shelf, stand: Stand, start: int, notary: Notary) -> None:
    """Repair the views from record `start` on: a checkpoint was written although a view could not be."""
    views: dict[str, list[tuple[int, bytes]]] = defaultdict(list)
    lines = shelf.segments.lines(stand.position_of(start, shelf.tiles), stand.end)
    for seq, line in enumerate(lines, start):
        columns = split_line(line.data)
        if columns is not None:
            session, flat = notary.flat(*columns)
            views[session].append((seq, flat))
    for session, missing in views.items():
        shelf.views.repair(session, missing)


def _read_mirror(shelf: Shelf, notary: Notary, incidents: list[Incident]) -> Head | None:
    if shelf.mirror is None:
        if shelf.mirror_fault is not None:
            incidents.append(Incident(what="mirror_unwritable", details={"reason": shelf.mirror_fault}))
        return None
    head = shelf.mirror.read(notary)
    path = shelf.options.mirror
    if head is None and path is not None and not shelf.mirror.empty():
        # The mirror belongs to an earlier journal whose keys are gone. Keep a copy of its slots, and report it.
        kept, slots = path.with_name(f"{path.stem}.{datetime.now(UTC):%Y%m%dT%H%M%S%f}.earlier"), disk.read_whole(path)
        disk.write_whole(kept, slots or b"")
        details = {"mirror": kept.name, "records": named_by(slots or b"")}
        incidents.append(Incident(what="earlier_log", details=details))
    return head


def _compare(shelf: Shelf, stand: Stand, signed: Signed | None, mirrored: Head | None, *, allowed: int) -> None:
    """Check that checkpoint and mirror cover no missing records (`allowed`: one torn record, already reported)."""
    if signed is not None and stand.size + allowed < signed[0]:
        message = (
            f"The journal holds {stand.size} records, its latest checkpoint covers {signed[0]}: it was rolled back."
        )
        raise LedgerDamaged(f"{message} Run `tally audit verify`.", code="journal_rolled_back")
    if mirrored is None or mirrored.size == 0:
        return
    if stand.size + allowed < mirrored.size:
        message = (
            f"The journal holds {stand.size} records, the mirror of its head names {mirrored.size}: it was rolled back."
        )
        raise LedgerDamaged(f"{message} Run `tally audit verify`.", code="journal_rolled_back")
    if mirrored.size <= stand.size and stand.leaf_at(mirrored.size - 1, shelf.tiles) != mirrored.leaf:
        message = "The journal is not the one that the mirror of its head was written for."
        raise LedgerDamaged(f"{message} Run `tally audit verify`.", code="head_differs")


def _write_anew(shelf: Shelf, head: Head) -> Incident:
    """Copy the last segment to a new file with fsync: pages that never reached the disk are written again."""
    numbers = shelf.segments.numbers()
    number = numbers[-1] if numbers else segment_of(head.end)
    path = shelf.segments.path(number)
    data = disk.read_whole(path) or b""
    disk.write_whole(path, data)
    return Incident(what="fsync_failed", details={"bytes": len(data), "segment": number})

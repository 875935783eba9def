"""Opening the journal for writing: find its end, put right what a crash left, and compare it with head and mirror.

1. the latest checkpoint and the tiles say where to read on from        (else: the beginning)
2. a failed fsync is made good by writing the last segment anew         (the old pages may only be in memory)
3. the log is read to its end and compared with the head                (older, damaged: stop)
4. the mirror must not know more than the log, nor anything else        (rolled back, forked: stop)
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
    """Recover the journal; called under its lock.

    Raises:
        LedgerDamaged: It is damaged before its tail, or older than its head, checkpoint or mirror.
    """
    notary.renew()  # they were read without the lock
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
    # A head from before a loss, or one that says that an fsync failed, must not count as the later one again.
    renewed = lost or head.flags & FAILED
    writer = Writer(shelf, notary, stand, head._replace(epoch=head.epoch + 1) if renewed else head)
    writer.incidents += incidents
    if shelf.durable and stand.size == 0:
        disk.sync_folder(shelf.folder)
    if (head.size, head.flags) != (stand.size, 0) or found is None or mirrored != found:
        writer.put_head()
    return writer


def _witness_last(shelf: Shelf, stand: Stand, notary: Notary) -> None:
    """The record before the first one that will be read: its time is what the next one is compared with."""
    line = shelf.segments.line_at(stand.position_of(stand.size - 1, shelf.tiles)) or b""
    notary.witness(parse_header(line.partition(b"\t")[0]) or {})


def _repair_views(shelf: Shelf, stand: Stand, start: int, notary: Notary) -> None:
    """A checkpoint was written although a view could not be: look at the views since the head vouched for them."""
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
        # Somebody's journal lay here before, and its keys went with it. Keep what the mirror knew, and say so.
        kept, slots = path.with_name(f"{path.stem}.{datetime.now(UTC):%Y%m%dT%H%M%S%f}.earlier"), disk.read_whole(path)
        disk.write_whole(kept, slots or b"")
        details = {"mirror": kept.name, "records": named_by(slots or b"")}
        incidents.append(Incident(what="earlier_log", details=details))
    return head


def _compare(shelf: Shelf, stand: Stand, signed: Signed | None, mirrored: Head | None, *, allowed: int) -> None:
    """Checkpoint and mirror must not know of records that are not there (one torn record was reported already)."""
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
    """Copy the last segment into a new file: pages that the disk never took are written again, and confirmed."""
    numbers = shelf.segments.numbers()
    number = numbers[-1] if numbers else segment_of(head.end)
    path = shelf.segments.path(number)
    data = disk.read_whole(path) or b""
    disk.write_whole(path, data)
    return Incident(what="fsync_failed", details={"bytes": len(data), "segment": number})

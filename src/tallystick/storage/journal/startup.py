"""Opens the journal for writing: finds its end, recovers from a crash, and compares it with head and mirror.

1. The latest checkpoint and the tiles give the position to resume reading from (otherwise the start of the log).
2. After a failed fsync, the last segment is rewritten (its pages may exist only in memory).
3. The log is read to its end and compared with the head (if older than the head or damaged: stop).
4. The mirror must not cover more records than the log, nor a different last leaf (rolled back or forked: stop).
   One that is gone or older than the head is an alarm, recorded before the mirror is written anew: a person accepts it.
"""

from collections import defaultdict
from datetime import UTC, datetime

from tallystick.errors import LedgerDamaged
from tallystick.gate.record.journal import Incident, Notary
from tallystick.gate.record.record_verifier import mirror_alarm
from tallystick.storage.journal import disk
from tallystick.storage.journal.catch_up import Signed, read_on
from tallystick.storage.journal.head import FAILED, Head, is_behind, named_by
from tallystick.storage.journal.journal_files import JournalFiles
from tallystick.storage.journal.journal_tail import JournalTail, starting_tail
from tallystick.storage.journal.log_reader import parse_header, split_line
from tallystick.storage.journal.segments import segment_of
from tallystick.storage.journal.writer import Writer


def open_writer(files: JournalFiles, notary: Notary) -> Writer:
    """Recover the journal and return its writer; called under its lock.

    Raises:
        LedgerDamaged: The journal is damaged before its tail, or older than its head, checkpoint or mirror.
    """
    notary.renew()  # the keys were read without the lock
    incidents: list[Incident] = []
    note = files.checkpoints.last()
    signed = None if note is None else notary.checkpoint_holds(note)
    tail = starting_tail(files.segments, files.tiles, signed)
    if tail.size:
        _witness_last(files, tail, notary)
    found = files.head.read(notary.keys)
    mirrored = _read_mirror(files, notary, incidents)
    if found is None and any(map(files.segments.size, files.segments.numbers())):
        incidents.append(Incident(what="head_missing", details={}))
    head = found or mirrored or Head()
    if head.flags & FAILED:
        incidents.append(_write_anew(files, head))
    if head.checkpointed < tail.size:
        _repair_views(files, tail, head.checkpointed, notary)
    incidents += read_on(files, tail, head, notary, opening=True, signed=signed)
    lost = any(incident.what == "acknowledged_lost" for incident in incidents)
    _compare(files, tail, signed, mirrored, allowed=1 if lost else 0)
    alarm = _mirror_alarm(files, tail, mirrored, notary, incidents)
    incidents += alarm
    # A head from before a loss, or one with the failed-fsync flag, must never again count as the later one.
    renewed = lost or head.flags & FAILED
    writer = Writer(files, notary, tail, head._replace(epoch=head.epoch + 1) if renewed else head)
    writer.incidents += incidents
    if files.durable and tail.size == 0:
        disk.sync_folder(files.folder)
    # The commit that records an alarm writes head and mirror. Written now, they would hide it after a crash.
    if not alarm and ((head.size, head.flags) != (tail.size, 0) or found is None or mirrored != found):
        writer.put_head()
    return writer


def _witness_last(files: JournalFiles, tail: JournalTail, notary: Notary) -> None:
    """Pass the record before the first unread one to the notary, which compares the next record's time with it."""
    line = files.segments.line_at(tail.position_of(tail.size - 1, files.tiles)) or b""
    notary.witness(parse_header(line.partition(b"\t")[0]) or {})


def _repair_views(files: JournalFiles, tail: JournalTail, start: int, notary: Notary) -> None:
    """Repair the views from record `start` on: a checkpoint was written although a view could not be."""
    views: dict[str, list[tuple[int, bytes]]] = defaultdict(list)
    lines = files.segments.lines(tail.position_of(start, files.tiles), tail.end)
    for seq, line in enumerate(lines, start):
        columns = split_line(line.data)
        if columns is not None:
            session, flat = notary.flat(*columns)
            views[session].append((seq, flat))
    for session, missing in views.items():
        files.views.repair(session, missing)


def _read_mirror(files: JournalFiles, notary: Notary, incidents: list[Incident]) -> Head | None:
    if files.mirror is None:
        if files.mirror_fault is not None:
            incidents.append(Incident(what="mirror_unwritable", details={"reason": files.mirror_fault}))
        return None
    head = files.mirror.read(notary.keys)
    path = files.options.mirror
    if head is None and path is not None and not files.mirror.empty():
        # The mirror belongs to an earlier journal whose keys are gone. Keep a copy of its slots, and report it.
        kept, slots = path.with_name(f"{path.stem}.{datetime.now(UTC):%Y%m%dT%H%M%S%f}.earlier"), disk.read_whole(path)
        disk.write_whole(kept, slots or b"")
        details = {"mirror": kept.name, "records": named_by(slots or b"")}
        incidents.append(Incident(what="earlier_log", details=details))
    return head


def _mirror_alarm(
    files: JournalFiles, tail: JournalTail, mirrored: Head | None, notary: Notary, known: list[Incident]
) -> list[Incident]:
    """Return the incident of a mirror that would not have shown a rollback, if there is one."""
    reported = any(incident.what == "earlier_log" and incident.details["records"] for incident in known)
    if files.mirror is None or tail.size == 0 or reported:
        return []
    details = {"mirror": mirror_alarm(tail.leaf), "records": tail.size}
    if mirrored is None:
        return [Incident(what="mirror_missing", details=details)]
    if is_behind(mirrored, files.head.slots(), notary.keys):
        return [Incident(what="mirror_behind", details={**details, "mirrored": mirrored.size})]
    return []


def _compare(
    files: JournalFiles, tail: JournalTail, signed: Signed | None, mirrored: Head | None, *, allowed: int
) -> None:
    """Check that checkpoint and mirror cover no missing records (`allowed`: one torn record, already reported)."""
    if signed is not None and tail.size + allowed < signed[0]:
        message = (
            f"The journal holds {tail.size} records, its latest checkpoint covers {signed[0]}: it was rolled back."
        )
        raise LedgerDamaged(f"{message} Run `tally audit verify`.", code="journal_rolled_back")
    if mirrored is None or mirrored.size == 0:
        return
    if tail.size + allowed < mirrored.size:
        message = (
            f"The journal holds {tail.size} records, the mirror of its head names {mirrored.size}: it was rolled back."
        )
        raise LedgerDamaged(f"{message} Run `tally audit verify`.", code="journal_rolled_back")
    if mirrored.size <= tail.size and tail.leaf_at(mirrored.size - 1, files.tiles) != mirrored.leaf:
        message = "The journal is not the one that the mirror of its head was written for."
        raise LedgerDamaged(f"{message} Run `tally audit verify`.", code="head_differs")


def _write_anew(files: JournalFiles, head: Head) -> Incident:
    """Copy the last segment to a new file with fsync: pages that never reached the disk are written again."""
    numbers = files.segments.numbers()
    number = numbers[-1] if numbers else segment_of(head.end)
    path = files.segments.path(number)
    data = disk.read_whole(path) or b""
    disk.write_whole(path, data)
    return Incident(what="fsync_failed", details={"bytes": len(data), "segment": number})

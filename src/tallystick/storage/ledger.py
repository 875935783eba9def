"""Opens the ledger of a workspace: files, keys and mirror, as configured.

ledger = open_ledger(workspace, settings, http=http)      # Gate.open does this
"""

import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from tallystick.errors import ConfigError
from tallystick.gate.decide.approvals import LIVE, Hold
from tallystick.gate.record.approval_records import ApprovalRecords, mismatch
from tallystick.gate.record.archive import LogArchive
from tallystick.gate.record.audit import Progress, verify
from tallystick.gate.record.checkpoint import NoteVerifier
from tallystick.gate.record.clock import Clock, ClockMonitor, SystemClock
from tallystick.gate.record.ledger import Ledger
from tallystick.gate.record.notary import KeyNotary
from tallystick.gate.record.record_signer import RecordSigner
from tallystick.gate.record.report import MAX_PROBLEMS, AuditProblem, AuditReport
from tallystick.gate.record.signing import signed_header
from tallystick.http_port import HttpClient
from tallystick.settings import CONTROL_ROOM, Settings
from tallystick.storage.journal.archive import FileArchive
from tallystick.storage.journal.file_journal import FileJournal
from tallystick.storage.journal.journal_files import Options
from tallystick.storage.journal.live import LiveFiles
from tallystick.storage.journal.witnesses import parse_witnesses, witness_files
from tallystick.storage.keys import FileKeys

_DIFFERS = "approval_differs"
_PAGE = 1000
ReadHeader = Callable[[bytes], dict[str, Any] | None]


def open_ledger(
    workspace: Path,
    settings: Settings | None = None,
    *,
    http: HttpClient,
    clock: Clock | None = None,
    random: Callable[[int], bytes] = os.urandom,
) -> Ledger:
    """Open the ledger of a workspace, creating missing parts and recovering from a crash.

    Raises:
        ConfigError: A key is missing, malformed or readable by others, or a witness entry is invalid.
        LedgerDamaged: The journal is damaged before its tail, or older than its head.
        LedgerUnwritable: The folder cannot be written.
    """
    settings = settings or Settings()
    audit = audit_folder(workspace)
    options = journal_options(audit, settings, http)
    if settings.storage.journal == "postgres":
        from tallystick.storage.shared_journal.shared_ledger import open_shared  # noqa: PLC0415 - needs the database's driver

        return open_shared(workspace, audit, settings, options, clock=clock, random=random)
    keys = FileKeys(audit, random)
    journal = FileJournal(audit, options)
    return Ledger(
        journal,
        keys,
        grouped=settings.ledger.durability == "fsync",
        registry=LiveFiles(audit / "journal" / "live", random),
        clock=clock,
        random=random,
        inline_bytes=settings.ledger.inline_bytes,
    )


def verify_workspace(
    workspace: Path,
    settings: Settings | None = None,
    *,
    outside: Sequence[bytes] = (),
    verifier: NoteVerifier | None = None,
    progress: Progress | None = None,
) -> AuditReport:
    """Verify the whole ledger of a workspace and the stored requests of held calls, without changing anything.

    Args:
        workspace: The folder that holds `.control-room`.
        settings: They name the mirror and the witness files.
        outside: Checkpoints kept elsewhere, as signed notes; each item may contain several, concatenated.
        verifier: The log's public key as given to an outside party.
        progress: Called from time to time with the number of records checked and the total.

    Raises:
        ConfigError: There is no ledger, or its keys cannot be used.
    """
    settings = settings or Settings()
    audit = audit_folder(workspace)
    keys = FileKeys(audit, create=False)
    # Read before the log: a hold or an answer is recorded first and then stored.
    requests = _live_requests(workspace, settings)
    watch = ClockMonitor(SystemClock())
    notary = KeyNotary(keys, watch, RecordSigner(keys, watch, os.urandom, inline=0))
    witnesses = witness_files(settings.ledger.witnesses)
    archive: LogArchive
    if settings.storage.journal == "postgres":
        from tallystick.storage.shared_journal.shared_ledger import open_archive  # noqa: PLC0415 - as above

        archive = open_archive(workspace, settings, mirror_path(audit, settings), notary, witnesses)
    else:
        archive = FileArchive(audit, mirror_path(audit, settings), notary, witnesses)
    try:
        report = verify(archive, keys, outside=outside, verifier=verifier, progress=progress)
        return _with_requests(report, requests, archive.lines(), partial(signed_header, keys=keys))
    finally:
        archive.close()


def audit_folder(workspace: Path) -> Path:
    """Return the folder of a workspace's receipts."""
    return workspace.resolve() / CONTROL_ROOM / "audit"


def journal_options(audit: Path, settings: Settings, http: HttpClient) -> Options:
    """Build the journal's options from the settings."""
    ledger = settings.ledger
    return Options(
        durability=ledger.durability,
        segment_bytes=ledger.segment_bytes,
        checkpoint_every=ledger.checkpoint_every,
        checkpoint_s=ledger.checkpoint_s,
        mirror=mirror_path(audit, settings),
        witnesses=parse_witnesses(ledger.witnesses, http),
    )


def mirror_path(audit: Path, settings: Settings) -> Path | None:
    """Return the file outside the workspace that holds a copy of the head; None if the mirror is off."""
    if settings.ledger.mirror == "off":
        return None
    if settings.ledger.mirror is not None:
        return Path(settings.ledger.mirror).expanduser()
    # Named after the workspace's path, so that a journal deleted together with its keys and restarted is detected.
    return settings.state_dir() / "heads" / f"{sha256(os.fsencode(audit)).hexdigest()[:16]}.head"


def _live_requests(workspace: Path, settings: Settings) -> tuple[Hold, ...]:
    """Return the live requests; none if no approvals are stored. Creates and migrates nothing."""
    if settings.storage.database_url is None and not (workspace / CONTROL_ROOM / "tallystick.db").exists():
        return ()
    from sqlalchemy.exc import SQLAlchemyError  # noqa: PLC0415 - the import takes a quarter of a second

    from tallystick.storage.approvals import SqlApprovalStore  # noqa: PLC0415
    from tallystick.storage.database import open_engine, schema_version  # noqa: PLC0415
    from tallystick.storage.migrations import HEAD  # noqa: PLC0415

    try:
        engine = open_engine(settings, workspace)
    except ConfigError:
        return ()
    try:
        # Tables of an earlier version have other digests for requests; opening the workspace migrates them.
        if schema_version(engine) != HEAD:
            return ()
        book, now = SqlApprovalStore(engine), time.time_ns() // 1_000_000
        return tuple(hold for state in sorted(LIVE) for hold in book.list(now, state=state, limit=_PAGE))
    except SQLAlchemyError:
        # Without the database no held call can run, and the log can be verified without it.
        return ()
    finally:
        engine.dispose()


def _with_requests(
    report: AuditReport, requests: Sequence[Hold], batches: Iterable[list[bytes]], header: ReadHeader
) -> AuditReport:
    """Add the stored requests that differ from their records to a report.

    Args:
        report: The result of the log's audit.
        requests: The stored requests, read before the log.
        batches: The lines of the log.
        header: Parses a stored header; None if its signature is invalid.
    """
    if not requests:
        return report
    found = {hold.approval_id: ApprovalRecords() for hold in requests}
    for line in (line for batch in batches for line in batch if b'"approval":{' in line):
        known = header(line.partition(b"\t")[0]) or {}
        records = found.get(known.get("approval", {}).get("approval_id", ""))
        if records is not None:
            records.add(known)
    problems = [
        AuditProblem(code=_DIFFERS, reason=f"{hold.approval_id}: {why}", session_id=hold.session.session_id)
        for hold in requests
        if (why := mismatch(hold, found[hold.approval_id]))
    ]
    return replace(report, problems=(*report.problems, *problems)[:MAX_PROBLEMS])

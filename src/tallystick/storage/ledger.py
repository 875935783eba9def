"""Opens the ledger of a workspace: files, keys and mirror, as configured.

ledger = open_ledger(workspace, settings)      # Gate.open does this
"""

import os
from collections.abc import Callable, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path

from tallystick.gate.record.audit import Progress, verify
from tallystick.gate.record.checkpoint import NoteVerifier
from tallystick.gate.record.clock import Clock, ClockMonitor, SystemClock
from tallystick.gate.record.ledger import Ledger
from tallystick.gate.record.notary import KeyNotary
from tallystick.gate.record.report import AuditReport
from tallystick.gate.record.seal import Sealer
from tallystick.gate.record.signing import signed_header
from tallystick.settings import CONTROL_ROOM, Settings
from tallystick.storage.approval_audit import live_requests, with_requests
from tallystick.storage.journal.archive import FileArchive
from tallystick.storage.journal.files import FileJournal
from tallystick.storage.journal.live import LiveFiles
from tallystick.storage.journal.shelf import Options
from tallystick.storage.journal.witnesses import parse_witnesses, witness_files
from tallystick.storage.keys import FileKeys


def open_ledger(
    workspace: Path,
    settings: Settings | None = None,
    *,
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
    options = journal_options(audit, settings)
    keys = FileKeys(audit, random)
    journal = FileJournal(audit, options)
    return Ledger(
        journal,
        keys,
        grouped=settings.ledger.durability == "fsync",
        roster=LiveFiles(audit / "journal" / "live", random),
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
    requests = live_requests(workspace, settings)
    watch = ClockMonitor(SystemClock())
    notary = KeyNotary(keys, watch, Sealer(keys, watch, os.urandom, inline=0))
    witnesses = witness_files(settings.ledger.witnesses)
    archive = FileArchive(audit, mirror_path(audit, settings), notary, witnesses)
    try:
        report = verify(archive, keys, outside=outside, verifier=verifier, progress=progress)
        return with_requests(report, requests, archive.lines(), partial(signed_header, keys=keys))
    finally:
        archive.close()


def audit_folder(workspace: Path) -> Path:
    """Return the folder of a workspace's receipts."""
    return workspace.resolve() / CONTROL_ROOM / "audit"


def journal_options(audit: Path, settings: Settings) -> Options:
    """Build the journal's options from the settings."""
    ledger = settings.ledger
    return Options(
        durability=ledger.durability,
        segment_bytes=ledger.segment_bytes,
        checkpoint_every=ledger.checkpoint_every,
        checkpoint_s=ledger.checkpoint_s,
        mirror=mirror_path(audit, settings),
        witnesses=parse_witnesses(ledger.witnesses),
    )


def mirror_path(audit: Path, settings: Settings) -> Path | None:
    """Return the file outside the workspace that holds a copy of the head; None if the mirror is off."""
    if settings.ledger.mirror == "off":
        return None
    if settings.ledger.mirror is not None:
        return Path(settings.ledger.mirror).expanduser()
    # Named after the workspace's path, so that a journal deleted together with its keys and restarted is detected.
    return settings.state_dir() / "heads" / f"{sha256(os.fsencode(audit)).hexdigest()[:16]}.head"

"""Moves the journal of a workspace between files and PostgreSQL: verified before, compared after, then switched.

A move that is killed leaves the journal where it was, or complete at both places: running it again finishes it.
"""

import shutil
from contextlib import closing
from pathlib import Path
from typing import Literal

from tallystick.app.config_file import set_values
from tallystick.errors import ConfigError, LedgerDamaged, LedgerError
from tallystick.gate.record.report import AuditReport
from tallystick.http_port import HttpClient
from tallystick.settings import CONTROL_ROOM, Settings
from tallystick.storage.keys import FileKeys
from tallystick.storage.ledger import audit_folder, open_ledger, verify_workspace

JournalPlace = Literal["files", "postgres"]


def move_journal(workspace: Path, settings: Settings, to: JournalPlace, http: HttpClient) -> AuditReport:
    """Move the journal and write the setting; return the report of the audit at the new place.

    Raises:
        ConfigError: There is no PostgreSQL database in the settings, or the environment decides where the journal is.
        LedgerDamaged: The journal does not verify; nothing was changed.
        LedgerError: The new place holds another journal.
    """
    in_files = _with_journal(settings, "files")
    in_database = _with_journal(settings, "postgres")
    if to == "postgres":
        return _to_postgres(workspace, in_files, in_database, http)
    return _to_files(workspace, in_files, in_database, http)


def _to_postgres(workspace: Path, before: Settings, after: Settings, http: HttpClient) -> AuditReport:
    from tallystick.storage.shared_journal import transfer  # noqa: PLC0415 - needs the database's driver
    from tallystick.storage.shared_journal.shared_ledger import connect_to  # noqa: PLC0415 - as above

    audit, conninfo = audit_folder(workspace), connect_to(workspace, after)
    if not any((audit / "journal").glob("*.log")):
        raise LedgerError("There is no journal in files to move.", code="journal_missing")
    if not transfer.is_retired(audit):
        with closing(open_ledger(workspace, before, http=http)) as ledger:
            ledger.recover()  # what a crash left must not be copied
    report = _verified(workspace, before)
    keys = FileKeys(audit, create=False)
    with transfer.closed_files(audit):
        transfer.copy_in(audit, conninfo, keys)
        copied = _verified(workspace, after)
        if copied.size < report.size:
            raise LedgerDamaged("The copy holds fewer records than the journal.", code="copy_differs")
        transfer.retire_files(audit)
        _switch(workspace, "postgres")
        transfer.set_aside(audit)
    open_ledger(workspace, after, http=http).close()
    return _verified(workspace, after)


def _to_files(workspace: Path, after: Settings, before: Settings, http: HttpClient) -> AuditReport:
    from tallystick.storage.shared_journal import transfer  # noqa: PLC0415 - needs the database's driver
    from tallystick.storage.shared_journal.shared_ledger import connect_to  # noqa: PLC0415 - as above

    audit, part = audit_folder(workspace), workspace / CONTROL_ROOM / "journal-move"
    report = _verified(workspace, before)
    copy = after.model_copy(update={"ledger": after.ledger.model_copy(update={"mirror": "off", "witnesses": ()})})
    with transfer.transaction(connect_to(workspace, before)) as connection:
        connection.execute("SELECT 1 FROM tally_head FOR UPDATE")
        keys, place = FileKeys(audit, create=False), audit_folder(part)
        transfer.copy_out(connection, audit, place, keys, after.ledger.segment_bytes)
        open_ledger(part, copy, http=http).close()
        copied = _verified(part, copy)
        if copied.size < report.size:
            raise LedgerDamaged("The copy holds fewer records than the journal.", code="copy_differs")
        connection.execute("UPDATE tally_head SET moved = TRUE")
    for folder in ("blobs", "sessions", "policies", "tools"):
        if (place / folder).exists():
            shutil.copytree(place / folder, audit / folder, dirs_exist_ok=True)
    if (audit / "journal").exists():
        transfer.set_aside(audit)
    (place / "journal").rename(audit / "journal")
    _switch(workspace, "files")
    shutil.rmtree(part, ignore_errors=True)
    open_ledger(workspace, after, http=http).close()
    return _verified(workspace, after)


def _with_journal(settings: Settings, journal: JournalPlace) -> Settings:
    return settings.model_copy(update={"storage": settings.storage.model_copy(update={"journal": journal})})


def _verified(workspace: Path, settings: Settings) -> AuditReport:
    report = verify_workspace(workspace, settings)
    if not report.ok:
        first = report.problems[0]
        message = f"The journal does not verify ({first.code}: {first.reason}). Nothing was moved."
        raise LedgerDamaged(message, code="journal_damaged")
    return report


def _switch(workspace: Path, journal: JournalPlace) -> None:
    set_values(workspace, "storage", {"journal": journal})


def share_journal(workspace: Path, database_url: str) -> None:
    """Write into `tallystick.toml` that tables and journal of a workspace are in a database.

    Raises:
        ConfigError: It is no PostgreSQL URL, or the file cannot be changed.
    """
    if not database_url.startswith("postgres"):
        raise ConfigError("--database: give postgresql://user@host/name", code="config_bad_value")
    set_values(workspace, "storage", {"database_url": database_url, "journal": "postgres"})

"""Opens the ledger of a workspace whose journal is in PostgreSQL."""

from collections.abc import Callable, Sequence
from pathlib import Path

import psycopg

from tallystick.errors import ConfigError
from tallystick.gate.record.clock import Clock
from tallystick.gate.record.journal import Notary
from tallystick.gate.record.ledger import Ledger
from tallystick.settings import Settings
from tallystick.storage.database import open_engine
from tallystick.storage.journal.journal_files import Options
from tallystick.storage.keys import FileKeys
from tallystick.storage.shared_journal.archive import PostgresArchive
from tallystick.storage.shared_journal.link import CONNECT_S, away, prepare
from tallystick.storage.shared_journal.postgres_journal import PostgresJournal
from tallystick.storage.shared_journal.processes import Processes


def open_shared(
    workspace: Path,
    audit: Path,
    settings: Settings,
    options: Options,
    *,
    clock: Clock | None,
    random: Callable[[int], bytes],
) -> Ledger:
    """Open the ledger on the database that all nodes share; this node's keys and mirror are files.

    Raises:
        ConfigError: The database cannot be used, a key is missing, or this folder holds a journal of its own.
        LedgerDamaged: The journal is not the one that this node has seen.
        LedgerUnwritable: The database cannot be reached.
    """
    if any(path.stat().st_size for path in (audit / "journal").glob("*.log")):
        message = "This workspace has a journal in files. Run `tally journal move --to postgres` first."
        raise ConfigError(message, code="journal_elsewhere")
    conninfo = connect_to(workspace, settings)
    keys = FileKeys(audit, random, signed=lambda: _size(conninfo) > 0)
    return Ledger(
        PostgresJournal(conninfo, options),
        keys,
        grouped=True,
        registry=Processes(conninfo, random),
        clock=clock,
        random=random,
        inline_bytes=settings.ledger.inline_bytes,
        inline=False,
    )


def open_archive(
    workspace: Path, settings: Settings, mirror: Path | None, notary: Notary, witnesses: Sequence[Path]
) -> PostgresArchive:
    """Open the journal for an audit."""
    return PostgresArchive(connect_to(workspace, settings), mirror, notary, witnesses)


def connect_to(workspace: Path, settings: Settings) -> str:
    """Bring the journal's tables to this version; return how to connect to them.

    Raises:
        ConfigError: `storage.database_url` names no PostgreSQL database, or it cannot be used.
    """
    url = settings.storage.database_url or ""
    if not url.startswith("postgres"):
        message = "storage.journal = 'postgres' needs a PostgreSQL database: set storage.database_url"
        raise ConfigError(message, code="config_bad_value")
    engine = open_engine(settings, workspace)
    try:
        return prepare(engine)
    finally:
        engine.dispose()


def records_in(workspace: Path, settings: Settings) -> int:
    """Return how many records the journal in the database holds."""
    return _size(connect_to(workspace, settings))


def _size(conninfo: str) -> int:
    try:
        with psycopg.connect(conninfo, connect_timeout=CONNECT_S) as connection:
            row = connection.execute("SELECT size FROM tally_head").fetchone()
    except psycopg.Error as error:
        raise away(error) from error
    return 0 if row is None else int(row[0])

"""The database for everything but the journal: SQLite in the workspace by default, PostgreSQL by URL.

`open_engine` connects, `migrate` upgrades the tables to this version, `writing` begins a write transaction. Other code
distinguishes the two databases only where a statement has to differ.
"""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import URL, Connection, Engine, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

from tallystick.errors import ConfigError
from tallystick.settings import CONTROL_ROOM, DATABASE_NAME, Settings
from tallystick.storage.migrations import GATE, History, history_of, upgrade, version_of
from tallystick.storage.private import private_file, private_folder

BUSY_S = 30
"""How long a writer waits for another; transactions take milliseconds, so only a fault can reach this limit."""
OVERFLOW = 5
"""Postgres connections beyond the five kept in the pool; many processes share the server's hundred."""
MIGRATION_LOCK = 7_826_255_411
"""Key of the advisory lock that serialises migrations on PostgreSQL; an arbitrary fixed number."""

_WRITING = {"tally_writing": True}


def open_engine(settings: Settings, workspace: Path) -> Engine:
    """Open the workspace's database, creating the file and its folder if missing.

    Raises:
        ConfigError: The URL cannot be used, or its driver is not installed.
    """
    if settings.storage.database_url is None:
        return _open_sqlite(_private_file(workspace / CONTROL_ROOM / DATABASE_NAME))
    url = _usable_url(settings.storage.database_url)
    if url.get_backend_name() == "sqlite":
        return _open_sqlite(url)
    try:
        return sa.create_engine(url, pool_pre_ping=True, max_overflow=OVERFLOW)
    except ImportError:
        message = "storage.database_url names PostgreSQL, but its driver is missing: pip install 'tallystick[postgres]'"
        raise ConfigError(message, code="config_driver_missing") from None


def migrate(engine: Engine, history: History = GATE) -> None:
    """Upgrade the tables of one history to this version. Safe for concurrent processes: one migrates, the others wait.

    Raises:
        ConfigError: The database cannot be reached, or was written by a newer version.
    """
    try:
        if schema_version(engine, history) == history.head:
            return
        with writing(engine) as connection:
            if engine.dialect.name == "postgresql":
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(MIGRATION_LOCK)))
            upgrade(connection, history)
    except SQLAlchemyError as error:
        where = engine.url.render_as_string(hide_password=True)
        message = f"The database {where} cannot be used ({type(error).__name__}). Check that it is there and writable."
        raise ConfigError(message, code="database_unusable") from error


def migrate_room(engine: Engine, room: str, package: ModuleType) -> None:
    """Upgrade a room's tables to the version of its migrations package.

    Raises:
        ConfigError: As for `migrate`.
    """
    migrate(engine, history_of(room, package))


def schema_version(engine: Engine, history: History = GATE) -> str | None:
    """Return the current revision of a history in the database; None: a new database."""
    with engine.connect() as connection:
        return version_of(connection, history)


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """Begin a write transaction and commit it at the end of the `with` block.

    On SQLite it acquires the write lock at once: a transaction that reads first and requests the lock later fails
    without waiting if another one has written in between.
    """
    with engine.execution_options(**_WRITING).begin() as connection:
        yield connection


def _usable_url(text: str) -> URL:
    try:
        url = make_url(text)
        if url.drivername in {"postgres", "postgresql"}:
            url = url.set(drivername="postgresql+psycopg")
        backend = url.get_backend_name()
        url.get_dialect()
    except (ArgumentError, NoSuchModuleError, ValueError):
        backend = ""
    if backend not in {"sqlite", "postgresql"}:
        # The message does not repeat the text, which may contain a password.
        message = "storage.database_url: give postgresql://user@host/name or sqlite:///path"
        raise ConfigError(message, code="config_bad_value")
    return url


def _private_file(path: Path) -> URL:
    """Create the file owner-only, because it stores held calls with their arguments; SQLite's side files inherit it."""
    try:
        private_folder(path.parent)
        private_file(path)
    except OSError as error:
        message = f"{path.name} cannot be opened in {CONTROL_ROOM}: {error.strerror}. Make the folder writable."
        raise ConfigError(message, code="database_unusable") from None
    return URL.create("sqlite", database=str(path))


def _open_sqlite(url: URL) -> Engine:
    engine = sa.create_engine(url, connect_args={"timeout": BUSY_S})
    sa.event.listen(engine, "connect", _prepare_sqlite)
    sa.event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _record: object) -> None:
    # Disable the driver's implicit transactions; `_begin_sqlite` begins them.
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout = {BUSY_S * 1000}")
    _switch_to_wal(cursor)
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.close()


def _switch_to_wal(cursor: sqlite3.Cursor) -> None:
    """Retry until granted: when several processes open a new file at once, SQLite rejects some without waiting."""
    deadline = time.monotonic() + BUSY_S
    while True:
        try:
            cursor.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get("tally_writing")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

"""The SQLAlchemy engine used by DBOS and for the workers' rows.

DBOS can create its own engine, but on SQLite it reads outside of transactions: two processes then exceed a queue's
limit and their migrations conflict. Ours acquires the write lock at the start of every transaction.
"""

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError, DatabaseError, NoSuchModuleError, OperationalError, SQLAlchemyError

from tallystick.errors import ConfigError
from tallystick.storage.private import private_file
from tallystick.turns.runs import DurableError

SCHEMA = "tally_durable"
"""Separate from other tables, and from another DBOS application in the same Postgres database."""
BUSY_MS = 30_000
"""How long SQLite waits for another transaction; these take milliseconds, or seconds with a full disk cache."""
IDLE_TRANSACTION_MS = 60_000
"""Postgres aborts a transaction left idle this long, so that a stopped process cannot hold locks for ever."""
CONNECT_S = 10
POOL_SIZE = 5
POOL_OVERFLOW = 5
"""A worker's runs query in short bursts; beyond both limits they wait for a connection. With the rooms' own ten, four
workers stay below the hundred connections that Postgres allows by default."""
SETUP_LOCK = 7_202_010
"""Key of the advisory lock held while the tables are created; an arbitrary fixed number."""
AWAY, REFUSED = "durable_database_unavailable", "durable_database_refused"
DATABASE_AWAY = frozenset({AWAY, REFUSED})
WAL_TRIES = 50
WAL_PAUSE_S = 0.1
"""SQLite does not wait for a change of the journal mode, so a second process starting at the same time retries."""


def durable_url(database_url: str | None, control_room: Path) -> str:
    """Return the database URL: the given one, or that of a file in the control room."""
    if database_url:
        return database_url
    return f"sqlite:///{control_room / 'durable.db'}"


def open_engine(url: str) -> sa.Engine:
    """Create the engine for a URL without connecting.

    Raises:
        ConfigError: The text is not a URL, or the database is neither SQLite nor Postgres.
    """
    try:
        parsed = sa.make_url(url)
        backend = parsed.get_backend_name()
    except (ArgumentError, NoSuchModuleError):
        message = "the database URL cannot be read; give postgresql://user:password@host/name or sqlite:///path"
        raise ConfigError(message, code="config_bad_value") from None
    if backend == "sqlite":
        return _sqlite_engine(parsed)
    if backend == "postgresql":
        return _postgres_engine(parsed)
    raise ConfigError(f"'{backend}' is not supported; use postgresql:// or sqlite:///", code="config_bad_value")


def on_sqlite(engine: sa.Engine) -> bool:
    """Return whether the engine uses SQLite."""
    return engine.dialect.name == "sqlite"


def set_up(engine: sa.Engine, tables: sa.MetaData, migrate: Callable[[], None]) -> None:
    """Create missing tables; safe when several processes start at once."""
    if on_sqlite(engine):
        _switch_to_wal(engine)
    with engine.begin() as connection:
        lock(connection)
        if not on_sqlite(engine):
            connection.execute(sa.schema.CreateSchema(SCHEMA, if_not_exists=True))
        tables.create_all(connection)
    # DBOS takes its own lock on Postgres; on SQLite the migration is one transaction of our engine.
    migrate()


def lock(connection: sa.Connection) -> None:
    """Serialise set-up and takeover between processes; on SQLite, transactions are exclusive from their start."""
    if connection.dialect.name != "sqlite":
        connection.execute(sa.text("SELECT pg_advisory_xact_lock(:key)"), {"key": SETUP_LOCK})


@contextmanager
def database_errors() -> Iterator[None]:
    """Translate the database library's errors into ours, without the URL's password."""
    try:
        yield
    except OperationalError as error:
        detail = str(error.orig).strip().splitlines()[0] if error.orig else "no connection"
        message = f"the durable database cannot be used now: {detail}. Check that it runs and has room."
        raise DurableError(message, code=AWAY) from None
    except SQLAlchemyError as error:
        message = f"the durable database refused: {type(error).__name__}. Check storage.database_url and its rights."
        raise DurableError(message, code=REFUSED) from None


def _sqlite_engine(url: sa.URL) -> sa.Engine:
    if url.database and url.database != ":memory:":
        path = Path(url.database)
        path.parent.mkdir(parents=True, exist_ok=True)
        # It contains arguments and results of runs. A path that is not a file is reported on connect.
        with suppress(OSError):
            private_file(path)
    engine = sa.create_engine(url, pool_size=POOL_SIZE, max_overflow=POOL_OVERFLOW)

    @sa.event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: object) -> None:
        connection.isolation_level = None  # Disables the driver's implicit BEGIN; `begin` below issues it.
        connection.execute(f"PRAGMA busy_timeout={BUSY_MS}")
        connection.execute("PRAGMA foreign_keys=ON")

    @sa.event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


def _postgres_engine(url: sa.URL) -> sa.Engine:
    engine = sa.create_engine(
        url.set(drivername="postgresql+psycopg"),
        pool_size=POOL_SIZE,
        max_overflow=POOL_OVERFLOW,
        pool_pre_ping=True,
        connect_args={"connect_timeout": CONNECT_S, "application_name": "tallystick"},
    )

    @sa.event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: object) -> None:
        with connection.cursor() as cursor:
            cursor.execute(f"SET idle_in_transaction_session_timeout = {IDLE_TRANSACTION_MS}")
        connection.commit()  # The pool rolls back returned connections, which would undo an uncommitted SET.

    return engine


def _switch_to_wal(engine: sa.Engine) -> None:
    """Switch the file to WAL mode permanently, so that readers and the writer do not block each other."""
    for last in [False] * WAL_TRIES + [True]:
        try:
            with closing(engine.raw_connection()) as raw:
                raw.cursor().execute("PRAGMA journal_mode=WAL").fetchone()
        except sqlite3.DatabaseError as error:
            if last or "locked" not in str(error):
                # On a raw connection SQLAlchemy does not wrap the driver's error.
                wrapped = OperationalError if isinstance(error, sqlite3.OperationalError) else DatabaseError
                raise wrapped("PRAGMA journal_mode=WAL", None, error) from error
            time.sleep(WAL_PAUSE_S)
        else:
            return

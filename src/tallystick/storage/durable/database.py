"""The SQLAlchemy engine under DBOS and under the workers' rows.

DBOS can make its own engine, but on SQLite that one reads outside of transactions: two processes then overstep a
queue's limit and trip over each other's migrations. Ours begins every transaction with the write lock.
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
"""Apart from other tables, and from another DBOS application in the same Postgres database."""
BUSY_MS = 30_000
"""How long SQLite waits for another process's transaction; they take milliseconds, a full disk cache seconds."""
IDLE_TRANSACTION_MS = 60_000
"""Postgres ends a transaction left open this long, so that a stopped process cannot hold locks for ever."""
CONNECT_S = 10
POOL_SIZE = 5
POOL_OVERFLOW = 5
"""A worker's runs ask in short bursts; beyond both they wait for a connection. With the rooms' own ten, four workers
stay below the hundred that Postgres gives by default."""
SETUP_LOCK = 7_202_010
"""Advisory lock while the tables are made; any fixed number of our own."""
AWAY, REFUSED = "durable_database_unavailable", "durable_database_refused"
DATABASE_AWAY = frozenset({AWAY, REFUSED})
WAL_TRIES = 50
WAL_PAUSE_S = 0.1
"""SQLite does not wait by itself while the journal mode changes, so a second process at the first start tries again."""


def durable_url(database_url: str | None, control_room: Path) -> str:
    """The database to use: the one given, or a file in the control room."""
    if database_url:
        return database_url
    return f"sqlite:///{control_room / 'durable.db'}"


def open_engine(url: str) -> sa.Engine:
    """The engine for a URL; nothing is connected yet.

    Raises:
        ConfigError: Not a URL, or of a database that is not SQLite or Postgres.
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
    """Whether this is the file on one machine."""
    return engine.dialect.name == "sqlite"


def set_up(engine: sa.Engine, tables: sa.MetaData, migrate: Callable[[], None]) -> None:
    """Make what is missing, safely when several processes begin at once."""
    if on_sqlite(engine):
        _switch_to_wal(engine)
    with engine.begin() as connection:
        lock(connection)
        if not on_sqlite(engine):
            connection.execute(sa.schema.CreateSchema(SCHEMA, if_not_exists=True))
        tables.create_all(connection)
    # DBOS locks for itself on Postgres; on SQLite it is one transaction of our engine.
    migrate()


def lock(connection: sa.Connection) -> None:
    """Let one process at a time set up or take over; SQLite's transactions are exclusive from their beginning."""
    if connection.dialect.name != "sqlite":
        connection.execute(sa.text("SELECT pg_advisory_xact_lock(:key)"), {"key": SETUP_LOCK})


@contextmanager
def database_errors() -> Iterator[None]:
    """Say in our words what the database library says in its own, without the URL's password."""
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
        # The arguments and results of runs lie in it. A path that is no file is reported when it is connected.
        with suppress(OSError):
            private_file(path)
    engine = sa.create_engine(url, pool_size=POOL_SIZE, max_overflow=POOL_OVERFLOW)

    @sa.event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: object) -> None:
        connection.isolation_level = None  # The driver begins nothing by itself; `begin` below does.
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
        connection.commit()  # The pool rolls back what it gets back, and a bare SET with it.

    return engine


def _switch_to_wal(engine: sa.Engine) -> None:
    """Readers and the writer stop waiting for each other; the file remembers it."""
    for last in [False] * WAL_TRIES + [True]:
        try:
            with closing(engine.raw_connection()) as raw:
                raw.cursor().execute("PRAGMA journal_mode=WAL").fetchone()
        except sqlite3.DatabaseError as error:
            if last or "locked" not in str(error):
                # Without the toolkit's connection around it, the driver's error comes bare.
                wrapped = OperationalError if isinstance(error, sqlite3.OperationalError) else DatabaseError
                raise wrapped("PRAGMA journal_mode=WAL", None, error) from error
            time.sleep(WAL_PAUSE_S)
        else:
            return

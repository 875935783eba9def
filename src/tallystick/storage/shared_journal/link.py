"""One connection to the database: opened again after it was lost, and every use of it has a deadline."""

import contextlib
import os
import select
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import RLock, Thread
from typing import Any

import psycopg
from sqlalchemy.engine import Engine

from tallystick.errors import LedgerUnwritable
from tallystick.storage.database import migrate
from tallystick.storage.journal.forks import tell_children
from tallystick.storage.migrations import History

HISTORY = History(
    head="0001",
    versions=Path(__file__).parent / "versions",
    version_table="tally_schema_journal",
    owner="the journal",
)
WITHIN_S = 8.0
"""How long a use of the connection may take; a network that swallows packets would otherwise block the node forever."""
CONNECT_S = 3
_WATCH_S = 0.25
_SESSION = (
    # A node that is stopped or cut off while it holds the lock on the head loses it, and with it its transaction.
    "-c idle_in_transaction_session_timeout=5000 -c lock_timeout=6000 "
    "-c tcp_keepalives_idle=5 -c tcp_keepalives_interval=2 -c tcp_keepalives_count=3"
)
Connection = psycopg.Connection[tuple[Any, ...]]


def away(error: Exception | None = None) -> LedgerUnwritable:
    """Build the error for a database that cannot be reached."""
    reason = "" if error is None else f" ({type(error).__name__})"
    message = f"The journal's database cannot be reached{reason}. Nothing was stored. Check that it is up, then retry."
    return LedgerUnwritable(message, code="ledger_database_away")


def prepare(engine: Engine) -> str:
    """Bring the journal's tables to this version; return how to connect to them with psycopg."""
    migrate(engine, HISTORY)
    return engine.url.set(drivername="postgresql").render_as_string(hide_password=False)


class Link:
    """A connection for one thread at a time; take `lock` for the whole of a transaction."""

    def __init__(self, conninfo: str, name: str) -> None:
        self._conninfo = conninfo
        self._name = f"tally-{name}"
        self._connection: Connection | None = None
        self.lock = RLock()
        tell_children(self)

    def open(self) -> Connection:
        """Return the connection, made anew if it was lost.

        Raises:
            LedgerUnwritable: The database cannot be reached.
        """
        found = self._connection
        if found is not None and not found.closed:
            return found
        try:
            self._connection = connection = psycopg.connect(
                self._conninfo,
                autocommit=True,
                connect_timeout=CONNECT_S,
                application_name=self._name,
                options=_SESSION,
                prepare_threshold=0,
            )
            with within(connection):
                _confirm_commits(connection)
        except psycopg.Error as error:
            self.drop()
            raise away(error) from error
        return connection

    @contextmanager
    def use(self) -> Iterator[Connection]:
        """Use the connection under its lock and deadline; a lost connection is dropped, and the error is translated."""
        with self.lock:
            connection = self.open()
            try:
                with within(connection):
                    yield connection
            except psycopg.errors.LockNotAvailable as error:
                self.drop()
                message = "Another node holds the journal for too long. Nothing was stored. Try again."
                raise LedgerUnwritable(message, code="ledger_locked") from error
            except psycopg.Error as error:
                self.drop()
                raise away(error) from error

    def retried(self, run: Callable[[Connection], Any]) -> Any:
        """Run what may be repeated, twice if the connection was lost since its last use."""
        try:
            with self.use() as connection:
                return run(connection)
        except LedgerUnwritable as error:
            if error.code == "ledger_locked":
                raise
        with self.use() as connection:
            return run(connection)

    def is_alive(self) -> bool:
        """Return whether the server has not closed the connection, without asking it."""
        connection = self._connection
        if connection is None or connection.closed:
            return False
        if self.lock.acquire(blocking=False):
            try:
                # An idle connection becomes readable when the server closes it.
                poll = select.poll()
                poll.register(connection.fileno(), select.POLLIN)
                return not poll.poll(0)
            except (OSError, ValueError, psycopg.Error):
                return False
            finally:
                self.lock.release()
        return True

    def in_transaction(self) -> bool:
        """Return whether a transaction is open."""
        found, idle = self._connection, psycopg.pq.TransactionStatus.IDLE
        return found is not None and not found.closed and found.info.transaction_status != idle

    def drop(self) -> None:
        """Close the connection; the server rolls back what it had not committed."""
        found, self._connection = self._connection, None
        if found is not None:
            with contextlib.suppress(psycopg.Error, OSError):
                found.close()

    def mark_forked(self) -> None:
        """Leave the connection to the parent; psycopg does not close it in another process than its own."""
        self._connection, self.lock = None, RLock()


def _confirm_commits(connection: Connection) -> None:
    """Make COMMIT wait for the disk, unless the server waits for more than that anyway."""
    row = connection.execute("SHOW synchronous_commit").fetchone()
    if row is not None and row[0] in {"off", "local"}:
        connection.execute("SET synchronous_commit = on")


class _Watch:
    """Shuts down the socket of a use that has passed its deadline, so that its thread gets an error."""

    def __init__(self) -> None:
        self._due: dict[Connection, float] = {}
        self._pid = 0

    @contextmanager
    def within(self, connection: Connection) -> Iterator[None]:
        if self._pid != os.getpid():
            self._pid, self._due = os.getpid(), {}
            Thread(target=self._run, name="tally-deadlines", daemon=True).start()
        self._due[connection] = time.monotonic() + WITHIN_S
        try:
            yield
        finally:
            self._due.pop(connection, None)

    def _run(self) -> None:
        while True:
            time.sleep(_WATCH_S)
            now = time.monotonic()
            for connection, due in list(self._due.items()):
                if now > due:
                    _shut(connection)


def _shut(connection: Connection) -> None:
    with contextlib.suppress(OSError, ValueError, psycopg.Error):
        copy = socket.socket(fileno=os.dup(connection.fileno()))
        try:
            copy.shutdown(socket.SHUT_RDWR)
        finally:
            copy.close()


within = _Watch().within

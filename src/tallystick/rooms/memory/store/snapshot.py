"""Snapshots: every query reads one consistent state of the tables, whatever is written meanwhile."""

from contextlib import AbstractContextManager, nullcontext

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from tallystick.rooms.memory.store import StaleSnapshot
from tallystick.rooms.memory.store.tables import HEAD

TableHead = tuple[int, bytes]
"""The log position that the tables have reached, and the note stored with it. Another process may have rebuilt them to
the same position under another policy; only the note tells."""
_HEAD_QUERY = sa.select(HEAD.c.scanned, HEAD.c.body)


class SnapshotReader:
    """Reads the state that was last seen or written here. Not thread-safe."""

    def __init__(self, engine: Engine) -> None:
        postgres = engine.dialect.name == "postgresql"
        # PostgreSQL would show each statement what is committed by then; SQLite gives a transaction one snapshot.
        self._engine = engine.execution_options(isolation_level="REPEATABLE READ") if postgres else engine
        self.head: TableHead | None = None
        """None: the tables are empty."""
        self._depth = 0
        """Nesting of `with` blocks."""
        self._open: Connection | None = None

    def __enter__(self) -> None:
        """Use one read transaction for everything inside the block; its head is compared when it begins."""
        self._depth += 1

    def __exit__(self, *_: object) -> None:
        """End the transaction with the outermost block."""
        self._depth -= 1
        if not self._depth:
            self.release()

    def refresh(self) -> TableHead | None:
        """Read the present head, and read that state from now on."""
        self.release()
        connection = self._engine.connect()
        with self._kept(connection):
            self.head = _read_head(connection)
        return self.head

    def acquire(self) -> None:
        """Begin the read transaction now, so that later writes do not matter to it.

        Raises:
            StaleSnapshot: The tables have changed.
        """
        with self.connect():
            pass

    def release(self) -> None:
        """End the read transaction; the next read begins another."""
        if self._open is not None:
            opened, self._open = self._open, None
            opened.close()

    def connect(self) -> AbstractContextManager[Connection]:
        """Return a connection to the known state of the tables, and to no other.

        Raises:
            StaleSnapshot: The tables have changed.
        """
        if self._open is not None:
            return nullcontext(self._open)
        connection = self._engine.connect()
        known = False
        try:
            known = _read_head(connection) == self.head
        finally:
            if not known:
                connection.close()
        if not known:
            raise StaleSnapshot
        return self._kept(connection)

    def _kept(self, connection: Connection) -> AbstractContextManager[Connection]:
        """Keep a connection for the `with` block; otherwise for one query."""
        if not self._depth:
            return connection
        self._open = connection
        return nullcontext(connection)


def _read_head(connection: Connection) -> TableHead | None:
    row = connection.execute(_HEAD_QUERY).first()
    return None if row is None else (row.scanned, bytes(row.body))

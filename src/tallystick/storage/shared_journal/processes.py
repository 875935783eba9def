"""Processes of all nodes that may have calls in flight: a row each, and an advisory lock that ends with its connection.

A node that loses its connection may be taken for dead: another then records `unknown` for its unfinished calls. If the
call still ends, its outcome is recorded after that, and names the same `started` record.
"""

import contextlib
import os
from collections.abc import Callable, Iterator

from tallystick.errors import LedgerError
from tallystick.gate.record.in_flight import EndedProcess
from tallystick.storage.shared_journal.link import Connection, Link

_NEW = "INSERT INTO tally_processes VALUES (%s, %s) ON CONFLICT (token) DO NOTHING"


class Processes:
    """The table of processes; implements `gate.record.in_flight.ProcessRegistry`."""

    def __init__(self, conninfo: str, random: Callable[[int], bytes] = os.urandom) -> None:
        self._link = Link(conninfo, "process")
        self._random = random
        self._pid = 0
        self._token = ""
        self._since = 0

    def enter(self, size: int) -> str:
        """Return this process's token; its row is durable and its lock held before any call runs."""
        if self._pid != os.getpid():
            self._pid, self._token, self._since = os.getpid(), self._random(8).hex(), size
        if not self._link.is_alive():
            self._link.drop()
            self._link.retried(self._hold)
        return self._token

    def _hold(self, connection: Connection) -> None:
        connection.execute("SELECT pg_advisory_lock(%s)", (_key(self._token),))
        connection.execute(_NEW, (self._token, self._since))

    def oldest(self, seq: int) -> None:
        """Store that all calls before record `seq` are finished."""
        self._since = seq
        with contextlib.suppress(LedgerError), self._link.use() as connection:
            connection.execute("UPDATE tally_processes SET since = %s WHERE token = %s", (seq, self._token))

    def leave(self, *, finished: bool) -> None:
        """Release the lock; the row stays for recovery if calls were left unfinished."""
        if self._pid == os.getpid() and finished:
            with contextlib.suppress(LedgerError), self._link.use() as connection:
                connection.execute("DELETE FROM tally_processes WHERE token = %s", (self._token,))
        self._pid = 0
        self._link.drop()

    def gone(self) -> Iterator[EndedProcess]:
        """Yield the processes that have ended; each stays locked until the caller asks for the next."""
        with self._link.use() as connection:
            rows = connection.execute("SELECT token, since FROM tally_processes ORDER BY token").fetchall()
        for token, since in rows:
            if token == self._token and self._pid == os.getpid():
                continue
            with self._link.use() as connection:
                got = connection.execute("SELECT pg_try_advisory_lock(%s)", (_key(token),)).fetchone()
                here = connection.execute("SELECT 1 FROM tally_processes WHERE token = %s", (token,)).fetchone()
            if got is None or not got[0]:
                continue
            ended = EndedProcess(token=token, since=since)
            try:
                if here is not None:
                    yield ended
            finally:
                with self._link.use() as connection:
                    if ended.settled:
                        connection.execute("DELETE FROM tally_processes WHERE token = %s", (token,))
                    connection.execute("SELECT pg_advisory_unlock(%s)", (_key(token),))


def _key(token: str) -> int:
    """Return the advisory lock of a token: its 64 bits as the signed integer that PostgreSQL takes."""
    return int.from_bytes(bytes.fromhex(token), signed=True)

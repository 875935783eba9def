"""Reads the records, payloads and definitions of a journal in PostgreSQL."""

from collections.abc import Iterator
from typing import Any

from tallystick.errors import LedgerError
from tallystick.storage.shared_journal.link import Link

Columns = tuple[bytes, bytes, bytes]
_PAGE = 256
_ROWS = "SELECT header, inputs, outputs FROM tally_records WHERE seq >= %s AND seq < %s ORDER BY seq"
_SESSIONS = """WITH RECURSIVE found AS (
    (SELECT session_id FROM tally_records ORDER BY session_id LIMIT 1) UNION ALL
    SELECT (SELECT session_id FROM tally_records WHERE session_id > found.session_id ORDER BY session_id LIMIT 1)
    FROM found WHERE found.session_id IS NOT NULL)
    SELECT session_id FROM found WHERE session_id IS NOT NULL"""


class RecordRows:
    """The reading half of the journal, on a connection of its own."""

    def __init__(self, conninfo: str) -> None:
        self._reading = Link(conninfo, "reader")
        self._closed = False

    def read(self, start: int = 0) -> Iterator[Columns]:
        """Stream the columns of all records from `start` on that existed when this was called."""
        end = self.size()
        return self._pages(start, end)

    def _pages(self, start: int, end: int) -> Iterator[Columns]:
        for at in range(max(0, start), end, _PAGE):
            for header, inputs, outputs in self._query(_ROWS, (at, min(at + _PAGE, end))):
                yield bytes(header), bytes(inputs), bytes(outputs)

    def get(self, seq: int) -> Columns | None:
        """Return the columns of one record; None if there is no such record."""
        rows = self._query(_ROWS, (seq, seq + 1)) if 0 <= seq < 1 << 62 else []
        return (bytes(rows[0][0]), bytes(rows[0][1]), bytes(rows[0][2])) if rows else None

    def blob(self, digest: str) -> bytes | None:
        """Return salt and payload stored outside the record."""
        rows = self._query("SELECT data FROM tally_blobs WHERE digest = %s", (digest,))
        return bytes(rows[0][0]) if rows else None

    def size(self) -> int:
        """Return the number of records."""
        rows = self._query("SELECT size FROM tally_head", ())
        return int(rows[0][0]) if rows else 0

    def session(self, session_id: str) -> Iterator[int]:
        """Yield the sequence numbers of a session's records."""
        text = "SELECT seq FROM tally_records WHERE session_id = %s AND seq > %s ORDER BY seq LIMIT 1000"
        last = -1
        while rows := self._query(text, (session_id, last)):
            yield from (row[0] for row in rows)
            last = rows[-1][0]

    def sessions(self) -> Iterator[str]:
        """Yield the ids of all sessions."""
        return (row[0] for row in self._query(_SESSIONS, ()))

    def keep(self, kind: str, name: str, data: bytes) -> None:
        """Store a policy or tool definition once, for all nodes."""
        text = "INSERT INTO tally_definitions VALUES (%s, %s, %s) ON CONFLICT DO NOTHING RETURNING 1"
        self._query(text, (kind, name, data))

    def kept(self, kind: str, name: str) -> bytes | None:
        """Return a stored definition; None if there is none."""
        rows = self._query("SELECT data FROM tally_definitions WHERE kind = %s AND name = %s", (kind, name))
        return bytes(rows[0][0]) if rows else None

    def _query(self, text: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        if self._closed:
            raise LedgerError("The ledger is closed.", code="ledger_closed")
        found: list[tuple[Any, ...]] = self._reading.retried(
            lambda connection: connection.execute(text, values, binary=True).fetchall()
        )
        return found

    def rebuild_views(self) -> int:
        """Return the number of sessions: a session is read by its index, so there is nothing to rewrite."""
        return sum(1 for _ in self.sessions())

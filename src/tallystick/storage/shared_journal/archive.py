"""Reads the journal in PostgreSQL for an audit: one snapshot, while other nodes keep appending."""

import re
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import psycopg

from tallystick.gate.record.archive import HeadClaim
from tallystick.gate.record.checkpoint import notes_in
from tallystick.gate.record.journal import Notary
from tallystick.storage.journal import disk
from tallystick.storage.journal.head import Head, latest_slot, named_by, unpack
from tallystick.storage.shared_journal.link import CONNECT_S, away

_BATCH = 1000
_KEY_ID = slice(8, 16)
_LINES = "SELECT header, inputs, outputs FROM tally_records WHERE seq < %s ORDER BY seq"
_LATER = "SELECT header, inputs, outputs FROM tally_records WHERE seq >= %s ORDER BY seq"


class PostgresArchive:
    """Snapshot of a journal in a database; implements `gate.record.archive.LogArchive`."""

    def __init__(self, conninfo: str, mirror: Path | None, notary: Notary, witnesses: Sequence[Path] = ()) -> None:
        self._conninfo, self._mirror = conninfo, mirror
        self._cursors = count()
        notary.renew()
        # Before the snapshot: each of them was written after the commit that it tells of.
        slots = b"" if mirror is None else disk.read_whole(mirror) or b""
        self._mirrored_note = None if mirror is None else disk.read_whole(mirror.with_suffix(".checkpoint"))
        self._witnessed = [path.read_bytes() for path in witnesses if path.is_file()]
        try:
            self._snapshot = psycopg.connect(conninfo, connect_timeout=CONNECT_S)
            self._snapshot.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            self._snapshot.read_only = True
            row = self._snapshot.execute("SELECT size, slot FROM tally_head", binary=True).fetchone()
        except psycopg.Error as error:
            raise away(error) from error
        self.size = 0 if row is None else int(row[0])
        self._heads, self._head_faults = self._claims(b"" if row is None else bytes(row[1]), slots, notary)

    def _claims(self, slot: bytes, mirrored: bytes, notary: Notary) -> tuple[list[HeadClaim], list[str]]:
        heads, faults = list[HeadClaim](), list[str]()
        head = unpack(slot, notary.keys)
        if head is None:
            faults.append("head_missing")
        else:
            heads.append(_claim("head", head, slot[_KEY_ID]))
        found = latest_slot(mirrored, notary.keys)
        if found is not None:
            heads.append(_claim("mirror", *found))
        elif self._mirror is not None and self.size:
            faults.append("mirror_missing")
        return heads, faults

    def heads(self) -> list[HeadClaim]:
        """Return the heads whose MAC verifies with a key of this workspace."""
        return self._heads

    def earlier(self) -> list[str]:
        """Return names of the mirror's copies of heads of earlier, non-empty logs."""
        if self._mirror is None or not self._mirror.parent.is_dir():
            return []
        form = re.compile(re.escape(self._mirror.stem) + r"\.\d{8}T\d+\.earlier")
        found = sorted(path for path in self._mirror.parent.iterdir() if form.fullmatch(path.name))
        return [path.name for path in found if named_by(disk.read_whole(path) or b"")]

    def head_faults(self) -> list[str]:
        """Return codes: no head or mirror that verifies."""
        return self._head_faults

    def lines(self) -> Iterator[list[bytes]]:
        """Yield all records of the snapshot as lines of a log, in batches."""
        with self._snapshot.cursor(f"lines_{next(self._cursors)}", binary=True) as cursor:
            cursor.itersize = _BATCH
            cursor.execute(_LINES, (self.size,))
            while rows := cursor.fetchmany(_BATCH):
                yield [b"%b\t%b\t%b" % row for row in rows]

    def later_lines(self) -> Iterator[bytes]:
        """Yield records added since the snapshot."""
        with psycopg.connect(self._conninfo) as later, later.cursor("later", binary=True) as cursor:
            cursor.execute(_LATER, (self.size,))
            yield from (b"%b\t%b\t%b" % row for row in cursor)

    def torn(self) -> int:
        """Return 0: a transaction leaves no half of a record."""
        return 0

    def notes(self) -> Iterator[bytes]:
        """Yield all checkpoints in the order written."""
        with self._snapshot.cursor(f"notes_{next(self._cursors)}", binary=True) as cursor:
            cursor.execute("SELECT note FROM tally_checkpoints ORDER BY number")
            yield from (bytes(row[0]) for row in cursor)

    def mirrored_note(self) -> bytes | None:
        """Return the latest checkpoint that this node has written or None."""
        return self._mirrored_note

    def witnessed(self) -> Iterator[bytes]:
        """Yield the checkpoints in witness files, of this log and of others."""
        for data in self._witnessed:
            yield from notes_in(data.splitlines(keepends=True))

    def blob(self, digest: str) -> bytes | None:
        """Return a payload stored outside the record."""
        return self._one("SELECT data FROM tally_blobs WHERE digest = %s", digest)

    def definition(self, kind: str, digest: str) -> bytes | None:
        """Return the stored policy or tool definition with this digest."""
        name = f"{digest}{'.toml' if kind == 'policies' else '.json'}"
        return self._one("SELECT data FROM tally_definitions WHERE kind = %s AND name = %s", kind, name)

    def view_has(self, session_id: str, line: bytes) -> bool:  # noqa: ARG002 - a session has no file of its own here
        """Return True: a session's records are found by the index over the records themselves."""
        return True

    def other_views(self, size: int) -> Iterator[str]:  # noqa: ARG002 - as above
        """Yield nothing."""
        return iter(())

    def view_again(self, session_id: str) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Close the connection."""
        self._snapshot.close()

    def _one(self, text: str, *values: Any) -> bytes | None:
        row = self._snapshot.execute(text, values, binary=True).fetchone()
        return None if row is None else bytes(row[0])


def _claim(source: str, head: Head, key_id: bytes) -> HeadClaim:
    return HeadClaim(source=source, size=head.size, leaf=head.leaf, key_id=key_id.hex(), checkpointed=head.checkpointed)

"""Reads and validates records from a known position: those of other processes, and those left by a crash.

A record is valid if it is complete, continues the hash chain and, beyond the head, has a valid signature and matching
payload digests. Reading ends at the first invalid line. If the head covers that line, the log is damaged and the
journal stops; beyond the head, the record was never acknowledged, so it is set aside and the chain continues.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import orjson

from tallystick.gate.record.journal import Notary
from tallystick.gate.record.payload import BLOB, ERASED
from tallystick.gate.session import valid_session_id
from tallystick.storage.journal.segments import LogLine, Segments


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadRecord:
    """A valid record."""

    seq: int
    leaf: bytes
    position: int
    end: int
    header: dict[str, Any]
    columns: tuple[bytes, bytes, bytes]


@dataclass(slots=True)
class LogReader:
    """Reads records one by one and tracks the end of the valid ones."""

    segments: Segments
    notary: Notary
    trusted: int
    """Records below this are covered by the head, whose leaf authenticates them: their signatures are not checked."""
    seq: int
    leaf: bytes
    end: int
    fault: str | None = None
    """Why reading ended before the last byte; None if it did not."""

    def records(self) -> Iterator[ReadRecord]:
        """Yield the valid records from the current position on."""
        for line in self.segments.lines(self.end):
            found = self._take(line)
            if found is None:
                return
            self.seq, self.leaf, self.end = found.seq + 1, found.leaf, found.end
            yield found

    def _take(self, line: LogLine) -> ReadRecord | None:
        columns = split_line(line.data) if line.whole else None
        header = None if columns is None else parse_header(columns[0])
        if columns is None or header is None or not isinstance(header.get("session_id"), str):
            self.fault = "not a complete record"
        elif header.get("seq") != self.seq:
            self.fault = "sequence number out of order"
        elif header.get("prev") != self.leaf.hex():
            self.fault = "its `prev` is not the hash of the previous record"
        elif self.seq >= self.trusted and not (self.notary.signed(columns[0]) and _payloads_fit(header, columns)):
            self.fault = "signature or payload digest does not match"
        else:
            leaf = sha256(b"\0" + columns[0]).digest()
            return ReadRecord(
                seq=self.seq, leaf=leaf, position=line.position, end=line.end, header=header, columns=columns
            )
        self.end = line.position
        return None


def split_line(line: bytes) -> tuple[bytes, bytes, bytes] | None:
    """Split a record's line into its three columns; None if it has more or fewer."""
    parts = line.split(b"\t")
    return (parts[0], parts[1], parts[2]) if len(parts) == 3 else None  # noqa: PLR2004 - header, inputs, outputs


def parse_header(data: bytes) -> dict[str, Any] | None:
    """Parse the header; None if it is not a JSON object."""
    try:
        header = orjson.loads(data)
    except orjson.JSONDecodeError:
        return None
    return header if isinstance(header, dict) else None


def sessions_in(rows: Iterable[tuple[bytes, bytes, bytes]]) -> Iterator[tuple[int, str]]:
    """Yield sequence number and session id of each record of a log, read from its start."""
    for seq, columns in enumerate(rows):
        session_id = (parse_header(columns[0]) or {}).get("session_id")
        # A tampered record may contain any session id, even a path; `verify` reports such records.
        if isinstance(session_id, str) and valid_session_id(session_id):
            yield seq, session_id


def _payloads_fit(header: dict[str, Any], columns: tuple[bytes, bytes, bytes]) -> bool:
    """Return whether inline payloads match their digests; a blob was durable before its record was written."""
    for column, name in zip(columns[1:], ("inputs_digest", "outputs_digest"), strict=True):
        if column[:1] in {BLOB, ERASED}:
            continue
        digest = sha256(column).hexdigest() if column else None
        if header.get(name) != digest:
            return False
    return True

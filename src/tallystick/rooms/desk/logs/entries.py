"""Log entries, read from the end of a file: JSON lines and common plain formats; anything else is text."""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson

from tallystick.records import record

BLOCK = 256 * 1024
MAX_LINE = 64 * 1024
"""What is kept of one line; longer ones are cut at the end."""


@dataclass(kw_only=True)
class Budget:
    """How many bytes may still be read, over all files of a search."""

    left: int

    def take(self, wanted: int) -> int:
        """As many as there are."""
        given = min(wanted, self.left)
        self.left -= given
        return given


MAX_FOLLOWING = 40
"""Lines without a time that are taken as part of the one before: a stack trace."""
_TIME_KEYS = ("@timestamp", "timestamp", "time", "ts", "datetime", "date", "created_at")
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?: ?(?:Z|[+-]\d{2}:?\d{2}))?")
_WEB = re.compile(r"\d{2}/[A-Z][a-z]{2}/\d{4}:\d{2}:\d{2}:\d{2} [+-]\d{4}")
_HEAD = 200
"""Characters of a line that are searched for its time."""
_MILLIS = 10_000_000_000
"""An epoch above this is in milliseconds: in seconds it would lie three centuries ahead."""


@record
class LogEntry:
    """One log entry."""

    offset: int
    """Bytes from the beginning of the file."""
    moment: datetime | None
    text: str


def entries_from_end(descriptor: int, budget: Budget) -> Iterator[LogEntry]:
    """The entries of a file, the last first; lines that follow one without a time of their own belong to it."""
    following: list[str] = []
    for offset, line in lines_from_end(descriptor, budget):
        text = line.decode("utf-8", "replace").rstrip("\r")
        if not text.strip():
            continue
        moment = moment_of(text)
        if moment is None and text[0].isspace() and len(following) < MAX_FOLLOWING:
            following.append(text)
            continue
        yield LogEntry(offset=offset, moment=moment, text="\n".join([text, *reversed(following)]))
        following = []


def moment_of(line: str) -> datetime | None:
    """When a line was logged, as far as it says so; without a zone it is taken as UTC."""
    if line.startswith("{"):
        try:
            found = orjson.loads(line)
        except orjson.JSONDecodeError:
            found = None
        if isinstance(found, dict):
            return _of_object(found)
    head = line[:_HEAD]
    if plain := _ISO.search(head):
        return parse_moment(plain.group().replace(",", "."))
    if web := _WEB.search(head):
        return _strptime(web.group())
    return None


def parse_moment(text: str) -> datetime | None:
    """Parse an RFC 3339 time, leniently; None if it is not a time."""
    try:
        found = datetime.fromisoformat(text.strip().replace(" +", "+").replace(" -", "-").replace(" Z", "Z"))
    except ValueError:
        return None
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


def _of_object(found: Mapping[str, Any]) -> datetime | None:
    for key in _TIME_KEYS:
        value = found.get(key)
        if isinstance(value, str) and (moment := parse_moment(value)):
            return moment
        if isinstance(value, int | float) and not isinstance(value, bool):
            try:
                return datetime.fromtimestamp(value / 1000 if value > _MILLIS else value, UTC)
            except (ValueError, OverflowError, OSError):
                return None
    return None


def _strptime(text: str) -> datetime | None:
    try:
        return datetime.strptime(text, "%d/%b/%Y:%H:%M:%S %z").astimezone(UTC)
    except ValueError:
        return None


def lines_from_end(descriptor: int, budget: Budget) -> Iterator[tuple[int, bytes]]:
    """Offset and bytes of each line, the last first; ends early when the budget does."""
    at = os.fstat(descriptor).st_size
    tail = b""
    while at > 0 and (size := budget.take(min(BLOCK, at))) > 0:
        at -= size
        block = os.pread(descriptor, size, at)
        # A line that goes on for megabytes is never gathered whole.
        data = block + tail[:MAX_LINE]
        end = len(data)
        while (cut := data.rfind(b"\n", 0, end)) >= 0:
            yield at + cut + 1, data[cut + 1 : min(end, cut + 1 + MAX_LINE)]
            end = cut
        tail = data[:end]
    if at == 0 and tail:
        yield 0, tail[:MAX_LINE]

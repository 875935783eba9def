"""Log lines as entries: when, and what. JSON lines and the usual plain forms are understood, anything else is text."""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import orjson

from tallystick.records import record
from tallystick.rooms.desk.logs.backward import Budget, lines_from_end

MAX_FOLLOWING = 40
"""Lines without a time that are taken as part of the one before: a stack trace."""
_TIME_KEYS = ("@timestamp", "timestamp", "time", "ts", "datetime", "date", "created_at")
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?: ?(?:Z|[+-]\d{2}:?\d{2}))?")
_WEB = re.compile(r"\d{2}/[A-Z][a-z]{2}/\d{4}:\d{2}:\d{2}:\d{2} [+-]\d{4}")
_HEAD = 200
"""Characters of a line in which its time stands."""
_MILLIS = 10_000_000_000
"""An epoch above this is in milliseconds: in seconds it would lie three centuries ahead."""


@record
class LogEntry:
    """One thing that was logged."""

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
    """A time as RFC 3339 writes it, or nearly; None if it is none."""
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

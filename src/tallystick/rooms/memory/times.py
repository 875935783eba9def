"""Times come with the event, as text; inside they are whole seconds since 1970."""

from datetime import UTC, datetime, timedelta
from functools import lru_cache

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND = timedelta(seconds=1)
_FIRST = (datetime.min.replace(tzinfo=UTC) - _EPOCH) // _SECOND
_LAST = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // _SECOND
"""What can be written again; a zone may lead out of it."""


_LONGEST = 40
"""A longer text is hardly a time, and not worth remembering."""


def seconds(stamp: str) -> int | None:
    """Whole seconds since 1970 of an RFC 3339 time or a plain date; None if it is neither."""
    return _remembered(stamp) if len(stamp) <= _LONGEST else _read(stamp)


def _read(stamp: str) -> int | None:
    try:
        moment = datetime.fromisoformat(stamp)
        # A time without a zone is read as UTC: memory has no zone of its own to read it in.
        found = ((moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment) - _EPOCH) // _SECOND
    except (ValueError, OverflowError):
        return None
    return found if _FIRST <= found <= _LAST else None


_remembered = lru_cache(maxsize=1024)(_read)
"""One proposal's times are asked for several times, and the next one's are often the same."""


def seconds_or_none(stamp: str | None) -> int | None:
    """The same for a time that need not be given."""
    return None if stamp is None else seconds(stamp)


def stamp_of(moment: int) -> str:
    """A time as memory writes it: `2026-01-31T12:00:00Z`."""
    return (_EPOCH + moment * _SECOND).isoformat().replace("+00:00", "Z")

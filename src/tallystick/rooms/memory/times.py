"""Times: RFC 3339 text outside, whole seconds since 1970 inside."""

from datetime import UTC, datetime, timedelta
from functools import lru_cache

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND = timedelta(seconds=1)
_FIRST = (datetime.min.replace(tzinfo=UTC) - _EPOCH) // _SECOND
_LAST = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // _SECOND
"""What can be formatted again; a time zone may shift a time beyond it."""


_LONGEST = 40
"""A longer text is hardly a time, and not worth caching."""


def seconds(stamp: str) -> int | None:
    """Return the seconds since 1970 of an RFC 3339 time or a plain date; None if it is neither."""
    return _cached(stamp) if len(stamp) <= _LONGEST else _read(stamp)


def _read(stamp: str) -> int | None:
    try:
        moment = datetime.fromisoformat(stamp)
        # A time without a zone is read as UTC.
        found = ((moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment) - _EPOCH) // _SECOND
    except (ValueError, OverflowError):
        return None
    return found if _FIRST <= found <= _LAST else None


_cached = lru_cache(maxsize=1024)(_read)
"""Each time of a proposal is parsed several times, and the next proposal often has the same ones."""


def seconds_or_none(stamp: str | None) -> int | None:
    """Return the seconds of an optional time."""
    return None if stamp is None else seconds(stamp)


def stamp_of(moment: int) -> str:
    """Return a time as memory formats it: `2026-01-31T12:00:00Z`."""
    return (_EPOCH + moment * _SECOND).isoformat().replace("+00:00", "Z")

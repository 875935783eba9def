"""Times come with the event, as text; inside they are whole seconds since 1970."""

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND = timedelta(seconds=1)
_FIRST = (datetime.min.replace(tzinfo=UTC) - _EPOCH) // _SECOND
_LAST = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // _SECOND
"""What can be written again; a zone may lead out of it."""


def seconds(stamp: str) -> int | None:
    """Whole seconds since 1970 of an RFC 3339 time or a plain date; None if it is neither."""
    try:
        moment = datetime.fromisoformat(stamp)
        # A time without a zone is read as UTC: memory has no zone of its own to read it in.
        found = ((moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment) - _EPOCH) // _SECOND
    except (ValueError, OverflowError):
        return None
    return found if _FIRST <= found <= _LAST else None


def seconds_or_none(stamp: str | None) -> int | None:
    """The same for a time that need not be given."""
    return None if stamp is None else seconds(stamp)


def stamp_of(moment: int) -> str:
    """A time as memory writes it: `2026-01-31T12:00:00Z`."""
    return (_EPOCH + moment * _SECOND).isoformat().replace("+00:00", "Z")

"""The rule gate: what of an event can be told without reading it. Length and age here; repeats where it is stored."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from tallystick.records import record
from tallystick.rooms.desk.options import Options

DAY_S = 86_400


@record
class Turned:
    """An event that becomes no ticket."""

    status: str
    """skipped: there is nothing to do. rejected: it cannot be taken as it is."""
    reason: str
    message: str
    heard: bool = False
    """Whether the customer has written something all the same, so that an answer on its way may have come too late."""


def check_event(event: Mapping[str, Any], options: Options, now: str) -> Turned | None:
    """Why an event is not taken; None: it is.

    Args:
        event: As it was given.
        options: How long, how old.
        now: RFC 3339.
    """
    content = event.get("content")
    if not isinstance(content, str) or not content.strip():
        return Turned(status="rejected", reason="content_missing", message="Give the customer's words as 'content'.")
    too_long = check_length(content, options)
    if too_long is not None:
        return too_long
    if len(content.strip()) < options.min_chars:
        message = f"Shorter than {options.min_chars} characters; nothing to answer."
        return Turned(status="skipped", reason="too_short", message=message, heard=True)
    written = moment_of(event.get("timestamp"))
    if written is not None and (age_s(written, now) or 0) > options.max_age_days * DAY_S:
        message = f"Older than {options.max_age_days} days; not answered any more."
        return Turned(status="skipped", reason="too_old", message=message)
    return None


def check_length(content: Any, options: Options) -> Turned | None:
    """Whether words are too many; whole tickets are asked this alone."""
    if not isinstance(content, str) or len(content) <= options.max_chars:
        return None
    message = f"Longer than {options.max_chars} characters. Shorten it, or attach it elsewhere and name the place."
    return Turned(status="rejected", reason="content_too_long", message=message, heard=True)


def moment_of(value: Any) -> datetime | None:
    """A time as the contract writes it; None: it is none. One without a zone is taken for UTC."""
    if not isinstance(value, str):
        return None
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def age_s(written: datetime, now: str) -> float | None:
    """Seconds since; None if nobody knows the time."""
    present = moment_of(now)
    return None if present is None else (present - written).total_seconds()

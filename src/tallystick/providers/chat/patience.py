"""Retry delays: exponential backoff with jitter and an upper bound."""

from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from math import isfinite

FIRST_S = 0.5
LONGEST_S = 8.0
OBEYED_S = 30.0
"""If a server asks for a longer delay, there is no retry: the caller can wait better than a held turn."""


def pause_s(attempt: int, retry_after_s: float | None, random: Callable[[], float]) -> float | None:
    """Return the seconds to wait before a retry; None if it is not worthwhile.

    Args:
        attempt: The number of failed attempts, minus one.
        retry_after_s: The delay the server asked for.
        random: Returns a number from 0 up to 1.
    """
    if retry_after_s is not None:
        return retry_after_s if retry_after_s <= OBEYED_S else None
    longest: float = min(FIRST_S * 2**attempt, LONGEST_S)
    return longest * (0.5 + random() / 2)


def asked_pause_s(headers: Mapping[str, str], now: float) -> float | None:
    """Parse `Retry-After`, in seconds or as a date; None if it is missing or invalid.

    Args:
        headers: The response headers, with lower-case names.
        now: Seconds since 1970.
    """
    text = headers.get("retry-after", "").strip()
    if not text:
        return None
    try:
        wanted = float(text)
    except ValueError:
        try:
            wanted = parsedate_to_datetime(text).timestamp() - now
        except ValueError:
            return None
    return max(wanted, 0.0) if isfinite(wanted) else None

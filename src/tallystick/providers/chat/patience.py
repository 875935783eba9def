"""How long to wait before the next try: twice as long each time, never all at the same moment, never past a bound."""

from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from math import isfinite

FIRST_S = 0.5
LONGEST_S = 8.0
OBEYED_S = 30.0
"""A server that asks for a longer pause is told of no further try: whoever asked can wait better than a held turn."""


def pause_s(attempt: int, retry_after_s: float | None, random: Callable[[], float]) -> float | None:
    """Seconds to wait before another try; None: not worth the wait.

    Args:
        attempt: How many tries have failed, less one.
        retry_after_s: What the server asked for.
        random: From 0 up to 1.
    """
    if retry_after_s is not None:
        return retry_after_s if retry_after_s <= OBEYED_S else None
    longest: float = min(FIRST_S * 2**attempt, LONGEST_S)
    return longest * (0.5 + random() / 2)


def asked_pause_s(headers: Mapping[str, str], now: float) -> float | None:
    """What `Retry-After` asks for, in seconds or as a date; None if it says nothing sensible.

    Args:
        headers: Of the answer, names in small letters.
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

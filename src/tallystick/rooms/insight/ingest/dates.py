"""Times as exports write them, read as epoch seconds.

Five kinds: ISO 8601, month/day/year, day/month/year, seconds or milliseconds since 1970, and the e-mail form of RFC
2822; also dates with the month's name, and a spreadsheet's day numbers. A time without a zone is taken as UTC. `01/02`
says nothing about which is the day, so that is decided for a whole column: one value above twelve settles it.
"""

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache

DAY_FIRST, MONTH_FIRST = True, False
_PARTED = re.compile(r"(\d{1,2})([/.\-])(\d{1,2})\2(\d{4}|\d{2})(?:[ ,T]+(.+))?")
_CLOCK = re.compile(
    r"(\d{1,2})[:.](\d{2})(?:[:.](\d{2})(?:\.\d+)?)?\s?(am|pm|a\.m\.|p\.m\.)?(?:\s?(?:z|utc|gmt))?", re.IGNORECASE
)
_NAMED = re.compile(
    r"(?:([A-Za-z]{3,9})\.? (\d{1,2})(?:st|nd|rd|th)?,?|(\d{1,2})\.?[ \-]([A-Za-z]{3,9})\.?,?)[ \-](\d{4})"
    r"(?:[ ,]+(?:at )?(.+))?"
)
_MAIL = re.compile(r"(?:[A-Za-z]{3}, ?)?\d{1,2} [A-Za-z]{3} \d{2,4} \d")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec"
_YEARS = range(1900, 2200)
_FIRST_DAY = 25_569
"""1970-01-01 as a spreadsheet numbers it."""
_SERIALS = (20_000, 80_000)
_SECONDS = (10**8, 10**10)
_DAY = 86_400


@lru_cache(maxsize=8_192)
def read_moment(text: str, *, day_first: bool = MONTH_FIRST) -> int | None:
    """Epoch seconds; None: no time that we can read."""
    try:
        return _read(text.strip(), day_first=day_first)
    except (ValueError, OverflowError, TypeError, IndexError):
        return None


def order_of(values: Iterable[str]) -> bool | None:
    """Whether the day stands first in these values of one column; None: they do not say."""
    for value in values:
        found = _PARTED.fullmatch(value.strip())
        if found is None:
            continue
        first, second = int(found[1]), int(found[3])
        if first > 12 >= second:  # noqa: PLR2004 - months
            return DAY_FIRST
        if second > 12 >= first:  # noqa: PLR2004
            return MONTH_FIRST
    return None


def is_open(values: Iterable[str]) -> bool:
    """Whether there are dates among the values whose order matters."""
    return any(_PARTED.fullmatch(value.strip()) for value in values)


def likely_order(values: list[str]) -> bool:
    """When no value settles it: by the sign between, then by which reading keeps the dates closer together."""
    parted = [found for value in values if (found := _PARTED.fullmatch(value.strip()))]
    if any(found[5] and re.search(r"(?i)[ap]\.?m", found[5]) for found in parted):
        return MONTH_FIRST
    if parted and all(found[2] != "/" for found in parted):
        return DAY_FIRST
    spans = {}
    for order in (MONTH_FIRST, DAY_FIRST):
        read = [moment for found in parted if (moment := read_moment(found[0], day_first=order)) is not None]
        spans[order] = max(read, default=0) - min(read, default=0)
    return DAY_FIRST if spans[DAY_FIRST] < spans[MONTH_FIRST] else MONTH_FIRST


def _read(text: str, *, day_first: bool) -> int | None:
    if text[:4].isdigit() and text[4:5] in {"-", "/", "."}:
        return _iso(text)
    if _NUMBER.fullmatch(text):
        return _number(text)
    parted = _PARTED.fullmatch(text)
    if parted:
        first, second = int(parted[1]), int(parted[3])
        day, month = (first, second) if day_first else (second, first)
        return _moment(_year(parted[4]), month, day, parted[5])
    if _MAIL.match(text):
        return _stamp(parsedate_to_datetime(text))
    named = _NAMED.fullmatch(text)
    if named:
        month = _MONTHS.split().index((named[1] or named[4])[:3].lower()) + 1
        return _moment(int(named[5]), month, int(named[2] or named[3]), named[6])
    # What is left may be ISO without its signs, 20260131T100000Z.
    return _stamp(datetime.fromisoformat(text))


def _iso(text: str) -> int | None:
    text = text.removesuffix(" UTC").removesuffix(" GMT")
    if text[4] != "-":
        text = f"{text[:4]}-{text[5:].replace('/', '-', 1).replace('.', '-', 1)}"
    # `2026-01-31 10:00:00 +0100`, as Ruby programs write it.
    return _stamp(datetime.fromisoformat(re.sub(r" (?=[+-]\d)", "", text)))


def _number(text: str) -> int | None:
    if len(text) == 8 and text.isdigit() and text.startswith(("19", "20")):  # noqa: PLR2004 - 20260131
        return _stamp(datetime.fromisoformat(text))
    value = float(text)
    if _SERIALS[0] <= value <= _SERIALS[1]:
        return round((value - _FIRST_DAY) * _DAY)
    for unit in (1, 1_000, 1_000_000):
        if _SECONDS[0] <= value / unit < _SECONDS[1]:
            return int(value // unit)
    return None


def _moment(year: int, month: int, day: int, clock: str | None) -> int | None:
    hour = minute = second = 0
    if clock:
        found = _CLOCK.fullmatch(clock.strip())
        if found is None:
            return None
        hour, minute, second = int(found[1]), int(found[2]), int(found[3] or 0)
        half = (found[4] or "")[:1].lower()
        if half:
            hour = hour % 12 + (12 if half == "p" else 0)
    return _stamp(datetime(year, month, day, hour, minute, second, tzinfo=UTC))


def _year(text: str) -> int:
    year = int(text)
    return year if len(text) == 4 else year + (2000 if year < 70 else 1900)  # noqa: PLR2004 - as POSIX reads two digits


def _stamp(moment: datetime) -> int | None:
    if moment.year not in _YEARS:
        return None
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())

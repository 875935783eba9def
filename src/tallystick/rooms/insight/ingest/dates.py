"""Dates and times of exports, as epoch seconds.

Five kinds: ISO 8601, month/day/year, day/month/year, seconds or milliseconds since 1970, and the e-mail form of RFC
2822; also dates with the month's name, and a spreadsheet's day numbers. A time without a zone is taken as UTC. `01/02`
says nothing about which is the day, so that is decided for a whole column: one value above twelve settles it.
"""

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from email.utils import parsedate_to_datetime
from functools import lru_cache

from dateutil import parser  # type: ignore[import-untyped]

DAY_FIRST, MONTH_FIRST = True, False
_PARTED = re.compile(r"(\d{1,2})([/.\-])(\d{1,2})\2(\d{4}|\d{2})(?:[ ,T]+(.+))?")
_CLOCK = re.compile(
    r"(\d{1,2})[:.](\d{2})(?:[:.](\d{2})(?:\.\d+)?)?\s?(am|pm|a\.m\.|p\.m\.)?(?:\s?(?:z|utc|gmt))?", re.IGNORECASE
)
_MAIL = re.compile(r"(?:[A-Za-z]{3}, ?)?\d{1,2} [A-Za-z]{3} \d{2,4} \d")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_YEAR_FIRST = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})\b")
_LETTERS = re.compile(r"[A-Za-z]+")


class _Names(parser.parserinfo):  # type: ignore[misc]
    """Months by their first three letters, as many languages share them."""

    def month(self, name: str) -> int | None:
        """The number of a month."""
        found: int | None = super().month(name[:3])
        return found


_NAMES = _Names()
_DEFAULTS = (datetime(2000, 1, 1), datetime(2001, 2, 2))  # noqa: DTZ001 - a time without a zone is told from one with
_YEARS = range(1900, 2200)
_FIRST_DAY = 25_569
"""1970-01-01 as a spreadsheet numbers it."""
_SERIALS = (20_000, 80_000)
_SECONDS = (10**8, 10**10)
_DAY = 86_400
_MONTHS = 12


@lru_cache(maxsize=8_192)
def read_moment(text: str, *, day_first: bool = MONTH_FIRST) -> int | None:
    """Epoch seconds; None: no time that we can read."""
    try:
        return _read(text.strip(), day_first=day_first)
    except (ValueError, OverflowError, TypeError, IndexError):
        return None


def order_of(values: Iterable[str]) -> bool | None:
    """Whether the day comes first in the values of one column; None: undecided."""
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
    if _NUMBER.fullmatch(text):
        return _number(text)
    parted = _PARTED.fullmatch(text)
    if parted:
        first, second = int(parted[1]), int(parted[3])
        day, month = (first, second) if day_first else (second, first)
        if month > _MONTHS >= day:
            # The value itself says which is the day, whatever the rest of its column does.
            day, month = month, day
        return _moment(_year(parted[4]), month, day, parted[5])
    if _MAIL.match(text):
        return _stamp(parsedate_to_datetime(text))
    try:
        return _stamp(datetime.fromisoformat(text))
    except ValueError:
        return _loosely(text)


def _loosely(text: str) -> int | None:
    """Parse a date with an unambiguous order: the year comes first, or the month is a name."""
    year_first = _YEAR_FIRST.match(text)
    if year_first is None and not any(_NAMES.month(word) is not None for word in _LETTERS.findall(text)):
        return None
    # What the text leaves out is taken from the default; where two defaults differ, it leaves out part of the date.
    found = [parser.parse(text, _NAMES, default=default, tzinfos=_zone) for default in _DEFAULTS]
    if found[0] != found[1] or (year_first and found[0].strftime("%Y %m %d") != _padded(year_first)):
        return None
    return _stamp(found[0])


def _padded(found: re.Match[str]) -> str:
    return f"{found[1]} {int(found[2]):02d} {int(found[3]):02d}"


def _zone(name: str | None, offset: int | None) -> tzinfo:
    """The offset that is written; the name of a zone alone says too little, but for UTC."""
    if offset is None and name not in {None, "UTC", "GMT", "Z"}:
        message = f"no zone: {name}"
        raise ValueError(message)
    return timezone(timedelta(seconds=offset or 0))


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

"""Dates, months, weeks, quarters and years in the words of a question.

A period without a year is the latest one that the data reach; one that counts from today counts from the last day of
the data, since a file says nothing of what came after it.
"""

from collections.abc import Callable, Sequence
from datetime import date, timedelta

from tallystick.records import record
from tallystick.text.calendar_names import MONTH_NUMBERS, MONTHS
from tallystick.text.number_words import NUMBER_WORDS

_DAY = timedelta(days=1)
_MOST_DAYS, _YEARS = 36_500, (1900, 2200)
_ORDINALS = ("st", "nd", "rd", "th")
_FULL_MAY = 5


@record
class NamedPeriod:
    """From a day to a day, itself included."""

    first: date
    last: date
    label: str
    is_day: bool = False


@record
class DataSpan:
    """The first and last day of a dataset."""

    first: date
    last: date


Found = tuple[int, NamedPeriod] | None
"""How many words it takes, and the period."""


def period_at(words: Sequence[str], at: int, span: DataSpan) -> Found:
    """The longest period that begins at a word."""
    found = [each for read in _READERS if (each := read(words, at, span)) is not None]
    return max(found, key=lambda each: each[0], default=None)


def month_period(year: int, month: int) -> NamedPeriod:
    """One month."""
    first = date(year, month, 1)
    last = (first + 31 * _DAY).replace(day=1) - _DAY
    return NamedPeriod(first=first, last=last, label=f"{MONTHS[month - 1].title()} {year}")


def earlier_than(period: NamedPeriod, span: DataSpan) -> NamedPeriod | None:
    """What a period is held against when only one is named: the month before, or as many days before."""
    if period.first <= span.first:
        return None
    if period == month_period(period.first.year, period.first.month):
        before = period.first - _DAY
        return month_period(before.year, before.month)
    return period_between(period.first - (period.last - period.first) - _DAY, period.first - _DAY)


def period_between(first: date, last: date) -> NamedPeriod:
    """From a day to a day."""
    if first == last:
        return NamedPeriod(first=first, last=last, label=_said(first), is_day=True)
    start = f"{first.day} {MONTHS[first.month - 1].title()}" if first.year == last.year else _said(first)
    if (first.year, first.month) == (last.year, last.month):
        start = str(first.day)
    return NamedPeriod(first=first, last=last, label=f"{start} to {_said(last)}")


def _said(day: date) -> str:
    return f"{day.day} {MONTHS[day.month - 1].title()} {day.year}"


def _word(words: Sequence[str], at: int) -> str:
    return words[at] if 0 <= at < len(words) else ""


def _month_of(word: str) -> int | None:
    return MONTH_NUMBERS.get(word)


def _year_of(word: str) -> int | None:
    return int(word) if word.isdecimal() and len(word) == 4 and _YEARS[0] <= int(word) < _YEARS[1] else None  # noqa: PLR2004


def _day_number(word: str) -> int | None:
    plain = word[:-2] if word.endswith(_ORDINALS) else word
    return int(plain) if plain.isdecimal() and 1 <= int(plain) <= 31 else None  # noqa: PLR2004 - days of a month


def _date_at(words: Sequence[str], at: int, span: DataSpan) -> tuple[int, date] | None:
    """`2026-04-09` (three words), `9 April`, `April 9th 2026`, `the 9th of April`."""
    skipped = 1 if _word(words, at) == "the" else 0
    start = at + skipped
    year = _year_of(_word(words, start))
    if year and _word(words, start + 1).isdecimal() and _word(words, start + 2).isdecimal():
        made = _made(year, int(words[start + 1]), int(words[start + 2]))
        return None if made is None else (skipped + 3, made)
    day, used = _day_number(_word(words, start)), 1
    month = None
    if day is not None:
        used += _word(words, start + 1) == "of"
        month = _month_of(_word(words, start + used))
    elif (month := _month_of(_word(words, start))) is not None:
        day = _day_number(_word(words, start + 1))
    if day is None or month is None:
        return None
    used += 1
    year = _year_of(_word(words, start + used))
    made = _made(year or latest_year(month, span), month, day)
    return None if made is None else (skipped + used + (year is not None), made)


def _made(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def latest_year(month: int, span: DataSpan) -> int:
    """The year of the latest such month that the data reach."""
    return span.last.year if month <= span.last.month else span.last.year - 1


def _one_date(words: Sequence[str], at: int, span: DataSpan) -> Found:
    found = _date_at(words, at, span)
    return None if found is None else (found[0], period_between(found[1], found[1]))


def _two_dates(words: Sequence[str], at: int, span: DataSpan) -> Found:
    """`2 to 8 March`, `March 2 to 8`, `5 March until 9 April`, `between 2026-03-02 and 2026-03-08`."""
    begin = at + (_word(words, at) in {"between", "from"})
    first = _date_at(words, begin, span)
    if first is None and _day_number(_word(words, begin)) and _day_number(_word(words, begin + 1)):
        # `16-31 October`: the sign between them is no word.
        words = [*words[: begin + 1], "to", *words[begin + 1 :]]
        found = _two_dates(words, at, span)
        return None if found is None else (found[0] - 1, found[1])
    link = _link_at(words, begin + first[0] if first else begin + 1)
    if link is None:
        return None
    if _word(words, link) == "and" and begin == at:
        return None
    last = _date_at(words, link + 1, span)
    if last is None and first is not None and (day := _day_number(_word(words, link + 1))) is not None:
        made = _made(first[1].year, first[1].month, day)
        last = None if made is None else (1, made)
    if last is None:
        return None
    start = first[1] if first else None
    if start is None and (day := _day_number(_word(words, begin))) is not None:
        start = _made(last[1].year, last[1].month, day)
    if start is None or start > last[1]:
        return None
    return link + 1 + last[0] - at, period_between(start, last[1])


def _link_at(words: Sequence[str], at: int) -> int | None:
    """The last word of a link between two dates: `to`, `and`, `up to`, `up to and including`."""
    at += tuple(words[at : at + 2]) == ("up", "to")
    if _word(words, at) not in {"to", "until", "till", "and", "through"}:
        return None
    return at + 2 if tuple(words[at + 1 : at + 3]) == ("and", "including") else at


def _month(words: Sequence[str], at: int, span: DataSpan) -> Found:
    month = _month_of(_word(words, at))
    if month is None:
        return None
    year = _year_of(_word(words, at + 1))
    if month == _FULL_MAY and year is None and _word(words, at - 1) not in _BEFORE_MAY:
        return None
    return (1 + (year is not None)), month_period(year or latest_year(month, span), month)


_BEFORE_MAY = {
    "in",
    "during",
    "since",
    "for",
    "of",
    "from",
    "between",
    "to",
    "and",
    "vs",
    "versus",
    "than",
    "before",
    "after",
}


def _quarter(words: Sequence[str], at: int, span: DataSpan) -> Found:
    word = _word(words, at)
    if len(word) != 2 or word[0] != "q" or word[1] not in "1234":  # noqa: PLR2004
        return None
    year = _year_of(_word(words, at + 1))
    first = (int(word[1]) - 1) * 3 + 1
    start, end = month_period(year or span.last.year, first), month_period(year or span.last.year, first + 2)
    label = f"Q{word[1]} {start.first.year}"
    return (1 + (year is not None)), NamedPeriod(first=start.first, last=end.last, label=label)


def _year(words: Sequence[str], at: int, _span: DataSpan) -> Found:
    year = _year_of(_word(words, at))
    if year is None or _word(words, at - 1) not in {"in", "during", "for", "of", "since", "before", "after"}:
        return None
    return 1, NamedPeriod(first=date(year, 1, 1), last=date(year, 12, 31), label=str(year))


def _relative(words: Sequence[str], at: int, span: DataSpan) -> Found:
    """`last week`, `this month`, `the first week`, `the last 7 days`: of the data."""
    which, unit = _word(words, at), _word(words, at + 1).removesuffix("s")
    if which in {"last", "past", "first"} and (many := _number(_word(words, at + 1))):
        return _several(words, at, span, many)
    if which not in {"first", "last", "previous", "this", "current", "final"} or unit not in {"week", "month", "day"}:
        return None
    if unit == "week" and which in {"first", "last"} and _month(words, at + 3, span) and _word(words, at + 2) == "of":
        return _several([*words[: at + 1], "1", *words[at + 1 :]], at, span, 1, taken=-1)
    day = span.first if which == "first" else span.last
    more = 3 if tuple(words[at + 2 : at + 5]) == ("of", "the", "data") else 0
    found = _relative_to(day, which, unit)
    return 2 + more, found


def _several(words: Sequence[str], at: int, span: DataSpan, many: int, *, taken: int = 0) -> Found:
    """`the last 7 days`, `the first ten days of May`."""
    days = many * {"day": 1, "week": 7, "month": 30}.get(_word(words, at + 2).removesuffix("s"), 0)
    if not 0 < days <= _MOST_DAYS:
        return None
    month = _month(words, at + 4, span) if _word(words, at + 3) == "of" else None
    whole = DataSpan(first=month[1].first, last=month[1].last) if month else span
    used = taken + (4 + month[0] if month else 3)
    if _word(words, at) == "first":
        return used, period_between(whole.first, whole.first + (days - 1) * _DAY)
    return used, period_between(whole.last - (days - 1) * _DAY, whole.last)


def _relative_to(day: date, which: str, unit: str) -> NamedPeriod:
    back = 1 if which == "previous" else 0
    if unit == "week":
        monday = day - (day.weekday() + 7 * back) * _DAY
        return period_between(monday, monday + 6 * _DAY)
    if unit == "day":
        return period_between(day - back * _DAY, day - back * _DAY)
    month = month_period(day.year, day.month)
    before = month.first - _DAY
    return month_period(before.year, before.month) if back else month


def _half_month(words: Sequence[str], at: int, span: DataSpan) -> Found:
    """`the first half of April`; without a month, half of the data."""
    which = _word(words, at)
    if which not in {"first", "second", "last"} or _word(words, at + 1) != "half":
        return None
    month = _month(words, at + 3, span) if _word(words, at + 2) == "of" else None
    whole = DataSpan(first=month[1].first, last=month[1].last) if month else span
    middle = whole.first + ((whole.last - whole.first).days + 1) // 2 * _DAY
    used = 3 + month[0] if month else 2
    if which == "first":
        return used, period_between(whole.first, max(whole.first, middle - _DAY))
    return used, period_between(middle, whole.last)


def _number(word: str) -> int | None:
    return int(word) if word.isdecimal() and len(word) <= 4 else NUMBER_WORDS.get(word)  # noqa: PLR2004


_READERS: tuple[Callable[[Sequence[str], int, DataSpan], Found], ...] = (
    _two_dates, _one_date, _month, _quarter, _year, _relative, _half_month,
)  # fmt: skip

"""Periods that a question names: dates, months, quarters, years, `last week`.

Relative ones count from the dataset's last day, since a file says nothing of what came after it; the answer names the
dates, so that nobody is misled.
"""

import re
from calendar import monthrange
from collections.abc import Callable
from datetime import date, timedelta

from tallystick.records import record
from tallystick.rooms.insight.figures.query import Given, chosen

MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_MONTH = "|".join(f"{month[:3]}(?:{month[3:]})?" for month in MONTHS if month != "may") + "|may|sept"
_DAY = r"\d{4}-\d{2}-\d{2}"
_LAST_OF_YEAR = 12


@record
class Period:
    """From a day to a day."""

    first: date
    last: date
    """Itself included."""
    label: str

    def where(self) -> Given:
        """As parameters of a query."""
        return chosen(since=self.first.isoformat(), until=(self.last + timedelta(days=1)).isoformat())


@record
class Span:
    """The days of a dataset."""

    first: date
    last: date

    def halves(self) -> tuple[Period, Period] | None:
        """Earlier and later; None: all of it is one day."""
        days = (self.last - self.first).days + 1
        if days < 2:  # noqa: PLR2004 - a day has no halves
            return None
        middle = self.first + timedelta(days=days // 2)
        before = _between(self.first, middle - timedelta(days=1))
        return before, _between(middle, self.last)


@record
class Found:
    """The periods of a question, and what is left of it."""

    periods: tuple[Period, ...]
    rest: str


def find_periods(question: str, span: Span) -> Found:
    """Read the periods out of a question, in the order in which they are named."""
    found: list[tuple[int, Period]] = []

    def take(make: Callable[[re.Match[str], Span], Period | None]) -> Callable[[re.Match[str]], str]:
        def replace(match: re.Match[str]) -> str:
            period = make(match, span)
            if period is None:
                return match[0]
            found.append((match.start(), period))
            # Places stay as they are, so that the order is that of the question.
            return " " * len(match[0])

        return replace

    rest = question
    for pattern, make in _PATTERNS:
        rest = pattern.sub(take(make), rest)
    ordered = [period for _, period in sorted(found, key=lambda each: each[0])]
    return Found(periods=tuple(dict.fromkeys(ordered)), rest=rest)


def month_of(year: int, month: int) -> Period:
    """One month."""
    first = date(year, month, 1)
    return Period(
        first=first, last=date(year, month, monthrange(year, month)[1]), label=f"{MONTHS[month - 1].title()} {year}"
    )


def before(period: Period, span: Span) -> Period | None:
    """What a period is held against when it is asked what changed in it; None: the data begin with it.

    A month is held against the month before, one up to the end of the data against all before it, any other against as
    many days.
    """
    last = period.first - timedelta(days=1)
    if last < span.first:
        return None
    if period == month_of(period.first.year, period.first.month):
        return month_of(last.year, last.month)
    days = span.first if period.last >= span.last else period.first - (period.last - period.first) - timedelta(days=1)
    return _between(max(days, span.first), last)


def _between(first: date, last: date) -> Period:
    label = first.isoformat() if first == last else f"{first.isoformat()} to {last.isoformat()}"
    return Period(first=first, last=last, label=label)


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _two_days(match: re.Match[str], _span: Span) -> Period | None:
    first, last = _day(match["first"]), _day(match["last"])
    return _between(first, last) if first and last and first <= last else None


def _open_end(match: re.Match[str], span: Span) -> Period | None:
    day = _day(match["day"])
    return None if day is None else _open(day, match["word"].lower(), span)


def _open(day: date, word: str, span: Span) -> Period:
    if word in {"since", "from"}:
        return _between(day, max(day, span.last))
    if word == "after":
        return _between(day + timedelta(days=1), max(day + timedelta(days=1), span.last))
    if word == "on":
        return _between(day, day)
    return _between(min(span.first, day), day if word == "until" else day - timedelta(days=1))


def _named_day(match: re.Match[str], span: Span) -> Period | None:
    """`after 7 April`, `since April 7th, 2026`."""
    month = _month_number(match["month"] or match["name"])
    year = int(match["year"] or _latest_year(month, span))
    try:
        day = date(year, month, int(match["day"] or match["number"]))
    except ValueError:
        return None
    return _open(day, match["word"].lower(), span)


def _named_month(match: re.Match[str], span: Span) -> Period | None:
    month = _month_number(match["month"])
    if match["month"].lower() == "may" and not match["year"] and not match["before"]:
        return None
    if match["year"]:
        return month_of(int(match["year"]), month)
    return month_of(_latest_year(month, span), month)


def _month_number(name: str) -> int:
    return next(at for at, month in enumerate(MONTHS, start=1) if month.startswith(name.lower()[:3]))


def _latest_year(month: int, span: Span) -> int:
    """Of the latest such month that the data reach."""
    return span.last.year if month <= span.last.month else span.last.year - 1


def _quarter(match: re.Match[str], span: Span) -> Period | None:
    year, quarter = int(match["year"] or span.last.year), int(match["quarter"])
    last = quarter * 3
    return Period(
        first=date(year, last - 2, 1), last=date(year, last, monthrange(year, last)[1]), label=f"Q{quarter} {year}"
    )


def _year(match: re.Match[str], _span: Span) -> Period | None:
    year = int(match["year"])
    return Period(first=date(year, 1, 1), last=date(year, _LAST_OF_YEAR, 31), label=str(year))


def _last_days(match: re.Match[str], span: Span) -> Period | None:
    many = int(match["many"] or 1) * {"day": 1, "week": 7, "month": 30}[match["unit"].lower()]
    if not 0 < many <= 36_500:  # noqa: PLR2004 - a hundred years
        return None
    return _between(span.last - timedelta(days=many - 1), span.last)


def _relative(match: re.Match[str], span: Span) -> Period | None:
    back = 0 if match["which"].lower() in {"this", "current", "latest"} else 1
    unit = match["unit"].lower()
    if unit == "week":
        monday = span.last - timedelta(days=span.last.weekday() + 7 * back)
        return _between(monday, monday + timedelta(days=6))
    if unit == "year":
        year = span.last.year - back
        return Period(first=date(year, 1, 1), last=date(year, _LAST_OF_YEAR, 31), label=str(year))
    months = span.last.year * 12 + span.last.month - 1 - back
    return month_of(months // 12, months % 12 + 1)


def _half(match: re.Match[str], span: Span) -> Period | None:
    halves = span.halves()
    return None if halves is None else halves[match["which"].lower() == "second"]


_I = re.IGNORECASE
_PATTERNS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], Span], Period | None]], ...] = (
    (re.compile(rf"\b(?:between|from)\s+(?P<first>{_DAY})\s+(?:and|to|until)\s+(?P<last>{_DAY})\b", _I), _two_days),
    (re.compile(rf"\b(?P<first>{_DAY})\s*(?:to|until|till|-|–|\.\.)\s*(?P<last>{_DAY})\b", _I), _two_days),  # noqa: RUF001
    (re.compile(rf"\b(?P<word>since|from|after|before|until|on)\s+(?P<day>{_DAY})\b", _I), _open_end),
    (
        re.compile(rf"\b(?P<word>since|from|after|before|until|on)\s+(?:the\s+)?(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th)?"
                   rf"(?:\s+of)?\s+(?P<month>{_MONTH})|(?P<name>{_MONTH})\s+(?P<number>\d{{1,2}})(?:st|nd|rd|th)?)\b"
                   rf"(?:,?\s+(?P<year>(?:19|20)\d\d))?", _I),
        _named_day,
    ),
    (
        re.compile(rf"\b(?P<before>(?:in|during|since|for|of|from|between|to|and|vs\.?|versus|with)\s+)?"
                   rf"(?P<month>{_MONTH})\b\.?(?:,?\s+(?P<year>(?:19|20)\d\d))?", _I),
        _named_month,
    ),
    (re.compile(r"\bq(?P<quarter>[1-4])(?:\s+(?P<year>(?:19|20)\d\d))?\b", _I), _quarter),
    (re.compile(r"\b(?:in|during|for|of)\s+(?P<year>(?:19|20)\d\d)\b", _I), _year),
    (re.compile(r"\b(?:last|past|latest)\s+(?P<many>\d{1,4})\s+(?P<unit>day|week|month)s?\b", _I), _last_days),
    (re.compile(r"\b(?P<which>last|previous|this|current)\s+(?P<unit>week|month|year)\b", _I), _relative),
    (re.compile(r"\b(?P<which>first|second)\s+half\b", _I), _half),
)  # fmt: skip
"""Tried in this order; what one has taken the next does not see."""

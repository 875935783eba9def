"""Dates as novels write them, whole or in part, and whether two of them can be the same day."""

import re
from datetime import date, timedelta

from tallystick.records import record
from tallystick.rooms.studio.continuity.vocabulary import ORDINAL, ordinal_of

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
WEEKDAY = "(?:" + "|".join(day.capitalize() for day in WEEKDAYS) + ")"
MONTH = "(?:" + "|".join(month.capitalize() for month in MONTHS) + "|(?:Jan|Feb|Aug|Sept|Oct|Nov|Dec)(?![a-z])\\.?)"
YEAR = r"(?:1[0-9]{3}|20[0-9]{2})"
_DAY = rf"(?:{ORDINAL}|(?<![0-9])[0-9]{{1,2}})"
DATE = (
    rf"(?:(?P<weekday>{WEEKDAY})(?:,?\s+(?:and\s+|which\s+was\s+|was\s+|"
    rf"it\s+was,\s+)?)(?:the\s+)?)?(?:the\s+)?(?:(?P<day>{_DAY})(?:\s+day)?\s+(?:of\s+)?(?P<same>(?:that|the|"
    rf"this)\s+(?:very\s+)?same\s+|that\s+)?(?P<month>{MONTH})|"
    rf"(?P<month2>{MONTH})\s+(?:the\s+)?(?P<day2>{_DAY})(?![0-9-]))(?:,?\s+(?:in\s+the\s+year\s+)?(?P<year>{YEAR})(?![0"
    rf"-9]))?(?:(?:,?\s+(?:which\s+(?:was|fell\s+on)\s+|being\s+|was\s+|is\s+|fell\s+on\s+|(?:came|"
    rf"dawned)(?:\s+in)?\s+on\s+|and\s+)?a\s+|\s+dawned;\s+it\s+was\s+a\s+)(?P<weekday2>{WEEKDAY}))?"
)
"""A day of a month, with its weekday and year if they are given."""
LOOSE = (
    rf"(?:{DATE}|(?P<month3>{MONTH}),?\s+(?:of\s+)?(?P<year2>{YEAR})(?![0-9])|(?P<year3>{YEAR})(?![0-9])|"
    rf"(?P<weekday3>{WEEKDAY})\b)"
)
"""Any date, down to a bare year or weekday."""
_DATE = re.compile(DATE)
DATE_WORDS = frozenset({*WEEKDAYS, *MONTHS, "jan", "feb", "aug", "sept", "oct", "nov", "dec", "#"})
"""Words that a date is written with, as `Prose.with_words` takes them."""


@record
class Moment:
    """A date as far as it is given; 0 (of a weekday -1) where it is not."""

    year: int = 0
    month: int = 0
    day: int = 0
    weekday: int = -1

    @property
    def whole(self) -> date | None:
        """As a day of the calendar, if year, month and day are given and there is such a day."""
        try:
            return date(self.year, self.month, self.day) if self.year and self.month and self.day else None
        except ValueError:
            return None

    def differs(self, other: "Moment") -> bool:
        """Whether it cannot be the same day."""
        for mine, theirs in ((self.year, other.year), (self.month, other.month), (self.day, other.day)):
            if mine and theirs and mine != theirs:
                return True
        return self.weekday >= 0 and other.weekday >= 0 and self.weekday != other.weekday

    def as_value(self) -> tuple[int, ...]:
        """As a fact holds it."""
        return (self.year, self.month, self.day, self.weekday)


def moment_of(found: re.Match[str]) -> Moment:
    """What a match of `DATE` or `LOOSE` says."""
    groups = found.groupdict()

    def first(*names: str) -> str:
        return next((groups[name] for name in names if groups.get(name)), "")

    day = first("day", "day2")
    month = first("month", "month2", "month3")
    year = first("year", "year2", "year3")
    weekday = first("weekday", "weekday2", "weekday3")
    return Moment(
        year=int(year) if year else 0,
        month=month_of(month) if month else 0,
        day=ordinal_of(day) or 0 if day else 0,
        weekday=WEEKDAYS.index(weekday.lower()) if weekday else -1,
    )


def month_of(word: str) -> int:
    """`Sept.` → 9."""
    start = word.lower()[:3]
    return next(number for number, month in enumerate(MONTHS, 1) if month.startswith(start))


def read_date(text: str) -> Moment | None:
    """The date that a card gives: `4 March 1790`, `1790-03-04`, `March 4th`, `1790`."""
    if iso := re.search(r"\b([0-9]{3,4})-([0-9]{2})-([0-9]{2})\b", text):
        return Moment(year=int(iso.group(1)), month=int(iso.group(2)), day=int(iso.group(3)))
    found = _DATE.search(text) or re.search(LOOSE, text)
    return moment_of(found) if found else None


def later(start: Moment, count: int, unit: str) -> Moment | None:
    """The date some days, weeks, months or years after another, as far as it can be told."""
    if unit in {"day", "week", "fortnight"}:
        days = count * {"day": 1, "week": 7, "fortnight": 14}[unit]
        weekday = (start.weekday + days) % 7 if start.weekday >= 0 else -1
        whole = Moment(year=start.year or 1901, month=start.month, day=start.day).whole
        if whole is None:
            return Moment(weekday=weekday) if weekday >= 0 else None
        then = whole + timedelta(days=days)
        return Moment(year=then.year if start.year else 0, month=then.month, day=then.day, weekday=weekday)
    if unit == "month" and start.month:
        months = start.month - 1 + count
        return Moment(year=start.year + months // 12 if start.year else 0, month=months % 12 + 1)
    return Moment(year=start.year + count) if unit == "year" and start.year else None


def weekday_name(number: int) -> str:
    """0 → Monday."""
    return WEEKDAYS[number].capitalize()


def written(moment: Moment) -> str:
    """As it is shown in a message."""
    parts = [weekday_name(moment.weekday)] if moment.weekday >= 0 else []
    if moment.day:
        parts.append(str(moment.day))
    if moment.month:
        parts.append(MONTHS[moment.month - 1].capitalize())
    if moment.year:
        parts.append(str(moment.year))
    return " ".join(parts)

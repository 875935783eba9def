"""When a passage plays: dates in front matter, in diary and letter headings, and in sentences."""

import re
from collections.abc import Iterator
from datetime import date

from tallystick.records import record
from tallystick.text.calendar_names import MONTH_NUMBERS, MONTHS, WEEKDAY_NUMBERS, WEEKDAYS

NO_YEAR = 1901
"""Stands for the year of a story that never names one."""
_MONTH = "|".join([*MONTHS, "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sept", "sep", "oct", "nov", "dec"])
_WEEKDAY = "|".join(WEEKDAYS)
_DATE = re.compile(
    rf"(?:(?P<weekday>{_WEEKDAY}),?\s+(?:the\s+)?)?(?:"
    rf"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?(?:\s*(?:-|–|to)\s*[0-3]?\d(?:st|nd|rd|th)?)?\s+(?:of\s+)?(?P<month>{_MONTH})\b\.?"  # noqa: RUF001
    rf"|(?P<month2>{_MONTH})\.?\s+(?:the\s+)?(?P<day2>[0-3]?\d)(?:st|nd|rd|th)?\b(?!\s*:))(?:,?\s+(?P<year>1[0-9]\d\d|20\d\d)\b)?",
    re.IGNORECASE,
)
_OPENING = re.compile(r"\A[\W_]*(?:[A-Z][\w’'-]*,?\s+){0,4}")  # noqa: RUF001
_HEAD = 60


@record
class StoryDate:
    """A day of the story, and what was written beside it."""

    day: int
    """As an ordinal."""
    has_year: bool
    weekday: int | None
    """Monday is 1."""
    start: int
    end: int

    @property
    def calendar(self) -> date:
        """As a calendar date."""
        return date.fromordinal(self.day)


def dates_in(text: str, year: int | None = None) -> Iterator[StoryDate]:
    """Yield the dates that a text gives.

    Args:
        text: The text.
        year: The year of the story, for dates without one.
    """
    for found in _DATE.finditer(text):
        month = MONTH_NUMBERS[(found["month"] or found["month2"]).lower()[:3]]
        given = int(found["year"]) if found["year"] else year
        try:
            day = date(given or NO_YEAR, month, int(found["day"] or found["day2"]))
        except ValueError:
            continue
        weekday = WEEKDAY_NUMBERS[found["weekday"].lower()] if found["weekday"] else None
        yield StoryDate(
            day=day.toordinal(), has_year=given is not None, weekday=weekday, start=found.start(), end=found.end()
        )


def heading_date(text: str, year: int | None) -> StoryDate | None:
    """The date that a diary entry or letter opens with."""
    head = text[:_HEAD]
    found = next(dates_in(head, year), None)
    if found is None:
        return None
    opening = _OPENING.match(head)
    begins = found.start <= (opening.end() if opening else 0)
    after = text[found.end : found.end + 1]
    return found if begins and (not after or after in '._,;:—–-*")') else None  # noqa: RUF001

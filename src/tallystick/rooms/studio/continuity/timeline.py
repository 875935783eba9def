"""Days that do not add up: counted days, a weekday that the date did not have, a day that no month has."""

import re
from collections.abc import Iterator
from datetime import date
from itertools import pairwise

from tallystick.records import record
from tallystick.rooms.studio.continuity.dates import DATE, DATE_WORDS, Moment, moment_of, written
from tallystick.rooms.studio.continuity.narration import Narration
from tallystick.rooms.studio.continuity.reckoning import Spot, misreckonings

_DATED = re.compile(DATE)
_SAME_YEAR = 400
"""Sentences within which two dates without a year are taken to be of the same year."""
_FAR = re.compile(r"\b(?:years?|New\s+Year|twelvemonth|Christmas)\b")
_LONGEST = {2: 29, 4: 30, 6: 30, 9: 30, 11: 30}
_REFORM = date(1753, 1, 1)
"""Before it, English dates follow another calendar."""


@record
class Clash:
    """Two places whose dates cannot both be right."""

    rule: str
    subject: str
    message: str
    first: Spot
    second: Spot


def clashes(narration: Narration) -> Iterator[Clash]:
    """All of one file."""
    yield from _impossible_dates(narration)
    for found in misreckonings(narration):
        yield Clash(
            rule="day-arithmetic", subject=found.subject, message=found.message, first=found.first, second=found.second
        )
    yield from _two_weekdays(narration)


def _impossible_dates(narration: Narration) -> Iterator[Clash]:
    """A weekday that its date did not have; a 31st of April."""
    for number, found in _matches(narration, _DATED):
        moment = moment_of(found)
        place = (number, found.start(), found.end())
        longest = _LONGEST.get(moment.month, 31)
        if moment.day > longest and found.group("day") is not None:
            message = f"There is no {moment.day} {written(Moment(month=moment.month))}."
            yield Clash(rule="impossible-date", subject=written(moment), message=message, first=place, second=place)
        whole = moment.whole
        if whole and moment.weekday >= 0 and whole.weekday() != moment.weekday and whole >= _REFORM:
            day = written(Moment(weekday=whole.weekday()))
            dated = written(Moment(year=moment.year, month=moment.month, day=moment.day))
            message = f"{dated} was a {day}, not a {written(Moment(weekday=moment.weekday))}."
            yield Clash(rule="weekday-of-date", subject=dated, message=message, first=place, second=place)


def _two_weekdays(narration: Narration) -> Iterator[Clash]:
    """Two dates with their weekdays that no one year has."""
    dated = [
        (number, found, moment)
        for number, found in _matches(narration, _DATED)
        if (moment := moment_of(found)).weekday >= 0 and moment.day and moment.month
    ]
    for (number, found, one), (other, second, two) in pairwise(dated):
        if (one.year and two.year) or other - number > _SAME_YEAR or two.month < one.month:
            continue
        between = narration.prose.told[found.end() : second.start()]
        if _FAR.search(between) or _fits_a_year(one, two):
            continue
        message = f"{written(one)} and {written(two)} cannot be in one year."
        yield Clash(
            rule="weekday-of-date", subject=written(two), message=message, first=(number, *found.span()),
            second=(other, *second.span()),
        )  # fmt: skip


def _fits_a_year(one: Moment, two: Moment) -> bool:
    for year in (one.year or two.year,) if one.year or two.year else (1901, 1904):
        first = Moment(year=year, month=one.month, day=one.day).whole
        second = Moment(year=year, month=two.month, day=two.day).whole
        if first is None or second is None or (second - first).days % 7 == (two.weekday - one.weekday) % 7:
            return True
    return False


def _matches(narration: Narration, pattern: re.Pattern[str]) -> Iterator[tuple[int, re.Match[str]]]:
    for number, found in narration.prose.matches(pattern, DATE_WORDS):
        if not narration.in_dream(number) and not narration.prose.sentences[number].is_question:
            yield number, found

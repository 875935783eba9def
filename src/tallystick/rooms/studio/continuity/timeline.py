"""Days that do not add up: counted days, a weekday that the date did not have, a day that no month has."""

import re
from collections.abc import Iterator, Sequence
from datetime import date

from tallystick.records import record
from tallystick.rooms.studio.continuity.claims import is_only_talk
from tallystick.rooms.studio.continuity.dates import DATE, DATE_WORDS, Moment, moment_of, written
from tallystick.rooms.studio.continuity.elapsed import Elapsed
from tallystick.rooms.studio.continuity.focus import clause_at
from tallystick.rooms.studio.continuity.narration import Narration
from tallystick.rooms.studio.continuity.prose import Prose
from tallystick.rooms.studio.continuity.reckoning import Spot, misreckonings

_DATED = re.compile(DATE)
_OTHER_YEAR = re.compile(
    r"\b(?i:years)\s+(?:after\w*|later)\b|\b(?:(?:an)?other\s+year|(?:of|in)\s+(?:an?|some)\s+(?:\w+\s+)?year|"
    r"years\s+old|many\s+years|some\s+years|"
    r"distant\s+year|century|(?i:long)\s+(?:before|ago)|before\s+\w+\s+was\s+born|newspaper|dated|"
    r"many\s+an?\s+\w+\s+had|"
    r"had\s+gone\s+by|whether|calendar\s+had|last\s+reign|school-?days|childhood|boyhood|girlhood|[Ww]henever|"
    r"years\s+(?:ago|before|earlier|after\w*|later|out\s+of\s+date)|grandfather|ancestor|(?i:long)\s+after\w*|"
    r"(?:different|later)\s+year|no\s+such\s+day|in\s+the\s+(?:year|days|time|reign)s?\s+of|the\s+year\s+of\s+the|"
    r"in\s+such\s+years|programme|paperback|(?:first|second|third|last)\s+act|"
    r"in\s+the\s+(?:story|book|play|film|novel)|old\s+(?:almanac|calendar|diary|letter)|(?i:in\s+(?:the|a|his|"
    r"her)\s+dream)|"
    r"last\s+year's|next\s+year's|an\s+old\s+one|the\s+year\s+to\s+come|(?:that|which|what)\s+year|(?:was|is)\s+no\s+"
    r"(?=[A-Z][a-z]+day)|the\s+old\s+(?:king|queen|duke|lord)'s\s+(?:time|day|reign)|[Tt]he\s+prophecy\s+\w+|"
    r"(?:tomb|head|grave|mile)?stone\b[^;]{0,80}\brecorded|inscription|monument)\b"
)
"""That a date is of another year than the story's."""
_TO_COME = re.compile(r"\b(?:would|should|were\s+(?:ever\s+)?to|if|for\s+years\s+yet)\b")
_IN_A_BOOK = re.compile(
    r"\b(?:[Tt]he\s+(?:play|story|tale|film|book)\s+(?:which|that|opened|began|[A-Z])|paperback|novel|romance|"
    r"thriller|playbill|programme|(?:first|second|third|last)\s+(?:act|scene)|"
    r"the\s+(?:plot|heroine|hero)|in\s+the\s+(?:book|play|film|story|tale))\b"
)
_NOT_TOLD = re.compile(
    r"\b(?:if|unless|would(?!\s+not\s+(?:have|let))|were\s+(?:ever\s+)?to|might|should|whenever|"
    r"when\s+the\s+calendar|in\s+years\s+when|"
    r"so\s+the\s+fortune|(?:put\s+off|postpon|adjourn|deferr|lease|leave|let|clos|shut|valid|good|wait|stay|remain|"
    r"hold|"
    r"keep|last|notice|respite)\w*\s+(?:[\w']+\s+){0,4}?until)\b[^;:—]*\Z",
    re.IGNORECASE,
)
"""Before a date that is not come, or may never come."""
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
    first: tuple[Prose, Spot]
    second: tuple[Prose, Spot]


@record
class Dated:
    """A date with its weekday, where it stands."""

    prose: Prose
    spot: Spot
    moment: Moment
    is_same: bool = False
    """`of that same March`: the text itself says which March is meant."""


def clashes(narrations: Sequence[Narration], elapsed: Elapsed) -> Iterator[Clash]:
    """All of some files, in reading order."""
    for narration in narrations:
        prose = narration.prose
        yield from _impossible_dates(narration)
        for found in misreckonings(narration):
            yield Clash(
                rule="day-arithmetic", subject=found.subject, message=found.message, first=(prose, found.first),
                second=(prose, found.second),
            )  # fmt: skip
    yield from _two_weekdays(narrations, elapsed)


def _impossible_dates(narration: Narration) -> Iterator[Clash]:
    """A weekday that its date did not have; a 31st of April."""
    for number, found in _matches(narration, _DATED):
        moment = moment_of(found)
        place = (narration.prose, (number, found.start(), found.end()))
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


def _two_weekdays(narrations: Sequence[Narration], elapsed: Elapsed) -> Iterator[Clash]:
    """Two dates with their weekdays, and no year, that no one year has."""
    dated = [
        Dated(prose=narration.prose, spot=(number, *found.span()), moment=moment, is_same=bool(found.group("same")))
        for narration in narrations
        for number, found in _matches(narration, _DATED)
        if (moment := moment_of(found)).weekday >= 0
        and moment.day
        and moment.month
        and not moment.year
        and not _OTHER_YEAR.search(narration.prose.sentences[number].text)
        and not _is_only_supposed(narration, number, found)
        and not _NOT_TOLD.search(_before(narration.prose, number, found.start()))
    ]
    yield from _in_that_month(dated)
    bases = dated[:1]
    for late in dated[1:]:
        if late.is_same:
            continue
        apart = [early for early in bases if _cannot_both_be(early, late, elapsed)]
        if bases and len(apart) == len(bases):
            early = apart[0]
            message = f"{written(early.moment)} and {written(late.moment)} cannot be in one year."
            yield Clash(
                rule="weekday-of-date", subject=written(late.moment), message=message, first=(early.prose, early.spot),
                second=(late.prose, late.spot),
            )  # fmt: skip
            # Either may be the wrong one; what comes next decides, and the odd one is not told twice.
            bases = [*bases, late]
        else:
            bases = [late]


def _is_only_supposed(narration: Narration, number: int, found: re.Match[str]) -> bool:
    """Whether the day is of a book within the book, or is only said, meant or supposed to come."""
    sentence = narration.prose.sentences[number]
    start, end = clause_at(sentence.text, found.start() - sentence.start)
    if _TO_COME.search(sentence.text, start, end) or _IN_A_BOOK.search(sentence.text):
        return True
    return is_only_talk(sentence.text, found.start() - sentence.start)


def _before(prose: Prose, number: int, at: int) -> str:
    sentence = prose.sentences[number]
    return sentence.text[: at - sentence.start]


def _in_that_month(dated: Sequence[Dated]) -> Iterator[Clash]:
    """`Saturday, the fifteenth of that same March` against the day of that March that was named last."""
    for at, late in enumerate(dated):
        early = next((one for one in reversed(dated[:at]) if one.moment.month == late.moment.month), None)
        if late.is_same and early is not None and not _fits_a_year(early.moment, late.moment):
            message = f"{written(early.moment)} and {written(late.moment)} cannot be in one month."
            yield Clash(
                rule="weekday-of-date", subject=written(late.moment), message=message, first=(early.prose, early.spot),
                second=(late.prose, late.spot),
            )  # fmt: skip


def _cannot_both_be(early: Dated, late: Dated, elapsed: Elapsed) -> bool:
    start, end = (early.prose.order, early.spot[1]), (late.prose.order, late.spot[1])
    if late.moment.month < early.moment.month or elapsed.between(start, end) or _fits_a_year(early.moment, late.moment):
        return False
    if early.prose is not late.prose:
        # Between two chapters a year may have gone by unsaid.
        return early.moment.month == late.moment.month
    between = early.prose.told[early.spot[2] : late.spot[1]]
    return late.spot[0] - early.spot[0] <= _SAME_YEAR and not _FAR.search(between)


def _fits_a_year(one: Moment, two: Moment) -> bool:
    for year in (1901, 1904):
        first = Moment(year=year, month=one.month, day=one.day).whole
        second = Moment(year=year, month=two.month, day=two.day).whole
        if first is None or second is None or (second - first).days % 7 == (two.weekday - one.weekday) % 7:
            return True
    return False


def _matches(narration: Narration, pattern: re.Pattern[str]) -> Iterator[tuple[int, re.Match[str]]]:
    for number, found in narration.prose.matches(pattern, DATE_WORDS):
        if not narration.in_dream(number) and not narration.prose.sentences[number].is_question:
            yield number, found

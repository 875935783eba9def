"""Birthdays, journeys and moves with a date or a count of days, in sentences about one person only.

A date and a birthday in one sentence belong together whatever stands between them, if only one person is named in it.
"""

import re
from collections.abc import Iterator

from tallystick.rooms.studio.continuity.alone import alone, alone_before
from tallystick.rooms.studio.continuity.binding import Binder
from tallystick.rooms.studio.continuity.dates import DATE, DATE_WORDS, LOOSE, WEEKDAY, WEEKDAYS, YEAR, Moment, moment_of
from tallystick.rooms.studio.continuity.facts import Fact, fact_at
from tallystick.rooms.studio.continuity.narration import Narration
from tallystick.rooms.studio.continuity.people import Mention
from tallystick.rooms.studio.continuity.vocabulary import NUMBER, ORDINAL, number_of, ordinal_of, words

_PLACE = (
    r"(?P<place>(?!(?:Mr|Mrs|Miss|Dr|Sir|Lady|Lord|Captain|Madame|Master|Aunt|Uncle|Father)\b)"
    r"[A-ZÀ-Þ][\w'-]*\w(?:\s+[A-ZÀ-Þ][\w'-]*\w)?)"
)
_ANY = re.compile(LOOSE)
_DATED = re.compile(DATE)
_BIRTHDAY = re.compile(
    r"\b(?:birthday|natal\s+day|(?:was|been|were)\s+born|born\s+(?=on\b)|birth\b(?!\s+to)|"
    r"c[ao]me\s+into\s+the\s+world|a\s+year\s+older|(?:first\s+)?s(?:aw|een)\s+the\s+light)\b"
)
_MOVED = re.compile(
    rf"{_PLACE.replace('?P<place>', '?P<seat>')}\s+(?:was|had\s+been)\s+[^,;]{{2,30}}'s\s+home\b|\b(?:(?:came|come|"
    rf"gone|went|moved|removed)\s+to\s+(?:live|dwell|settle|lodge)\s+(?:in|at)|(?:first|finally)\s+(?:came|come|"
    rf"moved|settled|"
    rf"lived)\s+(?:to|in|at)|(?:had\s+|was\s+|been\s+)?(?:settled|established)\s+(?:himself\s+|herself\s+)?(?:in|at)|"
    rf"(?:moved|removed)\s+to|"
    rf"(?:took|taken)\s+(?:a\s+house|up\s+(?:his|her)\s+(?:abode|residence|quarters)|rooms|lodgings)\s+(?:in|at)|"
    rf"made\s+(?:his|her)\s+home\s+(?:in|at)|arrival\s+(?:in|at)|set\s+up\s+house\s+(?:in|at)|removal\s+to|"
    rf"had\s+come\s+to|"
    rf"(?:lived|been)\s+(?:settled\s+)?(?:in|at)|(?:brought|carried)\s+(?:[\w.]+\s+){{1,3}}?to|"
    rf"in\s+which\s+(?:[\w.]+\s+){{1,3}}?came\s+to)\s+{_PLACE}"
)
_IN_YEAR = re.compile(rf"\b(?:[Ii]n|[Yy]ear|of|[Ss]ince|[Ff]rom|was)\s+(?P<year>{YEAR})\b")
_SINCE = re.compile(rf"\b(?:[Ss]ince|[Ff]rom)\s+{YEAR}\b|\b(?:made|came|come|set\s+up)\b")
_TRAVELS = re.compile(
    r"\b(?:road|way|journey\w*|travel\w*|voyage|passage|ride|rode|riding|drive|coach\w*|reach\w*|made\s+it|getting|"
    r"get|march|walk\w*|crossing|sail\w*|trip|took|needed|distance|matter|set(?:ting)?\s+out|lay\s+between|made)\b"
)
_COUNT = re.compile(
    rf"\bon\s+the\s+(?P<nth>{ORDINAL})\s+day\b|\b(?P<count>{NUMBER})\s+(?:whole\s+|full\s+|long\s+|"
    rf"weary\s+)?(?P<unit>days|nights|weeks)(?:'|\b)",
    re.IGNORECASE,
)
_TO = re.compile(
    rf"\b(?:to|for|reach(?:ed|ing)?|(?:arrived?|arriving)\s+(?:in|at)|between\s+\w+\s+and|made|(?:was|stood)\s+(?:at|"
    rf"in)|from\s+\w+\s+to|saw|in)\s+{_PLACE}"
)
_LEAVES = re.compile(
    r"\b(?:set(?:ting)?\s+(?:out|off|forth)|departure|departed|started|starting|left|leave|coach|carriage|ship|boat|"
    r"packet|train|diligence|"
    r"mail|sailed|embarked|journey|on\s+(?:the|his|her)\s+(?:road|way))\b"
)
_FOR = re.compile(rf"\b(?:for|to|towards)\s+{_PLACE}")
_WEEKDAY = re.compile(rf"\b(?P<day>{WEEKDAY})\b")
_REPEATED = re.compile(
    r"\b(?:every|each|always|usually|again|second|next|returned|return|back|often|once|other)\b", re.IGNORECASE
)
_MONTHS = re.compile(
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December|\w+day)\b"
)


def journeys(narration: Narration, binder: Binder) -> Iterator[Fact]:
    """All of the kind that the file tells."""
    prose = narration.prose
    for number in prose.with_words(DATE_WORDS):
        yield from _birthday(narration, binder, number)
        yield from _leaving(narration, binder, number)
    for number, found in prose.matches(
        _MOVED,
        words(
            "live dwell settle lodge first finally settled established moved removed took taken home arrival lived "
            "been come came set removal brought carried arrived"
        ),
    ):
        yield from _move(narration, binder, number, found)
    for number in prose.with_words({"day", "days", "nights", "weeks"}):
        yield from _length(narration, binder, number)


def _birthday(narration: Narration, binder: Binder, number: int) -> Iterator[Fact]:
    sentence = narration.prose.sentences[number]
    found = _BIRTHDAY.search(sentence.text)
    dates = list(_DATED.finditer(narration.prose.told, sentence.start, sentence.end))
    if found is None or len(dates) != 1:
        return
    moment = moment_of(dates[0])
    owner = _whose(narration, binder, number)
    if owner is None or re.search(
        r"\b(?:before|after|since|until|till|from|between|not|never)\s+(?:the\s+)?\Z",
        sentence.text[: dates[0].start() - sentence.start],
    ):
        return
    value = Moment(month=moment.month, day=moment.day, year=moment.year if found.group() != "birthday" else 0)
    yield fact_at(narration.prose, number, dates[0].span(), owner, "born", value.as_value(), dates[0].group())


def _move(narration: Narration, binder: Binder, number: int, found: re.Match[str]) -> Iterator[Fact]:
    """The year in which somebody came to live somewhere."""
    sentence = narration.prose.sentences[number]
    years = list(_IN_YEAR.finditer(sentence.text))
    owner = _whose(narration, binder, number)
    if owner is None or len(years) != 1:
        return
    if re.search(r"\b(?:lived|been|home)\b", found.group()) and not _SINCE.search(sentence.text):
        return
    value = Moment(year=int(years[0].group("year"))).as_value()
    place = _plain(found.group("place") or found.group("seat"))
    yield fact_at(narration.prose, number, found.span(), owner, f"came to {place}", value, years[0].group("year"))


def _length(narration: Narration, binder: Binder, number: int) -> Iterator[Fact]:
    """How many days somebody was on the way to a place."""
    sentence = narration.prose.sentences[number]
    counts = list(_COUNT.finditer(sentence.text))
    place = _TO.search(sentence.text)
    if len(counts) != 1 or place is None or not _TRAVELS.search(sentence.text) or _REPEATED.search(sentence.text):
        return
    nth = counts[0].group("nth")
    count = ordinal_of(nth) if nth else number_of(counts[0].group("count"))
    owner = _whose(narration, binder, number)
    if (
        owner is None
        or count is None
        or _MONTHS.match(place.group("place"))
        or _is_name_of(place, sentence.start, owner)
    ):
        return
    unit = counts[0].group("unit")
    days = count * 7 if unit == "weeks" else count
    span = (sentence.start + counts[0].start(), sentence.start + counts[0].end())
    yield fact_at(
        narration.prose, number, span, owner, f"days to {_plain(place.group('place'))}", (days,), counts[0].group()
    )


def _leaving(narration: Narration, binder: Binder, number: int) -> Iterator[Fact]:
    """The weekday on which somebody set out for a place."""
    sentence = narration.prose.sentences[number]
    days = {found.group("day") for found in _WEEKDAY.finditer(sentence.text)}
    place = _FOR.search(sentence.text)
    if len(days) != 1 or place is None or not _LEAVES.search(sentence.text) or _REPEATED.search(sentence.text):
        return
    owner = _whose(narration, binder, number)
    if owner is None or _MONTHS.match(place.group("place")) or _is_name_of(place, sentence.start, owner):
        return
    (day,) = days
    value = Moment(weekday=WEEKDAYS.index(day.lower())).as_value()
    yield fact_at(
        narration.prose,
        number,
        (sentence.start, sentence.end),
        owner,
        f"left for {_plain(place.group('place'))}",
        value,
        day,
    )


def _whose(narration: Narration, binder: Binder, number: int) -> Mention | None:
    """The only one it can be about; nobody where the sentence tells no fact or denies it."""
    sentence = narration.prose.sentences[number]
    if not narration.is_real(number) or re.search(r"\b(?:would|might|could|should|if|perhaps)\b", sentence.text):
        return None
    return alone(binder, number) or alone_before(binder, number)


def _is_name_of(place: re.Match[str], start: int, owner: Mention) -> bool:
    first, last = place.span("place")
    return owner.start < start + last and start + first < owner.end


def _plain(place: str) -> str:
    return " ".join(place.lower().split()).removesuffix("'s")

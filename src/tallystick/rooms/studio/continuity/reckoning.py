"""`Two days later, on Friday`, held against the day that was named last before it.

Only what the text fixes is reckoned with. A `next morning` between the two may have moved the time on or not: a finding
is given only if the days do not add up either way. Any other day that is named between takes the first one's place.
"""

import re
from collections.abc import Iterator

from tallystick.records import record
from tallystick.rooms.studio.continuity.dates import (
    DATE_WORDS,
    LOOSE,
    MONTH,
    WEEKDAY,
    WEEKDAYS,
    YEAR,
    Moment,
    later,
    moment_of,
    month_of,
    written,
)
from tallystick.rooms.studio.continuity.narration import Narration
from tallystick.rooms.studio.continuity.prose import Sentence
from tallystick.rooms.studio.continuity.vocabulary import NUMBER, number_of, words

_UNIT = r"(?P<unit>day|night|morning|evening|afternoon|week|fortnight|month|year)s?"
_MOVE = re.compile(
    rf"\b(?:(?P<n>{NUMBER}|an?|the)\s+{_UNIT}\s+(?:later|afterwards?|after(?=\s*[,.;]|\s+that)|on(?=,))"
    r"|(?P<next>[Tt]he\s+(?:very\s+)?(?:next|following)|[Nn]ext|[Tt]he\s+day\s+after,?)\s*(?P<unit2>day|night|"
    r"morning|evening|afternoon|week|month|year)?(?=\s*,|\s+(?:was|fell|on|being|came)\b)"
    rf"|[Aa]fter\s+(?P<m>{NUMBER}|an?)\s+(?P<unit3>day|week|month|year)s?(?=\s*,))",
    re.IGNORECASE,
)
_TARGET = re.compile(
    rf"(?:(?:\bon|\bin|\bof|,|—|\bwas|\bbeing|\bfell\s+on|\bit\s+was)\s+(?:an?\s+|the\s+(?:morning|evening|"
    rf"afternoon|night)\s+of\s+)?(?:the\s+)?(?:\w+\s+)?(?:{LOOSE}|(?P<bare>{MONTH})\b))"
)
_ANCHOR = re.compile(
    rf"(?:(?:\b[Ii]t\s+was|\b[Ii]t\s+is|\b[Tt]oday\s+was|\b[Tt]he\s+(?:day|date|month|year)\s+was)\s+(?:now\s+|"
    rf"still\s+|already\s+|on\s+)?"
    rf"(?:an?\s+)?(?:(?:(?!{WEEKDAY})\w+\s+){{0,2}})(?:(?:morning|evening|night|afternoon|spring|summer|autumn|"
    rf"winter|year)\s+of\s+)?(?:the\s+)?|\b[Oo]n\s+(?:the\s+(?:morning|evening|afternoon|night)\s+of\s+)?(?:the\s+)?|"
    rf"\b[Ii]n\s+(?:the\s+(?:year|spring|summer|autumn|winter)\s+(?:of\s+)?)?|\A)(?:{LOOSE}|(?P<bare>{MONTH})\b)"
)
_SHIFT = re.compile(
    rf"\b(?:(?:[Nn]ext|[Ff]ollowing)\s+(?:day|morning|evening|afternoon|night|week|month|year)|[Nn]ext,|tomorrow|"
    rf"yesterday|{WEEKDAY}s?|{MONTH}|{YEAR}|"
    r"(?:days?|nights?|weeks?|months?|years?|fortnight|evenings?|mornings?)(?=\s+(?:later|after|passed|went|elapsed|"
    r"on,|had\s+(?:passed|gone|elapsed)))|(?:[Oo]ne|[Aa]nother)\s+(?:day|morning|evening|afternoon|night)(?=\s*,|"
    r"\s+(?:in|when|as|he|she|they|I|after|about))|morrow|[Tt]he\s+(?:day|week|month|year)\s+(?:after|before)|"
    r"[Aa]fter\s+\w+\s+(?:days?|weeks?|months?|years?))\b"
)
_TIMELY = frozenset(
    {
        *DATE_WORDS,
        *words(
            "next following tomorrow yesterday later days day nights night weeks week months month years year "
            "fortnight morning mornings evening evenings afternoon morrow"
        ),
    }
)
_NO_ANCHOR = re.compile(
    r"\b(?:every|each|last|next|until|till|by|before|since|would|will|had|ago|following|if|should|coming|except|"
    r"usually|always|never|not)\b|n't\b|'d\b",
    re.IGNORECASE,
)
_TOMORROW = re.compile(
    rf"\b(?P<word>[Tt]omorrow|[Yy]esterday|[Tt]he\s+day\s+before)\s+(?:was|would\s+be|"
    rf"had\s+been)\s+(?:a\s+)?(?P<weekday>{WEEKDAY})\b"
)
_NIGHTS = {"night": "day", "morning": "day", "evening": "day", "afternoon": "day"}
_NEAR = 60
"""Characters between `three days later` and the day it is."""
_APART = 120
"""Sentences between a day and what is reckoned from it."""
_MOST_READINGS = 4
"""Days that the story may be on at once, before nothing is certain any more."""
Spot = tuple[int, int, int]
"""Number of a sentence, start and end of what it says."""


@record
class Misreckoned:
    """Two places whose days do not add up."""

    subject: str
    message: str
    first: Spot
    second: Spot


@record
class Today:
    """The day that was named last."""

    spot: Spot
    days: tuple[Moment, ...]
    """What it can be by now; the first is the day as it was named."""


def misreckonings(narration: Narration) -> Iterator[Misreckoned]:
    """Every day of one file that does not follow from the one before it."""
    today: Today | None = None
    for number in narration.prose.with_words(_TIMELY):
        sentence = narration.prose.sentences[number]
        if not _SHIFT.search(sentence.text) or not narration.is_real(number):
            continue
        if today and (number - today.spot[0] > _APART or narration.prose.is_broken(today.spot[0], number)):
            today = None
        move = _MOVE.search(sentence.text)
        if move is None:
            yield from _neighbours(number, sentence, today)
            today = _named(number, sentence, today)
        else:
            found, today = _moved(narration, number, move, today)
            yield from found


def _named(number: int, sentence: Sentence, today: Today | None) -> Today | None:
    """The day after a sentence that names one, or only speaks of time."""
    named = _anchor_in(sentence.text)
    if named is None:
        return None
    moment, start, end = named
    spot = (number, sentence.start + start, sentence.start + end)
    if today and not moment.day and not moment.year and moment.weekday < 0 and not _overlaps(today.days[0], moment):
        # A month adds to the year that was named; it does not replace it.
        return Today(spot=today.spot, days=tuple(_joined(day, moment) for day in today.days))
    return Today(spot=spot, days=(moment,))


def _moved(
    narration: Narration, number: int, move: re.Match[str], today: Today | None
) -> tuple[list[Misreckoned], Today | None]:
    """What a sentence with a move says against the day before it, and the day after it."""
    sentence = narration.prose.sentences[number]
    leading = _leading(sentence.text, move)
    inner = None if leading else _anchor_in(sentence.text[: move.start()])
    if inner:
        today = Today(spot=(number, sentence.start + inner[1], sentence.start + inner[2]), days=(inner[0],))
    target = leading or _target(sentence.text, move)
    step = _step(move)
    if target is None:
        return [], _carried(today, step)
    spot = (number, sentence.start + target[1], sentence.start + target[2])
    found = []
    if today and step and narration.asserts(number, sentence.start + move.start(), spot[2]):
        found = list(_reckoned(today, step, move, target[0], spot))
    return found, Today(spot=spot, days=(target[0],))


def _carried(today: Today | None, step: tuple[int, str] | None) -> Today | None:
    """After `the next morning` it is a day later, or still the same `next morning`."""
    if today is None or step is None or step[1] != "day" or len(today.days) >= _MOST_READINGS:
        return None
    moved = [day for one in today.days if (day := later(one, *step)) is not None]
    return Today(spot=today.spot, days=(*today.days, *moved)) if moved else None


def _step(move: re.Match[str]) -> tuple[int, str] | None:
    unit = move.group("unit") or move.group("unit2") or move.group("unit3") or "day"
    unit = _NIGHTS.get(unit.lower(), unit.lower())
    said = (move.group("n") or move.group("m") or "").lower()
    if said in {"", "the"}:
        # `The week after` is any day of it.
        return (1, unit) if unit == "day" else None
    count = 1 if said in {"a", "an"} else number_of(said)
    return None if count is None else (count, unit)


def _reckoned(
    today: Today, step: tuple[int, str], move: re.Match[str], target: Moment, spot: Spot
) -> Iterator[Misreckoned]:
    expected = [day for one in today.days if (day := later(one, *step)) is not None]
    comparable = [day for day in expected if _comparable(day, target, step[1])]
    if not comparable or not all(day.differs(_shared(day, target)) for day in comparable):
        return
    words = " ".join(move.group().split()).strip(" ,")
    message = f"{written(today.days[0])} and then '{words}' gives {written(comparable[0])}, not {written(target)}."
    yield Misreckoned(subject=written(target), message=message, first=today.spot, second=spot)


def _anchor_in(text: str) -> tuple[Moment, int, int] | None:
    """The day that a sentence is on, if it names one and only one."""
    found = [
        match
        for match in _ANCHOR.finditer(text)
        if not _NO_ANCHOR.search(text[max(0, match.start() - 25) : match.end()])
    ]
    if not found:
        return None
    moments = [_moment(match) for match in found]
    joined = moments[0]
    for other in moments[1:]:
        # `a Wednesday in October` is one day, `on Monday … on Friday` are two.
        joined = other if _overlaps(joined, other) else _joined(joined, other)
    return joined, found[0].start(), found[-1].end()


def _overlaps(one: Moment, other: Moment) -> bool:
    pairs = (
        (one.year, other.year),
        (one.month, other.month),
        (one.day, other.day),
        (one.weekday + 1, other.weekday + 1),
    )
    return any(mine and theirs for mine, theirs in pairs)


def _joined(one: Moment, other: Moment) -> Moment:
    return Moment(
        year=one.year or other.year, month=one.month or other.month, day=one.day or other.day,
        weekday=max(one.weekday, other.weekday),
    )  # fmt: skip


def _leading(text: str, move: re.Match[str]) -> tuple[Moment, int, int] | None:
    """`On Saturday, three days later`: the day stands before the move, and belongs to it."""
    before = re.match(
        rf"\W*(?:On|In|It\s+was)\s+(?:the\s+)?(?:{LOOSE}|(?P<bare>{MONTH})\b),?\s+\Z", text[: move.start()]
    )
    return (_moment(before), 0, move.end()) if before else None


def _target(text: str, move: re.Match[str]) -> tuple[Moment, int, int] | None:
    """The day that a sentence with a move names after it."""
    after = _TARGET.search(text, move.end())
    if after is None or after.start() - move.end() > _NEAR:
        return None
    return _moment(after), move.start(), after.end()


def _moment(found: re.Match[str]) -> Moment:
    if found.groupdict().get("bare"):
        return Moment(month=month_of(found.group("bare")))
    return moment_of(found)


def _shared(expected: Moment, target: Moment) -> Moment:
    """Of the target only what can be told from where it was reckoned from."""
    return Moment(
        year=target.year if expected.year else 0,
        month=target.month if expected.month else 0,
        day=target.day if expected.day else 0,
        weekday=target.weekday if expected.weekday >= 0 else -1,
    )


def _comparable(expected: Moment, target: Moment, unit: str) -> bool:
    if unit in {"month", "year"}:
        return True
    return bool(expected.weekday >= 0 and target.weekday >= 0) or bool(
        expected.day and target.day and expected.month and target.month
    )


def _neighbours(number: int, sentence: Sentence, today: Today | None) -> Iterator[Misreckoned]:
    """Read `It was Tuesday … tomorrow was Thursday`."""
    found = _TOMORROW.search(sentence.text)
    if not found:
        return
    inner = _anchor_in(sentence.text[: found.start()])
    if inner:
        today = Today(spot=(number, sentence.start + inner[1], sentence.start + inner[2]), days=(inner[0],))
    if today is None or any(day.weekday < 0 for day in today.days):
        return
    step = 1 if found.group("word").lower() == "tomorrow" else -1
    said = Moment(weekday=WEEKDAYS.index(found.group("weekday").lower()))
    expected = [Moment(weekday=(day.weekday + step) % 7) for day in today.days]
    if all(day.differs(said) for day in expected):
        message = (
            f"If it is {written(Moment(weekday=today.days[0].weekday))}, '{found.group()}' should "
            f"be {written(expected[0])}."
        )
        spot = (number, sentence.start + found.start(), sentence.start + found.end())
        yield Misreckoned(subject=written(said), message=message, first=today.spot, second=spot)

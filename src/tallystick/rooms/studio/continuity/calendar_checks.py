"""Weekdays against dates, and counted days against the dates of what they are counted from."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, timedelta

from tallystick.records import record
from tallystick.rooms.studio.continuity.card_lines import CardLine
from tallystick.rooms.studio.continuity.fields.numbers import NUMBER, number_of
from tallystick.rooms.studio.continuity.passages import Passage
from tallystick.rooms.studio.continuity.story_time import NO_YEAR, dates_in
from tallystick.text.calendar_names import WEEKDAY_NUMBERS, WEEKDAYS
from tallystick.text.words import STOP_WORDS, word_spans

_DAY = "|".join(WEEKDAYS)
_THIS = re.compile(
    rf"\b(?:(?:this|it\s+was|to-?day\s+(?:is|was)|it\s+is)\s+(?:a\s+|on\s+a\s+)?)(?P<weekday>{_DAY})\b(?!\s+(?:last|next|week|before|the|\d))",
    re.IGNORECASE,
)
_UNIT = r"(?P<unit>days?|weeks?|months?|years?|fortnight)"
_COUNT = re.compile(
    rf"\b(?P<number>{NUMBER}|a)\s+{_UNIT}\s+(?P<way>after|since|before|ago)\b\s*(?P<event>[^.,;!?]{{0,40}})",
    re.IGNORECASE,
)
_SINCE = re.compile(
    r"\b(?:since|after|before)\s+(?P<event>(?:our|my|his|her|their|the)\s+[\w-]+),\s+"
    rf"(?P<number>{NUMBER})\s+{_UNIT}\s+(?P<way>ago)",
    re.IGNORECASE,
)
_LATER = re.compile(rf"\b(?P<number>{NUMBER})\s+(?P<unit>days?|weeks?)\s+(?:later|afterwards)\b", re.IGNORECASE)
_OPENING = 80
"""A count this near to a scene's beginning is counted from the scene before."""
_UNITS = {"day": (1, 0), "week": (7, 5), "month": (30, 20), "fortnight": (14, 3), "year": (365, 300)}
_WINDOW = 75
"""Days within which a story without years is taken to be in one year."""
_STEM = 5
_EVENT_WORDS = {
    "death": "deaths",
    "died": "deaths",
    "dies": "deaths",
    "birth": "births",
    "born": "births",
    "wedding": "married",
    "marriage": "married",
    "burial": "funeral",
    "buried": "funeral",
}
"""Words for one event."""


@record
class Place:
    """Where something stands: in a passage, or on a card's line."""

    passage: Passage | None
    line: CardLine | None
    at: int
    end: int


@record
class Clash:
    """Two places whose days do not fit."""

    rule: str
    message: str
    first: Place
    second: Place


@record
class _Weekday:
    day: int
    has_year: bool
    weekday: int
    place: Place


@record
class _Event:
    stems: frozenset[str]
    day: int
    place: Place


def weekday_clashes(passages: Sequence[Passage], lines: Sequence[CardLine]) -> Iterator[Clash]:
    """Yield the weekdays that a date of the scene cannot have."""
    found = [*_told(passages), *_carded(lines)]
    anchors = found
    for one in found:
        if one.place.passage is None:
            continue
        if one.has_year:
            right = date.fromordinal(one.day).isoweekday()
            if right != one.weekday:
                other = _nearest(one, [other for other in anchors if other is not one and other.has_year])
                yield _weekday_clash(one, right, other)
            continue
        near = [
            other
            for other in anchors
            if other is not one and not other.has_year and abs(other.day - one.day) <= _WINDOW
        ]
        votes = Counter((other.weekday - (other.day - one.day) - 1) % 7 + 1 for other in near)
        carded = [other for other in near if other.place.line is not None]
        if not votes:
            continue
        right, count = votes.most_common(1)[0]
        if right != one.weekday and votes[one.weekday] == 0 and (count > 1 or carded):
            yield _weekday_clash(one, right, _nearest(one, carded or near))


def _weekday_clash(one: _Weekday, right: int, other: "_Weekday | None") -> Clash:
    day = date.fromordinal(one.day)
    named = f"{day.day} {day:%B}" + (f" {day.year}" if one.has_year else "")
    is_day, not_day = (WEEKDAYS[number - 1].capitalize() for number in (right, one.weekday))
    message = f"Weekday conflict: {named} is a {is_day}, not a {not_day}."
    return Clash(rule="weekday", message=message, first=other.place if other else one.place, second=one.place)


def _nearest(one: _Weekday, others: "list[_Weekday]") -> "_Weekday | None":
    return min(others, key=lambda other: abs(other.day - one.day), default=None)


def _told(passages: Sequence[Passage]) -> Iterator[_Weekday]:
    for passage in passages:
        year = date.fromordinal(passage.day).year if passage.day else None
        year = None if year == NO_YEAR else year
        for found in dates_in(passage.text, year):
            if found.weekday is not None:
                place = Place(passage=passage, line=None, at=found.start, end=found.end)
                yield _Weekday(day=found.day, has_year=found.has_year, weekday=found.weekday, place=place)
        for match in _THIS.finditer(passage.narration):
            if passage.day is not None:
                weekday = WEEKDAY_NUMBERS[match["weekday"].lower()]
                place = Place(passage=passage, line=None, at=match.start(), end=match.end())
                yield _Weekday(day=passage.day, has_year=year is not None, weekday=weekday, place=place)


def _carded(lines: Iterable[CardLine]) -> Iterator[_Weekday]:
    for line in lines:
        for found in dates_in(line.written):
            if found.weekday is not None:
                place = Place(passage=None, line=line, at=0, end=0)
                yield _Weekday(day=found.day, has_year=found.has_year, weekday=found.weekday, place=place)


def count_clashes(passages: Sequence[Passage], lines: Sequence[CardLine]) -> Iterator[Clash]:
    """Yield the counted days that do not reach from an event's date to the passage's."""
    events = list(_events(passages, lines))
    before: Passage | None = None
    for passage in passages:
        if passage.day is None:
            continue
        if passage.number == 0:
            yield from _later(passage, before)
        before = passage if passage.told_day is not None or before is None else before
        for pattern in (_COUNT, _SINCE):
            for match in pattern.finditer(passage.narration):
                clash = _counted(passage, match, events)
                if clash is not None:
                    yield clash


def _later(passage: Passage, before: Passage | None) -> Iterator[Clash]:
    """`Two days later, on Friday the 7th`: counted from the date before."""
    for match in _LATER.finditer(passage.narration) if before is not None else ():
        day, number = _own_day(passage, match), number_of(match["number"])
        unit, slack = _UNITS[match["unit"].lower().removesuffix("s")]
        if day is None or number is None or before is None or before.day is None or match.start() > _OPENING:
            continue
        apart = day - before.day
        if apart > 0 and abs(apart - number * unit) > slack:
            yield Clash(
                rule="day-count",
                first=Place(passage=before, line=None, at=before.date_at, end=before.date_at),
                message=f"Date conflict: {match['number']} {match['unit']} in the scene, {_long(apart)} by the dates.",
                second=Place(passage=passage, line=None, at=match.start(), end=match.end()),
            )


def _counted(passage: Passage, match: re.Match[str], events: "Sequence[_Event]") -> Clash | None:
    number = 1 if match["number"].lower() == "a" else number_of(match["number"])
    unit, slack = _UNITS[match["unit"].lower().removesuffix("s")]
    named = _stems(match["event"])
    if number is None or not named or passage.day is None:
        return None
    day = _own_day(passage, match) or passage.day
    most = max((len(event.stems & named) for event in events), default=0)
    fitting = [
        event for event in events if most and len(event.stems & named) == most and event.place.passage is not passage
    ]
    if len({event.day for event in fitting}) != 1:
        return None
    event = fitting[0]
    apart = event.day - day if match["way"].lower() == "before" else day - event.day
    if apart < 0 or abs(apart - number * unit) <= slack:
        return None
    message = f"Date conflict: {match['number']} {match['unit']} in the scene, {_long(apart)} by the dates."
    return Clash(
        rule="day-count",
        message=message,
        first=event.place,
        second=Place(passage=passage, line=None, at=match.start(), end=match.end()),
    )


def _own_day(passage: Passage, match: re.Match[str]) -> int | None:
    """The date that stands right beside the count."""
    year = date.fromordinal(passage.day or 1).year
    near = passage.text[match.start() : match.end() + 40]
    found = next(dates_in(near, None if year == NO_YEAR else year), None)
    return found.day if found else None


def _events(passages: Sequence[Passage], lines: Sequence[CardLine]) -> Iterator[_Event]:
    for line in lines:
        dates = list(dates_in(line.written))
        if len(dates) == 1:
            place = Place(passage=None, line=line, at=0, end=0)
            yield _Event(stems=_stems(f"{line.written} {line.card.name}"), day=dates[0].day, place=place)
    seen: set[str] = set()
    for passage in passages:
        if passage.day is not None and passage.scene.path not in seen and passage.scene.front.get("date"):
            seen.add(passage.scene.path)
            place = Place(passage=passage, line=None, at=0, end=min(60, len(passage.text)))
            yield _Event(stems=_stems(passage.scene.title), day=passage.day, place=place)


def _stems(text: str) -> frozenset[str]:
    folded = (_EVENT_WORDS.get(word.folded, word.folded) for word in word_spans(text) if word.folded not in STOP_WORDS)
    return frozenset(word[:_STEM] for word in folded if len(word) >= _STEM)


def _long(days: int) -> str:
    if days > 2 * _UNITS["year"][0]:
        return f"{days // _UNITS['year'][0]} years"
    return f"{days} {'day' if days == 1 else 'days'}" if days < 21 else f"{timedelta(days=days).days / 7:.0f} weeks"  # noqa: PLR2004

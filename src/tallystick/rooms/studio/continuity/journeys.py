"""Journeys that tie somebody to a place: the weekday of a start, the days it took, the year of a coming."""

import re
from dataclasses import replace

from tallystick.records import record
from tallystick.rooms.studio.continuity import tie_cues as cues
from tallystick.rooms.studio.continuity.binding import Binder
from tallystick.rooms.studio.continuity.dates import WEEKDAYS, Moment
from tallystick.rooms.studio.continuity.facts import Value
from tallystick.rooms.studio.continuity.focus import clause_at
from tallystick.rooms.studio.continuity.people import Mention
from tallystick.rooms.studio.continuity.place_names import Place
from tallystick.rooms.studio.continuity.prose import Sentence
from tallystick.rooms.studio.continuity.vocabulary import number_of, ordinal_of


@record
class Tie:
    """What a sentence says: the words for it, the attribute and the value."""

    span: tuple[int, int]
    attribute: str
    value: Value
    words: str
    details: tuple[str, ...] = ()


def leaving(binder: Binder, number: int, found: re.Match[str], _owner: Mention, place: Place) -> Tie | None:
    """The weekday on which somebody set out for a town."""
    sentence = binder.prose.sentences[number]
    days = {one.group("day") for one in cues.WEEKDAYS.finditer(sentence.text)}
    if cues.A_PAPER.match(binder.prose.told, found.end()):
        return None
    if len(days) != 1 or not is_towards(binder, place) or not cues.LEAVES.search(sentence.text):
        return None
    if cues.CUSTOM.search(sentence.text) and not cues.ONE_DAY.search(sentence.text, 0, found.start() - sentence.start):
        return None
    told = max(found.end(), place.end) - sentence.start + cues.CLOSE
    if says(cues.AGAIN, replace(sentence, text=sentence.text[:told]), found, place) or says(
        cues.NOT_THEN, sentence, found
    ):
        return None
    (day,) = days
    value = Moment(weekday=WEEKDAYS.index(day.lower())).as_value()
    return Tie(span=found.span(), attribute=f"left for {place.value}", value=value, words=day)


def is_towards(binder: Binder, place: Place) -> bool:
    """`for Leeds`, `the Leeds coach`."""
    told = binder.prose.told
    around = next((one.text for one in binder.prose.sentences if one.start <= place.start < one.end), "")
    by_coach = cues.CARRIED_TO.match(told, place.end) is not None and cues.GOES_BY.search(around) is not None
    return by_coach or cues.TOWARDS.search(told, max(0, place.start - 20), place.start) is not None


def _is_given(sentence: Sentence, found: re.Match[str]) -> bool:
    first, last = found.start() - sentence.start, found.end() - sentence.start
    return cues.TO_DO_IT.match(sentence.text, last) is not None and cues.GIVEN.search(sentence.text[:first]) is not None


def _counted(found: re.Match[str]) -> int | None:
    """So many days; `six days and six nights` are six."""
    count = ordinal_of(found.group("nth")) if found.group("nth") else number_of(found.group("count"))
    return count * 7 if count is not None and found.group("unit") == "weeks" else count


def length(binder: Binder, number: int, found: re.Match[str], _owner: Mention, place: Place) -> Tie | None:
    """How many days somebody was on the way to a town."""
    sentence = binder.prose.sentences[number]
    if (
        len({_counted(one) for one in cues.DAYS.finditer(sentence.text)}) != 1
        or not cues.TRAVELS.search(sentence.text)
        or says(cues.NOT_THE_WAY, sentence, found, place)
        or cues.STAY.match(sentence.text, found.end() - sentence.start)
        or cues.NOT_SO_LONG.search(sentence.text, 0, found.start() - sentence.start)
        or _is_given(sentence, found)
        or (found.group("tally") and not cues.TALLY.search(sentence.text))
        or cues.FROM.search(binder.prose.told, max(sentence.start, place.start - 8), place.start)
    ):
        return None
    days = _counted(found)
    if days is None:
        return None
    return Tie(span=found.span(), attribute=f"days to {place.value}", value=(days,), words=found.group())


def coming(binder: Binder, number: int, found: re.Match[str], _owner: Mention, place: Place) -> Tie | None:
    """The year in which somebody first came to a town."""
    sentence = binder.prose.sentences[number]
    if len({one.group() for one in cues.YEARS.finditer(sentence.text)}) != 1:
        return None
    # `The chapel was built in 1783, the year that brought Mara`: only what follows the tie is said of her coming.
    linked = cues.LINKED.match(found.string, found.end(), sentence.end)
    after = (
        found.end() - sentence.start,
        _piece(sentence.text, place.start - sentence.start, place.end - sentence.start)[1],
    )
    if cues.NOT_COMING.search(sentence.text, *after) if linked else says(cues.NOT_COMING, sentence, found, place):
        return None
    passing = says(cues.PASSING, sentence, found, place) and not says(cues.FIRST, sentence, found, place)
    if passing or says(cues.NOT_THEN, sentence, found):
        return None
    value = Moment(year=int(found.group("year"))).as_value()
    return Tie(span=found.span(), attribute=f"came to {place.value}", value=value, words=found.group("year"))


def says(pattern: re.Pattern[str], sentence: Sentence, found: re.Match[str], place: Place | None = None) -> bool:
    """Whether words stand between the value and the place, or beside either before the next comma."""
    text = sentence.text
    spans = [(found.start() - sentence.start, found.end() - sentence.start)]
    if place is not None:
        spans.append((place.start - sentence.start, place.end - sentence.start))
    pieces = [_piece(text, *span) for span in spans]
    between = (min(span[0] for span in spans), max(span[1] for span in spans))
    return any(pattern.search(text, *piece) for piece in (*pieces, between))


def _piece(text: str, first: int, last: int) -> tuple[int, int]:
    """The words around a place that no comma or conjunction parts from it."""
    start, end = clause_at(text, first)
    comma = text.find(",", last)
    return max(start, text.rfind(",", 0, first) + 1), min(end, comma) if comma >= 0 else end

"""A day or a length that has a sentence to itself.

`Mara walked to Leeds. It took six days`, `… and departed for Leeds. It was Monday`. The sentence before it, in the same
paragraph, says who went and where; it must give no such value of its own.
"""

import re
from collections.abc import Iterator

from tallystick.rooms.studio.continuity import tie_cues as cues
from tallystick.rooms.studio.continuity.binding import Binder
from tallystick.rooms.studio.continuity.claims import is_claimed
from tallystick.rooms.studio.continuity.dates import WEEKDAYS, Moment
from tallystick.rooms.studio.continuity.doers import doer
from tallystick.rooms.studio.continuity.facts import Fact, Value, fact_at
from tallystick.rooms.studio.continuity.narration import Narration
from tallystick.rooms.studio.continuity.people import Mention
from tallystick.rooms.studio.continuity.place_names import Place, only_place
from tallystick.rooms.studio.continuity.vocabulary import number_of

_GOES = re.compile(
    r"\b(?:set\s+(?:out|off|forth)|departed|started|left|went|drove|rode|sailed|embarked|walked|travelled|hurried|"
    r"journeyed|tramped|marched|took\s+(?:the|a|ship)|caught|made\s+(?:for|(?:his|her)\s+way)|was\s+off|struck\s+out)\b"
    r"[^;:¤]{0,60}?\b(?:to|for|towards?)\s+(?=[A-Z])"
)
_NOT_GONE = re.compile(
    rf"{cues.NO.pattern}|\b(?:would|might|could|should|if|again|back|return\w*|every|always|often|once|meant|hoped|"
    r"planned|going\s+to)\b"
)


def beside(narration: Narration, binder: Binder) -> Iterator[Fact]:
    """Every such value that the file tells."""
    prose = narration.prose
    for number in prose.with_words(cues.WORDS):
        sentence = prose.sentences[number]
        if number == 0 or prose.sentences[number - 1].paragraph != sentence.paragraph:
            continue
        told = _value(sentence.text)
        going = _going(binder, number - 1) if told is not None else None
        if told is None or going is None:
            continue
        found, attribute, value = told
        span = (sentence.start + found.start(), sentence.start + found.end())
        owner, place = going
        if is_claimed(narration, number, span, memory=True) and is_claimed(
            narration, number - 1, (place.start, place.end), memory=True
        ):
            yield fact_at(prose, number, span, owner, f"{attribute} {place.value}", value, found.group())


def _value(text: str) -> tuple[re.Match[str], str, Value] | None:
    """The weekday that is all of a sentence, or the days that `it took`."""
    day, days = cues.WEEKDAYS.search(text), cues.DAYS.search(text)
    if day and cues.IT_WAS.fullmatch(text, 0, day.start()) and cues.NO_MORE.fullmatch(text, day.end()):
        return day, "left for", Moment(weekday=WEEKDAYS.index(day.group("day").lower())).as_value()
    if not days or days.group("unit") != "days" or not cues.IT_TOOK.fullmatch(text, 0, days.start()):
        return None
    count = number_of(days.group("count"))
    apart = cues.NOT_THE_WAY.search(text) or cues.STAY.match(text, days.end()) or len(cues.DAYS.findall(text)) > 1
    return None if count is None or apart else (days, "days to", (count,))


def _going(binder: Binder, number: int) -> tuple[Mention, Place] | None:
    """Who goes where in a sentence that says neither when nor how long."""
    sentence = binder.prose.sentences[number]
    goes = list(_GOES.finditer(sentence.text))
    timed = cues.WEEKDAYS.search(sentence.text) or cues.DAYS.search(sentence.text)
    if not goes or timed or _NOT_GONE.search(sentence.text, 0, goes[-1].end()):
        return None
    owner = doer(binder, number, sentence.start + goes[-1].start())
    place = only_place(binder, number, owner) if owner is not None and binder.cast.is_person(owner.key) else None
    if owner is None or place is None or place.start != sentence.start + goes[-1].end():
        return None
    return owner, place

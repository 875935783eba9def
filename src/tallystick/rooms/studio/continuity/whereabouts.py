"""Where somebody was on a day or a night that has a name: a date, a feast, or the night of something.

A sentence that names one person, one place and one such time says that the person was there, unless it tells of a way
from or to the place, or of what comes from it.
"""

import re
from collections.abc import Iterator

from tallystick.rooms.studio.continuity.alone import alone, alone_before
from tallystick.rooms.studio.continuity.binding import Binder
from tallystick.rooms.studio.continuity.dates import DATE, DATE_WORDS, moment_of
from tallystick.rooms.studio.continuity.events import OCCASIONS
from tallystick.rooms.studio.continuity.facts import Fact, fact_at
from tallystick.rooms.studio.continuity.narration import Narration
from tallystick.rooms.studio.continuity.place_names import only_place
from tallystick.rooms.studio.continuity.vocabulary import words

_DATE = re.compile(DATE)
_PART = re.compile(r"\b(night|morning|evening|afternoon|noon|midnight|dawn|dusk)\b", re.IGNORECASE)
_FEAST = re.compile(
    r"\b(?P<feast>Christmas\s+(?:Eve|Day|night)|New\s+Year's\s+(?:Eve|Day|night)|Midsummer\s+(?:Eve|Day|night)|Twelfth\s+Night|All\s+Hallows(?:'?\s+Eve)?|"
    r"Easter\s+(?:Sunday|Monday)|Good\s+Friday|Ash\s+Wednesday|Whit\s+(?:Sunday|Monday)|May\s+(?:Day|Eve)|Michaelmas\s+(?:Day|Eve|night))\b|"
    rf"\b(?P<part>night|evening|morning|afternoon|day)\s+(?:of|after|before)\s+(?:the\s+)(?:\w+\s+)?(?P<what>{'|'.join(OCCASIONS)})\b"
)
_FEAST_WORDS = frozenset(
    {*OCCASIONS, *words("christmas year's midsummer twelfth hallows easter friday wednesday whit may michaelmas")}
)
_THERE = re.compile(
    r"\b(?:slept|sleeping|sleep|spent|spend|lay|lain|been|was|were|stayed|stay|passed|lodged|put\s+up|sat|kept|found|saw|seen|remained|dined|supped|ate|drank|"
    r"rested|woke|stopped|bed|night|danced|played|preached|heard|walked|paced|watched|worked|wrote|stood|had|held|quit\w*|left|leave|stir\w*|out\s+of|"
    r"reached|arrived|came|come|took|engaged|overtook|caught|struck|broke|fell|brought|sheltered|housed|gave|unlocked|fed|made|could)\b"
)
_GOES = re.compile(
    r"\b(?:set\s+(?:out|off)|start(?:ed|ing)\s+(?:for|from)|travel\w*|sail\w*|rode|drove|depart\w*|went\s+(?:to|from)|on\s+(?:his|her|the)\s+(?:way|road)|"
    r"thought|thinking|spoke|talked|born|died|buried|married|letters?|news|word|wrote\s+(?:to|from)|bound\s+for|for\s+[A-Z]\w+\s*[.,;]|"
    r"would|should|might|if|meant|hoped|intended|miles|leagues|between|expected|promised|due|before\s+(?:he|she)|every|each|always)\b"
)
_LEAVES = re.compile(r"(?<!not )(?<!never )(?<!nor )\b(?:left|quitted|leave|leaving|fled|flight)\b")
_DENIED = re.compile(r"\b(?:not|never|nor|neither|hardly)\b|n't\b")
_STAYS = re.compile(
    r"\b(?:not|never|nor|n't)\s+(?:\w+\s+)?(?:leave|left|stir\w*|quit\w*|out|sleep|slept|go\s+out|set\s+foot\s+out|move\w*|close\w*|shut|rest)\b"
)


def whereabouts(narration: Narration, binder: Binder) -> Iterator[Fact]:
    """Every such stay that the file tells."""
    prose = narration.prose
    for number in prose.with_words(DATE_WORDS):
        sentence = prose.sentences[number]
        dates = list(_DATE.finditer(prose.told, sentence.start, sentence.end))
        moment = moment_of(dates[0]) if len(dates) == 1 else None
        part = _PART.search(sentence.text)
        if moment is None or not (moment.day and moment.month):
            continue
        details = (*map(str, moment.as_value()), part.group().lower() if part else "")
        yield from _stay(narration, binder, number, f"{moment.day}.{moment.month}.{moment.year or ''}", details)
    for number, found in prose.matches(_FEAST, _FEAST_WORDS):
        sentence = prose.sentences[number]
        when = " ".join(found.group().lower().split())
        if not _DATE.search(sentence.text):
            yield from _stay(narration, binder, number, when, (found.group("part") or "night",))


def _stay(narration: Narration, binder: Binder, number: int, when: str, details: tuple[str, ...]) -> Iterator[Fact]:
    text = narration.prose.sentences[number].text
    if not narration.is_real(number) or not _THERE.search(text) or _GOES.search(text) or _LEAVES.search(text):
        return
    if _DENIED.search(text) and not _STAYS.search(text):
        return
    owner = alone(binder, number) or alone_before(binder, number)
    place = only_place(binder, number, owner) if owner is not None else None
    if owner is None or place is None or owner.is_possessive or not binder.cast.is_known(owner.key):
        return
    yield fact_at(
        narration.prose, number, (place.start, place.end), owner, f"whereabouts on {when}", (place.value,), place.name,
        details=details,
    )  # fmt: skip

"""Sentences that may tell a fact: one person, one value, and words that such facts are told with.

Nothing is decided here. The rules look for a construction that they know; this gives what could be meant whatever the
construction, and `likelihood` says how likely it is.
"""

import re
from collections.abc import Callable, Iterator

from tallystick.records import record
from tallystick.rooms.studio.continuity.alone import named_people
from tallystick.rooms.studio.continuity.binding import Binder
from tallystick.rooms.studio.continuity.colours import EYES, HAIR, colours_in
from tallystick.rooms.studio.continuity.dates import DATE, DATE_WORDS, WEEKDAYS, Moment, moment_of
from tallystick.rooms.studio.continuity.facts import Fact, Value, fact_at
from tallystick.rooms.studio.continuity.focus import agrees
from tallystick.rooms.studio.continuity.narration import Narration
from tallystick.rooms.studio.continuity.people import Mention
from tallystick.rooms.studio.continuity.place_names import Place, only_place, places_in
from tallystick.rooms.studio.continuity.prose import Prose
from tallystick.rooms.studio.continuity.tie_cues import WEEKDAYS as A_WEEKDAY
from tallystick.rooms.studio.continuity.tie_cues import YEARS as A_YEAR
from tallystick.rooms.studio.continuity.vocabulary import (
    COUNTED,
    COUNTED_OFF,
    NUMBER,
    ORDINAL,
    number_of,
    ordinal_of,
    words,
)

YOUNGEST, OLDEST = 8, 110
_NEAR = 100
"""Characters between a colour and what it may be the colour of."""
_EYE_WORDS = words("eye eyes iris irises pupils gaze")
_HAIR_WORDS = words(
    "hair hairs lock locks curl curls tress tresses ringlet ringlets braid braids plait plaits pigtail pigtails "
    "ponytail fringe mane mop chignon topknot forelock bun strand strands"
)
_EYES = re.compile(rf"\b(?:{'|'.join(_EYE_WORDS)})\b|-eyed\b")
_HAIR = re.compile(rf"\b(?:{'|'.join(_HAIR_WORDS)})\b|-(?:haired|headed)\b")
_WORD = re.compile(r"[A-Za-z]+(?:-[A-Za-z]+)*")
_AGE = re.compile(
    rf"(?<![\w-])(?:(?P<nth>{ORDINAL})(?=\s+(?:birthday|year))|(?P<number>{NUMBER}))(?![\w]|-\w+-)"
    r"(?!\s+(?:thousand|hundred|minutes?|hours?|days?|weeks?|months?|pounds?|guineas?|shillings?|miles?|yards?|feet|inches|"
    r"times|o'clock|different|others?|per|dollars?|francs|tons|acres|degrees)\b)",
    re.IGNORECASE,
)
_DAYS = re.compile(rf"(?<![\w-])(?P<number>{NUMBER})(?=(?:\s+[a-z]+)?[\s-]+(?:days?|nights?)\b)", re.IGNORECASE)
_DATE = re.compile(DATE)
_DARK = re.compile(r"\b(?:night|midnight|evening|dusk|dawn)\b", re.IGNORECASE)


@record
class Candidate:
    """A fact that a sentence may tell."""

    kind: str
    number: int
    """The sentence."""
    value: tuple[int, int]
    others: tuple[tuple[int, int, str], ...]
    """What else stands for something: where, and for what."""
    fact: Fact


Given = tuple[str, Value, tuple[int, int], tuple[tuple[int, int, str], ...], tuple[str, ...]]
"""Attribute, value, where it stands, what stands beside it, details."""


def candidates(narration: Narration, binder: Binder) -> Iterator[Candidate]:
    """All that the file may tell."""
    prose = narration.prose
    for kind, needed, read in _KINDS:
        numbers = _with_capitals(prose) if needed is None else prose.with_words(needed)
        for number in numbers:
            owner = _owner(binder, number)
            if owner is None:
                continue
            for attribute, value, span, others, details in read(binder, number, owner):
                fact = fact_at(
                    prose, number, span, owner, attribute, value, prose.told[slice(*span)],
                    hard=attribute != "home", details=details,
                )  # fmt: skip
                yield Candidate(kind=kind or attribute, number=number, value=span, others=others, fact=fact)


_CAPITAL = re.compile(r"(?<=[a-z,;:—¤.'] )[A-Z]")


def _with_capitals(prose: Prose) -> list[int]:
    """The sentences that can name a place and somebody: at least one name stands within."""
    return [number for number, sentence in enumerate(prose.sentences) if _CAPITAL.search(sentence.text)]


def _owner(binder: Binder, number: int) -> Mention | None:
    """The one person whom the sentence names, or else the one beside it; whether it is said of him is weighed later."""
    sentence = binder.prose.sentences[number]
    if sentence.is_question:
        return None
    for near in (number, number - 1, number + 1):
        if near in binder.prose.beside(number):
            people = named_people(binder, near)
            if people:
                alone = len({one.key for one in people}) == 1
                return people[0] if alone and (near == number or agrees(binder, people[0], sentence.text)) else None
    return None


def _place_of(binder: Binder, number: int, owner: Mention) -> Place | None:
    """The one place that the sentence names; where it names none, the one of a sentence beside it."""
    if places_in(binder, number, owner):
        return only_place(binder, number, owner)
    near = [only_place(binder, one, owner) for one in binder.prose.beside(number) if one != number]
    return next((place for place in near if place is not None), None)


def _coloured(lexicon: dict[str, str], noun: re.Pattern[str], attribute: str) -> "Reader":
    def read(binder: Binder, number: int, _owner: Mention) -> Iterator[Given]:
        sentence = binder.prose.sentences[number]
        nouns = [one.span() for one in noun.finditer(sentence.text)]
        found = [
            (min(max(start - one.end(), one.start() - end, 0) for start, end in nouns), one)
            for one in _WORD.finditer(sentence.text)
            if nouns
            and set(colours_in([one.group().removesuffix("-eyed").removesuffix("-haired")], lexicon))
            - {"dark", "light"}
        ]
        if found:
            far, one = min(found, key=lambda each: each[0])
            if far <= _NEAR:
                span = (sentence.start + one.start(), sentence.start + one.end())
                yield attribute, colours_in([one.group()], lexicon), span, (), ()

    return read


def _aged(binder: Binder, number: int, _owner: Mention) -> Iterator[Given]:
    sentence = binder.prose.sentences[number]
    for one in _AGE.finditer(sentence.text):
        years = ordinal_of(one.group("nth")) if one.group("nth") else number_of(one.group("number"))
        if years is not None and YOUNGEST <= years <= OLDEST:
            span = (sentence.start + one.start(), sentence.start + one.end())
            yield "age", (years, years), span, (), ()


def _left(binder: Binder, number: int, owner: Mention) -> Iterator[Given]:
    sentence = binder.prose.sentences[number]
    days = list(A_WEEKDAY.finditer(binder.prose.told, sentence.start, sentence.end))
    place = _place_of(binder, number, owner) if len({one.group() for one in days}) == 1 else None
    if place is not None:
        value = Moment(weekday=WEEKDAYS.index(days[0].group("day").lower())).as_value()
        yield f"left for {place.value}", value, days[0].span(), _standing(place), ()


def _lasted(binder: Binder, number: int, owner: Mention) -> Iterator[Given]:
    sentence = binder.prose.sentences[number]
    found = list(_DAYS.finditer(binder.prose.told, sentence.start, sentence.end))
    place = _place_of(binder, number, owner) if len({number_of(one.group()) for one in found}) == 1 else None
    days = number_of(found[0].group()) if place is not None else None
    if place is not None and days is not None:
        yield f"days to {place.value}", (days,), found[0].span(), _standing(place), ()


def _came(binder: Binder, number: int, owner: Mention) -> Iterator[Given]:
    sentence = binder.prose.sentences[number]
    found = list(A_YEAR.finditer(binder.prose.told, sentence.start, sentence.end))
    place = _place_of(binder, number, owner) if len({one.group() for one in found}) == 1 else None
    if place is not None:
        value = Moment(year=int(found[0].group())).as_value()
        yield f"came to {place.value}", value, found[0].span(), _standing(place), ()


def _dated(binder: Binder, number: int) -> tuple[re.Match[str], Moment] | None:
    """The one day of a month that a sentence gives."""
    sentence = binder.prose.sentences[number]
    found = list(_DATE.finditer(binder.prose.told, sentence.start, sentence.end))
    moments = {moment_of(one).as_value()[1:3] for one in found}
    moment = moment_of(found[0]) if len(moments) == 1 else None
    return (found[0], moment) if moment is not None and moment.day and moment.month else None


def _born_on(binder: Binder, number: int, _owner: Mention) -> Iterator[Given]:
    dated = _dated(binder, number)
    # Books are full of dates: without a word that births or birthdays are told with, it is none.
    if dated is not None and _OF_BIRTH.search(_around(binder, number)):
        found, moment = dated
        yield "born", Moment(month=moment.month, day=moment.day).as_value(), found.span(), (), ()


_OF_BIRTH = re.compile(
    r"\b(?:birth\w*|born|natal|nativity|candles?|cakes?|older|midwi\w+|cradle\w*|christen\w*|newborn|deliver\w*|labou?r|"
    r"presents?|gifts?|into\s+(?:the|this)\s+world|first\s+(?:breath|cry|light)|happy\s+returns|came\s+of\s+age)\b",
    re.IGNORECASE,
)


def _around(binder: Binder, number: int) -> str:
    return " ".join(binder.prose.sentences[near].text for near in binder.prose.beside(number))


def _spent(binder: Binder, number: int, owner: Mention) -> Iterator[Given]:
    dated = _dated(binder, number)
    place = _place_of(binder, number, owner) if dated is not None else None
    if dated is not None and place is not None:
        found, moment = dated
        when = "night" if _DARK.search(binder.prose.sentences[number].text) else ""
        attribute = f"whereabouts on {moment.day}.{moment.month}.{moment.year or ''}"
        details = (*map(str, moment.as_value()), when)
        yield attribute, (place.value,), (place.start, place.end), ((*found.span(), "DATE"),), details


def _dead(binder: Binder, number: int, _owner: Mention) -> Iterator[Given]:
    sentence = binder.prose.sentences[number]
    found = _OF_DEATH.search(sentence.text)
    if found is not None and not _PRESUMED.search(sentence.text):
        span = (sentence.start + found.start(), sentence.start + found.end())
        # Loosely: of one who goes on acting it is not believed.
        yield "dead", ("dead",), span, (), ("loosely",)


_DEATHS = words(
    "dead died dies die dying death deaths deathbed deceased killed murdered drowned hanged hang buried bury burial "
    "grave graves graveside gravestone tomb tombstone coffin funeral corpse body cemetery churchyard vault mourners "
    "mourning widow widower perished slain lifeless expired executed executioner headsman breath breathed breathing "
    "heart pulse stone headstone ashes cremation cremated shroud requiem undertaker obituary hearse epitaph shot life "
    "stabbed survive survived recovered carried passed fever consciousness pneumonia laid sexton stroke spared took"
)
_PRESUMED = re.compile(
    r"\b(?:presum\w+|suppos\w+|fear\w+|believed|thought|reported|rumou?red|given\s+up|left|as\s+good\s+as|half|nearly|almost)"
    r"\s+(?:to\s+be\s+|for\s+)?(?:dead|drowned|killed|lost)\b"
)
_OF_DEATH = re.compile(rf"\b(?:{'|'.join(_DEATHS)})\b", re.IGNORECASE)


def _placed(binder: Binder, number: int, owner: Mention) -> Iterator[Given]:
    place = only_place(binder, number, owner)
    if place is not None:
        for attribute in ("birthplace", "home"):
            yield attribute, (place.value,), (place.start, place.end), (), ()


def _standing(place: Place) -> tuple[tuple[int, int, str], ...]:
    return ((place.start, place.end, "PLACE"),)


Reader = Callable[[Binder, int, Mention], Iterator[Given]]
_WEEKDAY_WORDS = frozenset(WEEKDAYS)
_KINDS: tuple[tuple[str, frozenset[str] | None, Reader], ...] = (
    ("eyes", frozenset({*_EYE_WORDS, "eyed"}), _coloured(EYES, _EYES, "eyes")),
    ("hair", frozenset({*_HAIR_WORDS, "haired", "headed"}), _coloured(HAIR, _HAIR, "hair")),
    ("age", COUNTED | COUNTED_OFF, _aged),
    ("left", _WEEKDAY_WORDS, _left),
    ("days", frozenset({"day", "days", "night", "nights"}), _lasted),
    ("came", frozenset({"#"}), _came),
    ("born", DATE_WORDS, _born_on),
    ("night", DATE_WORDS, _spent),
    ("dead", frozenset(_DEATHS), _dead),
    ("", None, _placed),
)
"""Each kind (none: it is called as the attribute), the words without which there is none of it (none: a name is
enough), and what finds its value."""

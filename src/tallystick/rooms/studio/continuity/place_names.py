"""The one place that a sentence names, whatever stands around it.

A sentence that names one person and one place can hardly speak of another place; so a rule needs to know only what the
person does there, not in which order English puts it.
"""

import re
from collections.abc import Iterator

from tallystick.records import record
from tallystick.rooms.studio.continuity.binding import Binder
from tallystick.rooms.studio.continuity.gazetteer import is_city
from tallystick.rooms.studio.continuity.people import Mention
from tallystick.rooms.studio.continuity.vocabulary import FEMALE_NAMES, MALE_NAMES, NOT_NAMES, TITLES, words

_KINDS = (
    r"Street|Row|Lane|Court|Square|Terrace|Alley|Place|Gardens?|Crescent|Hill|Road|Avenue|Close|Yard|Walk|Mews|Gate|"
    r"Parade|Buildings|Wharf|Quay|Passage|Green|Fields?|Bank|Inn|PageContext|Hall|Park|Lodge|Cottage|Farm|Manor|Abbey|Grange|"
    r"Bridge|Mill|Bay|Head|Point|Harbour|Island|Isle|Wood|Heath|End|Common|Town|Water|Castle|Priory|Market"
)
ADDRESS = re.compile(
    r"\b(?:street|row|lane|court|square|terrace|alley|place|gardens?|crescent|road|avenue|close|yard|walk|mews|gate|"
    r"parade|buildings|wharf|quay|passage)(?:\s+hill)?\Z"
)
"""How the name of a street ends, in small letters."""
_RUN = re.compile(
    r"(?<![\w'])[A-ZÀ-Þ][\w'-]*\w(?:[-\s](?:(?:of|upon|on|under|by|le|la|de|sur|"
    r"the)[-\s](?:the[-\s])?)?[A-ZÀ-Þ][\w'-]*\w){0,3}"
)
_DAYED = re.compile(
    r"[-\s](?:(?:on|of|upon|by|under)[-\s])?(?:the[-\s])?(?:\w+day|January|February|March|April|May|June|July|"
    r"August|September|October|November|December)\b.*"
)
"""`Leeds on the Tuesday`."""
_LEADING = frozenset(
    words("in at on from of to near by through for into toward towards when where since until before after while")
)
_BORN = re.compile(r"-(?:born|bred|reared|raised)\Z")
_SINGLED_OUT = re.compile(
    r",?\s+(?:where|in\s+which|the\s+(?:town|city|village|place|parish|street|house)\s+(?:of|where|in|that)|(?:his|"
    r"her)\s+(?:native|own|birth|home))\b"
)
"""`from Truro, where she was born`: of several places the one that more is said of."""
NEVER_THERE = re.compile(r",?\s+(?:where|(?:at|in)\s+which)\s+(?:[\w.]+\s+){1,3}?(?:had\s+)?never\b")
"""After a place where somebody only says he lives."""
LET_OUT = re.compile(
    r"\b(?:it|they|which|house|cottage|rooms|villa)\s+(?:was|were|had\s+been|is)\s+(?:now\s+)?let\b|"
    r"\bnever\s+(?:\w+\s+)?"
    r"(?:lived|slept|set\s+foot|(?:spent|passed)\s+an?\s+night)\s+(?:in\s+it|there)\b"
)
"""A house that somebody only owns."""
_WITHIN = re.compile(
    r"\b(?:[Ii]n|[Aa]t|[Nn]ear|to|[Ff]or|[Ff]rom|towards?|through|reach(?:ed|ing)|leav(?:e|ing)|left|"
    r"of)\s+(?:the\s+)?\Z"
)
_SIGN = re.compile(r"\b(?:at|of|in)\s+the\s+(?:[A-Z]\w+\s+)?\Z")
_NO_PLACE = re.compile(
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December|\w+day|Christmas|Easter|"
    r"Michaelmas|Martinmas|Lammas|Whitsun\w*|Midsummer|Candlemas|Lent|God|Providence|Heaven|Latin|Greek)\b|"
    r"\w{3,}(?:ians?|oners?|ese|ish)\Z"
)
_WRITER = re.compile(r"\b(?:volume|pages?|copy|works|novels?|poems|verses|book)\s+of\s+\Z")
"""`over a volume of Cowper`."""
_KIND = re.compile(rf"(?:{_KINDS})\Z")
_TITLED = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|Messrs|Mme|Mlle)\.?\s+\Z")
_CALLED = (["mr"], ["mrs"], ["ms"], ["dr"], ["miss"], ["madame"], ["monsieur"], ["master"], ["sir"])


@record
class Place:
    """A place where it stands."""

    start: int
    end: int
    name: str

    @property
    def value(self) -> str:
        """As places are compared."""
        return " ".join(self.name.lower().split()).removesuffix("'s")


def only_place(binder: Binder, number: int, owner: Mention) -> Place | None:
    """The one place of a sentence that is about one person; of `at Yarrow, in Kent` the first."""
    found = list(_places(binder, number, owner))
    if len(found) > 1:
        told = binder.prose.told
        signs = [one for one in found if _SIGN.search(told, max(0, one.start - 18), one.start)]
        # `at the Golden Lion in Leeds` is in Leeds.
        found = [one for one in found if one not in signs] or found
        found = [one for one in found if _SINGLED_OUT.match(told, one.end)] or found
    first = found[0] if found else None
    if first is None or any(one.value != first.value and not _follows(binder, first, one) for one in found[1:]):
        return None
    return first


def places_in(binder: Binder, number: int, owner: Mention) -> list[Place]:
    """All the places that a sentence about somebody names."""
    return list(_places(binder, number, owner))


def _places(binder: Binder, number: int, owner: Mention) -> Iterator[Place]:
    sentence = binder.prose.sentences[number]
    text = _without(binder, number, owner)
    for run in _RUN.finditer(text):
        name = _DAYED.sub("", _BORN.sub("", run.group())).removesuffix("'s")
        words = name.lower().split()
        start = sentence.start + run.start()
        if not _KIND.search(name) and (words[:1] in _CALLED or _TITLED.search(text, 0, run.start())):
            # `Mrs. Orme` is nowhere.
            continue
        while words and (
            words[0] in _LEADING or ((words[0] in NOT_NAMES or words[0] in TITLES) and not _KIND.search(name))
        ):
            cut = len(words.pop(0))
            name, start = name[cut:].lstrip(), start + cut + 1
        if not words or _NO_PLACE.match(name) or _WRITER.search(binder.prose.told, max(0, start - 16), start):
            continue
        opens = start == sentence.start and not is_city(name.lower())
        if opens and not (_KIND.search(name) or binder.cast.is_name(name.split()[0])):
            continue
        key = binder.cast.key_of_name(name)
        town = is_city(name.lower()) and key is not None and not binder.cast.is_known(key)
        if key is None or town or not binder.cast.acts(key) or _is_within(binder, start, words[0]):
            yield Place(start=start, end=start + len(name), name=name)


def _without(binder: Binder, number: int, owner: Mention) -> str:
    """The sentence with blanks for the person it is about."""
    sentence = binder.prose.sentences[number]
    text = binder.prose.told[sentence.start : sentence.end]
    for one in binder.mentions(number):
        if one.key == owner.key:
            first, last = one.start - sentence.start, one.end - sentence.start
            text = f"{text[:first]}{' ' * (last - first)}{text[last:]}"
    return text


def _is_within(binder: Binder, start: int, first: str) -> bool:
    """`The nurse at Truro had …` makes nobody of Truro."""
    within = _WITHIN.search(binder.prose.told, max(0, start - 12), start)
    return within is not None and first not in MALE_NAMES and first not in FEMALE_NAMES


def _follows(binder: Binder, first: Place, other: Place) -> bool:
    """Whether the second only says where the first lies."""
    between = binder.prose.told[first.end : other.start]
    return re.fullmatch(r",?\s+(?:in\s+(?:the\s+\w+\s+of\s+)?)?", between) is not None

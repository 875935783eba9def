"""What the fields of a card mean: which attribute a key names, and the value that its text gives."""

import re
from collections.abc import Callable, Iterator

from tallystick.rooms.studio.book.nouns import CanonCard
from tallystick.rooms.studio.continuity.body import SHORT, TALL, TRADES
from tallystick.rooms.studio.continuity.colours import EYES, HAIR, colours_in
from tallystick.rooms.studio.continuity.dates import read_date
from tallystick.rooms.studio.continuity.facts import Value
from tallystick.rooms.studio.continuity.vocabulary import NUMBER, TENS, number_of

Read = Iterator[tuple[str, Value, bool]]

_NAMED = {
    "eyes": "eyes, eye, eyecolour, eyecolor, eye colour, eye color, eye-colour, eye-color, colour of eyes",
    "hair": "hair, haircolour, haircolor, hair colour, hair color, hair-colour, hair-color",
    "beard": "beard, moustache, mustache, facial hair",
    "age": "age, years, years old, aged, how old",
    "born": "born, birth, birthday, birthdate, birth date, date of birth, year of birth, birth year",
    "died": "died, death, date of death, killed, dies, deceased, dead, cause of death, buried, burial, grave, "
    "killed by",
    "status": "status, state, fate, condition, life, end",
    "alive": "alive, living, lives still",
    "span": "lifespan, life span, dates, lived",
    "home": "home, lives in, lives, residence, lives at, house, address, lodgings, lodging, lodges, lodges in, "
    "lodges at, dwelling, dwells, dwells in, rooms, resides, resides in, resides at, abode, lives on, "
    "domicile, quarters, street",
    "birthplace": "birthplace, born in, born at, place of birth, hometown, origin, from, native of, native town, "
    "native place, native city, birth place, comes from, home town, place born, native",
    "in": "location, located, located in, lies in, lies on, lies, stands on, stands, side, bank, region, county, "
    "country, province, where, place, in",
    "height": "height, build, stature",
    "handed": "handedness, hand, dominant hand, handed",
    "marks": "scar, scars, marks, distinguishing marks, distinguishing features, features, limp, injury",
    "mother": "mother",
    "father": "father",
    "husband": "husband",
    "wife": "wife",
    "count:brother": "brothers, number of brothers",
    "count:sister": "sisters, number of sisters",
    "count:sibling": "siblings, number of siblings",
    "trade": "occupation, trade, job, profession, work",
    "date": "date, when, day, happens, happened, takes place, took place",
    "married": "married, wedding, wedding day, date of marriage",
}
"""Each attribute → what authors call the field."""
_KEYS = {name.strip(): attribute for attribute, names in _NAMED.items() for name in names.split(",")}
_DEAD = re.compile(
    r"\b(?:dead|deceased|died|dies|killed|murdered|drowned|hanged|executed|slain|perished|buried|beheaded|strangled|"
    r"poisoned|grave|"
    r"passed away|no longer living|lost at sea|shot dead|burned to death|late|d\. ?[0-9]{4})\b",
    re.IGNORECASE,
)
_NO = frozenset({"no", "false", "n/a", "-", "none", "alive", "n", "not yet", "unknown"})
_QUALIFIED = re.compile(
    r"\(.*?\)|\b(?:current|vital|still|is|life(?=\s+status)|his|her|the)\b|\b(?:at|in|on|when|"
    r"as)\s+(?:the\s+)?(?:start|opening|beginning|outset|story|book|novel|present|first|chapter\s+\w+|scene\s+\w+)\b.*"
)
"""What may stand around the name of a field."""
_NOT_DEAD = re.compile(
    r"\b(?:alive|living|not dead|presumed|believed|undead|ghost|missing|thought|supposed|returns|faked|feigned|"
    r"nearly|almost)\b",
    re.IGNORECASE,
)
_DECADE = re.compile(
    rf"(?P<part>early|mid|late)?[- ]?(?P<decade>{'|'.join(ten[:-1] + 'ies' for ten in TENS)}|[2-9]0s)", re.IGNORECASE
)
_SIDED = re.compile(
    r"\b(?P<side>left|right)\s+(?P<limb>cheek|eye|arm|hand|leg|foot|knee|shoulder|temple|eyebrow|brow|ear|thumb|"
    r"forearm|wrist|thigh|ankle|hip|jaw|palm)\b",
    re.IGNORECASE,
)
_MARKS = {
    "scar": "scar", "limp": "limp", "lame": "limp", "blind": "blind", "missing": "lost", "lost": "lost",
    "tattoo": "tattoo", "birthmark": "birthmark", "mole": "mole", "patch": "patch", "burn": "burn",
}  # fmt: skip
_BANK = re.compile(r"\b(?P<way>north|south|east|west|left|right)(?:ern)?\s+(?:bank|side|shore)\b", re.IGNORECASE)
_PROPER = re.compile(r"[A-ZÀ-Þ][\w'-]*\w(?:\s+(?:(?:of|de|la|le|upon|on|the)\s+)?[A-ZÀ-Þ][\w'-]*\w){0,3}")


def read_value(card: CanonCard, key: str, text: str) -> Read:
    """(attribute, value, hard) of one field; nothing where the key or the text says nothing that can be checked."""
    attribute = _attribute(key)
    if attribute is None:
        return
    reader = _READERS.get(attribute)
    if reader is not None:
        yield from reader(card, text)
    elif attribute.startswith("count:"):
        count = number_of(re.sub(r"\W.*", "", text)) if text else None
        if count is not None:
            yield attribute, (count,), True
    elif attribute in {"mother", "father", "husband", "wife"} and (found := _PROPER.search(text)):
        yield attribute, (found.group().lower(), found.group()), attribute in {"mother", "father"}


def _attribute(key: str) -> str | None:
    """What a field is about: `Eye colour`, `eyeColour`, `Age (at the opening)`, `is_alive`."""
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", key)
    plain = " ".join(re.sub(r"[_\s]+", " ", apart).casefold().split())
    bare = " ".join(_QUALIFIED.sub(" ", plain).split())
    return _KEYS.get(plain, _KEYS.get(bare))


def _eyes(_card: CanonCard, text: str) -> Read:
    if colours := colours_in(re.findall(r"[\w-]+", text), EYES):
        yield "eyes", colours, True


def _hair(_card: CanonCard, text: str) -> Read:
    if colours := colours_in(re.findall(r"[\w-]+", text), HAIR):
        yield "hair", colours, True


def _beard(_card: CanonCard, text: str) -> Read:
    if colours := colours_in(re.findall(r"[\w-]+", text), HAIR):
        yield "beard", colours, False


def _age(_card: CanonCard, text: str) -> Read:
    if re.search(r"\b[0-9]{4}\b", text):
        # Years of the calendar, not of a life.
        yield from _span(_card, text)
    elif decade := _DECADE.search(text):
        word = decade.group("decade").lower()
        low = int(word[:2]) if word[0].isdigit() else 10 * (2 + [ten[:-1] + "ies" for ten in TENS].index(word))
        first, last = {"early": (0, 4), "mid": (3, 7), "late": (6, 9)}.get((decade.group("part") or "").lower(), (0, 9))
        yield "age", (low + first, low + last), True
    elif span := re.search(r"\b([0-9]{1,3})\s*[-\u2013\u2014]\s*([0-9]{1,3})\b", text):
        yield "age", (int(span.group(1)), int(span.group(2))), True
    elif found := re.search(rf"\b{NUMBER}\b", text, re.IGNORECASE):
        value = number_of(found.group())
        about = re.search(r"\b(?:about|around|circa|c\.|~|roughly|approx)", text, re.IGNORECASE)
        if value:
            yield "age", (value - 3, value + 3) if about else (value, value), True


def _born(_card: CanonCard, text: str) -> Read:
    moment = read_date(text)
    if moment and (moment.year or moment.month):
        yield "born", moment.as_value(), True
    place = re.search(rf"(?:\b(?:in|at)\s+|\A\s*|,\s+)(?P<place>{_PROPER.pattern})", text)
    if place and not re.match(
        r"January|February|March|April|May|June|July|August|Sept|Octo|Nov|Dec|Yes|No\b|\w+day\b", place.group("place")
    ):
        yield "birthplace", (place.group("place").lower(),), True


def _died(_card: CanonCard, text: str) -> Read:
    if text.casefold() in _NO:
        return
    yield "dead", ("dead",), True
    moment = read_date(text)
    if moment and (moment.year or moment.month):
        yield "died", moment.as_value(), True


def _status(_card: CanonCard, text: str) -> Read:
    if _DEAD.search(text) and not _NOT_DEAD.search(text):
        yield "dead", ("dead",), True


def _alive(_card: CanonCard, text: str) -> Read:
    if re.match(r"(?:no|false|n|not)\b", text, re.IGNORECASE):
        yield "dead", ("dead",), True


def _span(_card: CanonCard, text: str) -> Read:
    """Read `1760-1811`, the years of a life that is over."""
    if re.search(r"\b[0-9]{3,4}\s*[-\u2013\u2014]\s*[0-9]{3,4}\b", text):
        yield "dead", ("dead",), True


def _place(attribute: str, *, hard: bool) -> Callable[[CanonCard, str], Read]:
    def read(_card: CanonCard, text: str) -> Read:
        if found := _PROPER.search(text):
            yield attribute, (found.group().lower().removeprefix("the "),), hard
        if attribute == "in" and (
            way := re.search(
                r"\b(?P<way>north-?east|north-?west|south-?east|south-?west|north|south|east|west|left|"
                r"right)(?:ern)?\s+(?:of|side of|bank of|shore of|end of|edge of)\s+(?:the\s+)?(?P<ref>[\w' ]+)",
                text,
            )
        ):
            yield f"side of {way.group('ref').lower().strip()}", (way.group("way").replace("-", ""),), True
        if attribute == "in" and (bank := _BANK.search(text)):
            yield "bank", (bank.group("way"),), True

    return read


def _height(_card: CanonCard, text: str) -> Read:
    words = set(re.findall(r"\w+", text.lower()))
    if words & TALL and not words & SHORT:
        yield "height", ("tall",), False
    elif words & SHORT and not words & TALL:
        yield "height", ("short",), False
    feet = re.search(r"\b([4-7])\s*(?:'|ft|feet|foot)\s*([0-9]{1,2})?", text)
    if feet:
        yield "stature", (int(feet.group(1)) * 12 + int(feet.group(2) or 0),), True


def _handed(_card: CanonCard, text: str) -> Read:
    sides = {side for side in ("left", "right") if re.search(rf"\b{side}\b", text.lower())}
    if len(sides) == 1 and "ambi" not in text.lower():
        yield "handed", (sides.pop(),), True


def _marks(_card: CanonCard, text: str) -> Read:
    mark = next((name for word, name in _MARKS.items() if word in text.lower()), None)
    for found in _SIDED.finditer(text):
        yield f"{mark or 'scar'}:{found.group('limb').lower()}", (found.group("side").lower(),), True


def _trade(_card: CanonCard, text: str) -> Read:
    trades = tuple(trade for trade in TRADES if re.search(rf"\b{trade}\b", text.lower()))
    if trades:
        yield "trade", trades, False


def _date(card: CanonCard, text: str) -> Read:
    moment = read_date(text)
    if card.kind in {"event", "lore", "misc"} and moment and any((moment.year, moment.month, moment.weekday >= 0)):
        yield "date", moment.as_value(), True


def _married(_card: CanonCard, text: str) -> Read:
    moment = read_date(text)
    if moment and (moment.year or moment.month):
        yield "married", moment.as_value(), True


_READERS: dict[str, Callable[[CanonCard, str], Read]] = {
    "eyes": _eyes, "hair": _hair, "beard": _beard, "age": _age, "born": _born, "died": _died,
    "status": _status, "alive": _alive, "span": _span,
    "home": _place("home", hard=False), "birthplace": _place("birthplace", hard=True), "in": _place("in", hard=True),
    "height": _height, "handed": _handed, "marks": _marks, "trade": _trade, "date": _date, "married": _married,
}  # fmt: skip

"""Where a place lies, where somebody lives or was born, and who is in two places on one day."""

import re
from collections.abc import Iterator

from tallystick.rooms.studio.continuity.binding import Binder
from tallystick.rooms.studio.continuity.claims import is_claimed
from tallystick.rooms.studio.continuity.dates import DATE_WORDS, LOOSE, moment_of
from tallystick.rooms.studio.continuity.facts import Fact, fact_at
from tallystick.rooms.studio.continuity.narration import Narration
from tallystick.rooms.studio.continuity.owners import holder
from tallystick.rooms.studio.continuity.people import NAME, Mention
from tallystick.rooms.studio.continuity.vocabulary import NUMBER, number_of, words

_PROPER = r"[A-ZÀ-Þ][\w'-]*\w(?:\s+(?:(?:of|de|la|le|du|upon|on|the)\s+)?[A-ZÀ-Þ][\w'-]*\w){0,3}"
_PLACE = (
    rf"(?:the\s+)?(?:(?:county|village|town|city|parish|valley|province|hamlet|borough|district|region|port|"
    rf"isle|island|kingdom|hills|mountains|marshes|wilds|coast|shores?|moors|plains|border|borders|fens|woods|"
    rf"heart|middle|centre|depths|north|south|east|west)\s+of\s+(?:the\s+)?)?(?P<place>{_PROPER})"
)
_WAY = r"(?:north|south|east|west|north-?east|north-?west|south-?east|south-?west)"
_LIES = (
    r"(?:lay|lies|stood|stands|was\s+situated|is\s+situated|was\s+located|is\s+located|nestled|nestles|"
    r"was\s+built|had\s+been\s+built|sat|sits|could\s+be\s+found|is|was|had\s+(?:always\s+)?stood)"
)
_LYING = re.compile(
    rf"\b(?P<verb>{_LIES})\s+(?:(?:just|deep|far|away|high|up|down|out|well|right|directly|a\s+little|some|"
    rf"\w+ly)\s+){{0,2}}(?:in\s+the\s+(?P<part>{_WAY}|heart|middle|centre)\s+of\s+(?:the\s+)?(?P<whole>{_PROPER})|"
    rf"(?:an?\s+(?:\w+\s+){{0,2}}(?:village|town|city|hamlet|house|estate|farm|port|parish|castle|manor|place|seat|inn|"
    rf"island|spot)\s+)?(?:in|on)\s+{_PLACE}|(?:(?:some|about|barely|nearly|scarcely|only)\s+)?(?P<count>{NUMBER}|"
    rf"half\s+a)\s+(?P<unit>miles?|leagues?|kilomet\w+|hours?|days?)(?:'s?)?(?:\s+(?:walk|ride|drive|"
    rf"journey))?\s+(?:(?:to\s+the\s+)?(?P<bearing>{_WAY})\s+of|from|outside|away\s+from|beyond|above|"
    rf"below)\s+(?:the\s+)?(?P<from>{_PROPER})|(?:to\s+the\s+|on\s+the\s+|at\s+the\s+)?(?P<way>{_WAY}|left|right|far|"
    rf"near)(?:ern)?(?:-hand)?\s+(?:of|side\s+of|bank\s+of|shore\s+of|coast\s+of|edge\s+of|end\s+of|"
    rf"slope\s+of)\s+(?:the\s+)?(?P<ref>{_PROPER}|[a-z]+)"
    r"|(?:at|on|near)\s+the\s+(?P<spot>top|foot|bottom|summit|mouth|head|edge|end)\s+of\s+(?:the\s+)?(?P<ref2>[\w'-]+))"
)
_ARTICLE = re.compile(r"\b[Tt]he\s+\Z")
_SETTLED = re.compile(
    r"(?:is|lies|stands|lay|stood|nestle[sd]|was\s+(?:situated|built|located)|is\s+(?:situated|located)|had)\b|"
    r"was\s+an?\b"
)
_BESIDE = re.compile(rf",\s+(?:which\s+(?:lay|lies|stood|stands)\s+)?in\s+{_PLACE}\s*,")
_THE = re.compile(
    r"\b[Tt]he\s+(?:(?:old|new|great|little|ruined|stone|white|grey|red|black|village|parish)\s+)?(?P<thing>lighthouse|"
    r"mill|windmill|church|chapel|inn|castle|tower|bridge|farm|manor|abbey|monastery|station|harbour|mine|school|"
    r"prison|hospital|cottage|vicarage|parsonage|rectory|town|village|city|palace|temple|fort|fortress|well|forge|"
    r"graveyard|churchyard|cemetery|quarry|orchard|stables)\s*\Z"
)
_HOUSE = re.compile(
    r"(?<![\w'])(?!The\b|This\b|That\b)[A-ZÀ-Þ][\w'-]*\w(?:\s+[A-ZÀ-Þ][\w'-]*\w)?\s+(?:Hall|PageContext|Park|Court|Castle|"
    r"Abbey|Manor|Lodge|Cottage|Grange|Farm|Inn|Tower|Priory|Church|Bay|Island|Isle|Head|Point|Street|Square|Harbour|"
    r"Bridge|Mill|Wood|Forest|Hill|Heights|Rectory)\s*\Z"
)
_LIVES = re.compile(
    rf"\b(?P<verb>lived|lives|dwelt|dwelled|resided|resides|lived\s+all\s+(?:his|her)\s+life|made\s+(?:his|her)\s+home|"
    rf"had\s+(?:his|her)\s+home|had\s+lived\s+all\s+(?:his|her)\s+life|was\s+born|had\s+been\s+born|"
    rf"was\s+born\s+and\s+(?:bred|raised)|grew\s+up|hailed|was\s+a\s+native)\s+(?:alone,?\s+|still\s+|quietly\s+|"
    rf"then\s+|now\s+|there,\s+|always\s+)?(?:in|at|on|from|of|near)\s+{_PLACE}"
)
_HOME_IS = re.compile(
    rf"(?P<name>{NAME})(?:'s|')\s+(?:\w+\s+)?(?:house|home|cottage|lodgings|rooms|estate|farm|shop)\s+(?:was|is|"
    rf"stood|stands|lay|lies|were)\s+(?:in|at|on|near)\s+{_PLACE}"
)
_IS_AT = re.compile(
    rf"\b(?:was|remained|stayed|is|sat|stood|slept|dined|woke)\s+(?:still\s+|now\s+|already\s+|"
    rf"at\s+that\s+(?:very\s+)?(?:hour|moment)\s+)?(?:in|at)\s+{_PLACE}"
)
_DATED = re.compile(rf"\b(?:[Oo]n|[Ii]n)\s+(?:the\s+(?:morning|evening|afternoon|night)\s+of\s+)?(?:the\s+)?{LOOSE}")
_HOURLY = re.compile(
    r"\b(?:at\s+(?:noon|midnight|dawn|dusk|sunrise|sunset|(?:the\s+)?(?:same|very)\s+(?:hour|moment|time)|"
    r"[a-z]+\s+o'clock))\b",
    re.IGNORECASE,
)

_PART = re.compile(r"\b(?:night|morning|evening|afternoon)\b")
_UNTIL = re.compile(r"\W*(?:Until|Till|Before|Once|Formerly|Previously|In\s+former)\b")


def places(narration: Narration, binder: Binder) -> Iterator[Fact]:
    """Everything of this kind that the file tells."""
    prose = narration.prose
    for pattern, triggers, read in _READERS:
        for number, found in prose.matches(pattern, triggers):
            if narration.is_real(number):
                yield from read(narration, binder, number, found)


def _lying(narration: Narration, binder: Binder, number: int, found: re.Match[str]) -> Iterator[Fact]:
    subject = _thing(narration, binder, number, found.start())
    if subject is None or not narration.asserts(number, found.start(), found.end()):
        return
    if binder.cast.is_person(subject.key) and subject.key not in _location_cards(binder):
        return
    attribute, value = _relation(found)
    if not value or (attribute == "in" and _may_move(narration, binder, subject, found)):
        return
    yield fact_at(
        narration.prose,
        number,
        (min(subject.start, found.start()), found.end()),
        subject,
        attribute,
        value,
        found.group(),
    )


def _may_move(narration: Narration, binder: Binder, subject: Mention, found: re.Match[str]) -> bool:
    """A ship lies in a harbour today and in another tomorrow; only what others are in is a place."""
    if _ARTICLE.search(narration.prose.told, max(0, subject.start - 5), subject.start) or subject.key[0] == "\0":
        return True
    plainly = _SETTLED.match(found.group()) or subject.key in _location_cards(binder)
    return not plainly and not binder.cast.is_visited(subject.key)


def _relation(found: re.Match[str]) -> tuple[str, tuple[str | int, ...]]:
    """The attribute and the value that a match gives: in what, how far from what, on which side of what."""
    if found.group("from"):
        count = 0 if found.group("count").startswith("half") else number_of(found.group("count"))
        unit = found.group("unit").rstrip("s")
        return (f"{unit}s from {_plain(found.group('from'))}", (count,)) if count is not None else ("", ())
    if found.group("place"):
        return "in", (_plain(found.group("place")),)
    for side, whole, attribute in (("part", "whole", "side"), ("way", "ref", "side"), ("spot", "ref2", "part")):
        if found.group(side):
            said = found.group(side).replace("-", "")
            value = {"summit": "top", "bottom": "foot"}.get(said, said)
            return f"{attribute} of {_plain(found.group(whole))}", (value,)
    return "", ()


def _thing(narration: Narration, binder: Binder, number: int, at: int) -> Mention | None:
    """What lies there: a name, or a building there may be only one of."""
    sentence = narration.prose.sentences[number]
    if house := _HOUSE.search(sentence.text[: at - sentence.start]):
        start = sentence.start + house.start()
        return Mention(
            start=start, end=at, key=_plain(house.group()), name=" ".join(house.group().split()), is_possessive=False
        )
    named = binder.named_before(number, at)
    if named is not None:
        return None if named.is_possessive else named
    found = _THE.search(sentence.text[: at - sentence.start])
    if found is None:
        return None
    start = sentence.start + found.start()
    return Mention(
        start=start, end=at, key=f"\0{found.group('thing')}", name=" ".join(found.group().split()), is_possessive=False
    )


def _beside(narration: Narration, binder: Binder, number: int, found: re.Match[str]) -> Iterator[Fact]:
    """Read `Pemberley, in Derbyshire,`."""
    owner = binder.named_before(number, found.start())
    if (
        owner is None
        or owner.is_possessive
        or (binder.cast.is_person(owner.key) and owner.key not in _location_cards(binder))
    ):
        return
    yield fact_at(
        narration.prose, number, (owner.start, found.end()), owner, "in", (_plain(found.group("place")),), found.group()
    )


def _lives(narration: Narration, binder: Binder, number: int, found: re.Match[str]) -> Iterator[Fact]:
    owner = holder(binder, number, found.start())
    place = _plain(found.group("place"))
    if owner is None or owner.is_possessive or binder.cast.acts(binder.cast.key_of_name(found.group("place")) or ""):
        return
    clause_start = found.start() if "had" in found.group("verb") or "born" in found.group("verb") else owner.start
    born = any(word in found.group("verb") for word in ("born", "hailed", "native"))
    if not born and not narration.asserts(
        number, max(clause_start, narration.prose.sentences[number].start), found.end()
    ):
        return
    if born and narration.is_denied(number, found.start(), found.end()):
        return
    attribute = "birthplace" if born else "raised" if "grew" in found.group("verb") else "home"
    at_home = attribute == "home"
    if not is_claimed(narration, number, found.span(), granted=True, memory=not at_home) or (
        at_home and _UNTIL.match(narration.prose.sentences[number].text)
    ):
        return
    start = min(owner.start, found.start()) if owner.start >= narration.prose.sentences[number].start else found.start()
    yield fact_at(
        narration.prose,
        number,
        (start, found.end()),
        owner,
        attribute,
        (place,),
        found.group("place"),
        hard=attribute != "home",
    )


def _home_is(narration: Narration, binder: Binder, number: int, found: re.Match[str]) -> Iterator[Fact]:
    span = found.span("name")
    owner = next((one for one in binder.mentions(number) if one.start >= span[0] and one.end <= span[1] + 1), None)
    if owner is None or not narration.asserts(number, found.start(), found.end()):
        return
    place = found.group("place")
    yield fact_at(narration.prose, number, found.span(), owner, "home", (_plain(place),), place, hard=False)


def _is_at(narration: Narration, binder: Binder, number: int, found: re.Match[str]) -> Iterator[Fact]:
    """Where somebody is on a day that the sentence names."""
    owner = holder(binder, number, found.start())
    sentence = narration.prose.sentences[number]
    dated = _DATED.search(sentence.text)
    if (
        owner is None
        or owner.is_possessive
        or dated is None
        or not narration.asserts(number, found.start(), found.end())
    ):
        return
    moment = moment_of(dated)
    hour = _HOURLY.search(sentence.text) or _PART.search(sentence.text)
    if not (moment.day and moment.month):
        return
    details = (*map(str, moment.as_value()), hour.group().lower() if hour else "")
    attribute = f"whereabouts on {moment.day}.{moment.month}.{moment.year or ''}"
    start = min(owner.start, found.start()) if owner.start >= sentence.start else found.start()
    yield fact_at(
        narration.prose,
        number,
        (start, found.end()),
        owner,
        attribute,
        (_plain(found.group("place")),),
        found.group("place"),
        details=details,
    )


_READERS = (
    (
        _LYING,
        frozenset(words("lay lies stood stands situated located nestled nestles built sat sits found is was")),
        _lying,
    ),
    (_LIVES, frozenset(words("lived lives dwelt dwelled resided resides home life born grew hailed native")), _lives),
    (_HOME_IS, frozenset(words("house home cottage lodgings rooms estate farm shop")), _home_is),
    (_IS_AT, DATE_WORDS, _is_at),
    (_BESIDE, frozenset({"in"}), _beside),
)


def _location_cards(binder: Binder) -> set[str]:
    return {path for path, card in binder.cast.cards.items() if card.kind != "character"}


def _plain(place: str) -> str:
    return " ".join(place.lower().removeprefix("the ").split()).removesuffix("'s")

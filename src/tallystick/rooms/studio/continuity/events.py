"""When somebody was born or married, when something took place or was built, when somebody set out or came.

A sentence counts that gives one date and one event, in either order: `The ball was held on the 3rd of June`, `It was on
the 3rd of June that Helen was married`.
"""

import re
from collections.abc import Iterator

from tallystick.records import record
from tallystick.rooms.studio.continuity.binding import Binder
from tallystick.rooms.studio.continuity.dates import DATE_WORDS, LOOSE, Moment, moment_of
from tallystick.rooms.studio.continuity.facts import Fact, fact_at
from tallystick.rooms.studio.continuity.narration import Narration
from tallystick.rooms.studio.continuity.owners import holder
from tallystick.rooms.studio.continuity.people import NAME, Mention
from tallystick.rooms.studio.continuity.vocabulary import words

OCCASIONS = words(
    "ball wedding funeral battle fire trial storm flood feast banquet duel wreck shipwreck siege execution coronation "
    "christening baptism burial murder accident explosion earthquake election engagement marriage hearing inquest "
    "inquiry massacre mutiny rebellion regatta race fair festival party reception treaty voyage expedition concert "
    "performance premiere raid robbery theft auction sale meeting strike dance supper dinner picnic hunt birthday "
    "landing launch opening armistice revolution uprising eclipse tournament"
)
_RECURS = frozenset(
    words(
        "birthday meeting party dinner supper dance race sale hunt picnic concert performance reception feast fair "
        "auction hearing storm fire theft dance strike banquet festival regatta hunt"
    )
)
"""What a town or a house has more than one of: two dates of `the meeting` are two meetings."""
_DATED = re.compile(
    rf"(?:\b(?P<by>on|in|for|upon|of|was|is|fell|dated|from|by|until|till|since|before|after|every|next|"
    rf"last)\s+)?(?:the\s+|a\s+)?{LOOSE}"
)
_NOT_OF_IT = frozenset({"from", "by", "until", "till", "since", "before", "after", "every", "next", "last"})
_LIFE = re.compile(
    r"\b(?P<verb>(?:was|had\s+been|is)\s+born|died|had\s+died|married|had\s+married|(?:was|were|had\s+been|"
    r"got)\s+(?:married|wed|wedded|"
    r"baptised|baptized|christened|buried|hanged|executed|engaged|knighted|crowned|ordained))\b"
)
_WHOSE_DAY = re.compile(
    rf"(?P<name>{NAME})(?:'s|')\s+(?P<what>wedding|wedding[- ]day|funeral|christening|marriage|name-day|engagement)\b"
)
_WHAT = re.compile(
    rf"\b(?P<what>[Tt]he\s+(?:[\w'-]+\s+){{0,3}}?(?P<kind>{'|'.join(OCCASIONS)})(?:\s+(?:of|at|in|"
    rf"for)\s+(?:the\s+)?[A-Z][\w'-]+(?:\s+[A-Z][\w'-]+)?)?)"
    r"(?=\s+(?:was|were|had|is|took|happened|occurred|broke|began|fell|came|struck|would|ended|opened)\b|\s*[.,;]|"
    r"\s+(?:on|in|for|of)\s)"
)
_MADE = re.compile(
    r"\b(?P<verb>(?:was|were|had\s+been)\s+(?:\w+ly\s+)?(?:built|founded|burned|burnt|destroyed|erected|sold|bought|"
    r"opened|consecrated|razed|begun|completed|finished|restored|pulled\s+down|laid\s+out|settled)|burned\s+down|"
    r"burnt\s+down|fell\s+down)\b"
)
_TRAVEL = re.compile(
    r"\b(?P<verb>left|departed\s+from|arrived\s+in|arrived\s+at|reached|sailed\s+from|sailed\s+for|set\s+out\s+from|"
    r"set\s+out\s+for|landed\s+at|landed\s+in|returned\s+to|came\s+to|went\s+to|moved\s+to|entered|"
    r"quitted)\s+(?P<place>[A-Z][\w'-]+(?:\s+[A-Z][\w'-]+)?)"
)
_BREAK = re.compile(r"[;:¤—]|\b(?:when|while|but|though|although|because|whereas)\b")
_LIFE_OF = {
    "born": "born", "died": "died", "baptis": "baptised", "baptiz": "baptised", "christen": "baptised",
    "buried": "buried", "hanged": "died", "execut": "died", "engaged": "engaged", "knight": "knighted",
    "crown": "crowned", "ordain": "ordained",
}  # fmt: skip
_DAY_OF = {"funeral": "buried", "christening": "baptised", "name-day": "name-day", "engagement": "engaged"}


def events(narration: Narration, binder: Binder) -> Iterator[Fact]:
    """Every date that the file gives a life or an event."""
    for number in narration.prose.with_words(DATE_WORDS):
        if narration.prose.sentences[number].is_question or not narration.is_real(number):
            continue
        dated = _one_date(narration, number)
        if dated is not None:
            yield from _dated(narration, binder, number, dated)


def _one_date(narration: Narration, number: int) -> re.Match[str] | None:
    """The date of a sentence that gives only one, as its own."""
    sentence = narration.prose.sentences[number]
    found = list(_DATED.finditer(narration.prose.told, sentence.start, sentence.end))
    if len(found) != 1 or (found[0].group("by") or "").lower() in _NOT_OF_IT:
        return None
    return found[0] if narration.asserts_date(number, found[0].start(), found[0].end()) else None


def _dated(narration: Narration, binder: Binder, number: int, dated: re.Match[str]) -> Iterator[Fact]:
    moment = moment_of(dated)
    for pattern, read in ((_WHOSE_DAY, _whose_day), (_LIFE, _life), (_TRAVEL, _travel), (_MADE, _made), (_WHAT, _what)):
        sentence = narration.prose.sentences[number]
        for found in pattern.finditer(narration.prose.told, sentence.start, sentence.end):
            if not _goes_with(narration, found, dated):
                continue
            named = read(Told(narration=narration, binder=binder, number=number, found=found, moment=moment))
            if named is None:
                continue
            subject, attribute, value = named
            span = (min(found.start(), dated.start()), max(found.end(), dated.end()))
            yield fact_at(narration.prose, number, span, subject, attribute, value.as_value(), dated.group().strip())
            return


def _goes_with(narration: Narration, event: re.Match[str], dated: re.Match[str]) -> bool:
    """Nothing between the event and the date begins another clause."""
    first, second = sorted((event.span(), dated.span()))
    return not _BREAK.search(narration.prose.told[first[1] : second[0]])


@record
class Told:
    """An event in a sentence that gives one date."""

    narration: Narration
    binder: Binder
    number: int
    found: re.Match[str]
    moment: Moment


Named = tuple[Mention, str, Moment] | None


def _life(told: Told) -> Named:
    owner = holder(told.binder, told.number, told.found.start()) or _one_of_two(told.binder, told.number, told.found)
    if owner is None or owner.is_possessive or not (told.moment.year or told.moment.month):
        return None
    attribute = next((name for stem, name in _LIFE_OF.items() if stem in told.found.group("verb")), "married")
    return owner, attribute, told.moment


def _one_of_two(binder: Binder, number: int, found: re.Match[str]) -> Mention | None:
    """`Mara and the captain were married`: of two, the one who has a name."""
    if not found.group("verb").startswith("were"):
        return None
    people = {one.key: one for one in binder.mentions(number) if one.end <= found.start() and not one.is_possessive}
    return next(iter(people.values())) if len(people) == 1 else None


def _whose_day(told: Told) -> Named:
    span = told.found.span("name")
    owner = next(
        (one for one in told.binder.mentions(told.number) if one.start >= span[0] and one.end <= span[1] + 1), None
    )
    if owner is None or not (told.moment.month or told.moment.weekday >= 0 or told.moment.year):
        return None
    attribute = _DAY_OF.get(told.found.group("what"), "married")
    return owner, attribute, told.moment


def _travel(told: Told) -> Named:
    owner = holder(told.binder, told.number, told.found.start())
    if owner is None or owner.is_possessive or not (told.moment.month and told.moment.day):
        return None
    return owner, " ".join(f"{told.found.group('verb')} {told.found.group('place')}".lower().split()), told.moment


def _made(told: Told) -> Named:
    sentence = told.narration.prose.sentences[told.number]
    before = told.narration.prose.told[sentence.start : told.found.start()]
    subject = _NAMED_THING.search(before)
    if subject is None or not (told.moment.year or (told.moment.month and told.moment.day)):
        return None
    name = " ".join(subject.group().split())
    verb = told.found.group("verb").split()[-1]
    start = sentence.start + subject.start()
    mention = Mention(start=start, end=told.found.start(), key=_key(name), name=name, is_possessive=False)
    return mention, f"when {verb}", told.moment


_NAMED_THING = re.compile(
    r"(?:[Tt]he\s+(?:[a-z]+\s+){0,2})?[A-Z][\w'-]*\w(?:\s+(?:of\s+)?[A-Z][\w'-]*\w){0,2}\s*\Z|"
    r"[Tt]he\s+(?:old\s+)?(?:house|mill|church|chapel|castle|bridge|tower|lighthouse|abbey|manor|hall)\s*\Z"
)


def _what(told: Told) -> Named:
    what = " ".join(told.found.group("what").split())
    is_named = re.search(r"[A-Z]", what[1:]) is not None
    if told.found.group("kind").lower() == "birthday":
        # Whose it is, another rule reads.
        return None
    recurs = told.found.group("kind").lower() in _RECURS
    if not (is_named or (not recurs and ((told.moment.month and told.moment.day) or told.moment.year))):
        return None
    subject = Mention(
        start=told.found.start(), end=told.found.end("what"), key=_key(what), name=what, is_possessive=False
    )
    return subject, "date", told.moment


def _key(what: str) -> str:
    """Under which an event or a building is known; such keys never meet those of people."""
    words = re.sub(r"^the\s+(?:great\s+|old\s+|famous\s+|terrible\s+)?", "", what.lower()).split()
    return "\0" + " ".join(sorted(word for word in words if word not in {"of", "at", "in", "the", "for"}))

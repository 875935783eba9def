"""An age that is only said or written, but called true by the narrator: `"I am forty," said Mara, and it was true`."""

import re
from collections.abc import Iterator

from tallystick.rooms.studio.continuity.alone import named_people
from tallystick.rooms.studio.continuity.binding import Binder
from tallystick.rooms.studio.continuity.facts import Fact, fact_at
from tallystick.rooms.studio.continuity.focus import KIN
from tallystick.rooms.studio.continuity.narration import Narration
from tallystick.rooms.studio.continuity.people import Mention
from tallystick.rooms.studio.continuity.unreal import CONFIRMED, FALSE
from tallystick.rooms.studio.continuity.vocabulary import NUMBER, number_of

_CONFIRMED = re.compile(CONFIRMED)
_FALSE = re.compile(rf"\b(?:{FALSE})\b")
_CUES = frozenset(
    {
        "true",
        "truth",
        "truthfully",
        "truly",
        "right",
        "correct",
        "correctly",
        "accurate",
        "accurately",
        "lie",
        "so",
        "fact",
    }
)
_QUOTE = re.compile(r'"([^"]{2,60})"')
_AGE = re.compile(
    rf"(?:(?P<own>\bI\s+am|\bI'm|\bI\s+was|\bI\s+shall\s+be)\s+(?:only\s+|just\s+|now\s+)?|"
    rf"(?P<noted>\b[Aa]ged?:?\s+)|\A\W*)"
    rf"(?P<number>{NUMBER})(?P<day>\s+years\s+(?:old|of\s+age)|\s+last\s+\w+|\s+today|\s+in\s+[A-Z]\w+)?(?=\W*\Z|"
    rf"[.,!?;])",
    re.IGNORECASE,
)
_OF_AGE = re.compile(r"\b(?:age|aged|old|older|census|birth\w*|years)\b", re.IGNORECASE)
_SAYS = r"(?:said|answered|replied|told|owned|admitted|confessed|returned|responded|declared|stated|announced)"
_SAYS_HE = re.compile(rf"\W*{_SAYS}\s+(?:old\s+|poor\s+)?\Z")
_HE_SAYS = re.compile(rf"\s+(?:had\s+|\w+ly\s+)?{_SAYS}\b")
_SAYS_ANOTHER = re.compile(
    rf"\W*(?:{_SAYS}\s+(?:the|an?|his|her)\s|(?:the|an?|his|her)\s+(?:[a-z-]+\s+){{1,2}}{_SAYS}\b)"
)
_YOUNGEST, _OLDEST = 13, 110


def vouched(narration: Narration, binder: Binder) -> Iterator[Fact]:
    """Every age in inverted commas that the same sentence calls true."""
    prose = narration.prose
    for number in prose.with_words(_CUES):
        sentence = prose.sentences[number]
        if "¤" not in sentence.text or not _CONFIRMED.search(sentence.text) or _FALSE.search(sentence.text):
            continue
        if sentence.is_question or narration.in_dream(number) or KIN.search(sentence.text):
            continue
        for quote in _QUOTE.finditer(prose.flat, sentence.start, sentence.end):
            found = _AGE.search(quote.group(1))
            value = number_of(found.group("number")) if found else None
            owner = _whose(binder, number, quote, found) if found else None
            if found and owner and value and _YOUNGEST <= value <= _OLDEST:
                span = (quote.start(1) + found.start(), quote.start(1) + found.end())
                yield fact_at(prose, number, span, owner, "age", (value, value), found.group("number"))


def _whose(binder: Binder, number: int, quote: re.Match[str], found: re.Match[str]) -> Mention | None:
    """Whoever says `I am`; else the one person named, where the talk is of an age and nobody else gives his own."""
    people, sentence = named_people(binder, number), binder.prose.sentences[number]
    if len({one.key for one in people}) != 1 or people[0].is_possessive > bool(found.group("noted")):
        return None
    owner, told = people[0], binder.prose.told
    if found.group("own"):
        says = _SAYS_HE.fullmatch(told, quote.end(), owner.start) or _HE_SAYS.match(told, owner.end, sentence.end)
        return owner if says else None
    near = binder.prose.flat[max(binder.prose.paragraphs[sentence.paragraph][0], sentence.start - 160) : sentence.end]
    return (
        owner if (found.group("day") or _OF_AGE.search(near)) and not _SAYS_ANOTHER.match(told, quote.end()) else None
    )

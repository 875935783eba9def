"""Ages: `at thirty-nine`, `aged 39`, `in her fortieth year`, `a man past fifty`, `born in 1888`."""

import re
from collections.abc import Iterator

from tallystick.reading.parser import ParsedWord
from tallystick.rooms.studio.continuity.fields.found import Found, found_at
from tallystick.rooms.studio.continuity.fields.numbers import NUMBER, ORDINAL, number_of, ordinal_of
from tallystick.rooms.studio.continuity.mentions import Mention, ParsedPassage
from tallystick.rooms.studio.continuity.statements import Value

_NEAR = {
    "nearly": (-3, 0),
    "almost": (-3, 0),
    "about": (-3, 3),
    "some": (-3, 3),
    "past": (0, 9),
    "over": (0, 9),
    "barely": (0, 1),
    "hardly": (0, 1),
    "scarcely": (0, 1),
    "under": (-9, 0),
    "not yet": (-3, -1),
    "nigh": (-3, 0),
    "turned": (0, 0),
}
_ABOUT = rf"(?P<near>{'|'.join(_NEAR)})?\s*+(?:on\s++)?"
_OLD = re.compile(rf"\b{_ABOUT}(?P<number>{NUMBER})(?:\s+years?\s+(?:old|of\s+age)|[- ]years?[- ]old)\b", re.IGNORECASE)
_AGED = re.compile(
    rf"\b(?:aged|ætat|aetat|age\s+of)\s++{_ABOUT}(?P<number>{NUMBER})\b(?!\s+(?:days|weeks|months))", re.IGNORECASE
)
_YEAR = re.compile(rf"\bin\s+(?:his|her|my)\s+(?P<ordinal>{ORDINAL})\s+year\b", re.IGNORECASE)
_MAN = re.compile(
    rf"\b(?:man|woman|lady|gentleman|girl|boy|lad|widow|widower|bachelor|spinster|fellow)\s++(?:of\s++)?{_ABOUT}"
    rf"(?P<number>{NUMBER})\b(?!\s+(?:who|and|\w+s\b))",
    re.IGNORECASE,
)
_BARE = re.compile(
    rf"(?:\b(?:at|turned|is|was|now|just|only|to\s+be)\s++|,\s++){_ABOUT}(?P<number>(?<![\w:]){NUMBER})"
    r"(?=\s*(?:[,.;)]|$)|\s+(?:and|but|in|at|next|last|this|is|was|had|has|looked|when|years\s+old)\b)",
    re.IGNORECASE,
)
_LEAST, _MOST, _HOURS = 5, 110, 12
_UNITS = re.compile(
    r"\s*(?:o.clock|past|per|feet|miles|pounds|minutes|hours|days|weeks|months|times|o'clock|p\.?m|a\.?m)\b",
    re.IGNORECASE,
)


def read_age(passage: ParsedPassage, default: Mention | None) -> Iterator[Found]:
    """Yield the ages that a passage gives to somebody."""
    text = passage.parsed.text
    taken: set[int] = set()
    for pattern in (_OLD, _AGED, _YEAR, _MAN, _BARE):
        for match in pattern.finditer(text):
            group = "ordinal" if pattern is _YEAR else "number"
            start = match.start(group)
            word = _number_word(passage, start, match.end(group))
            value = _value(match, group)
            if word is None or value is None or start in taken or _UNITS.match(text, match.end(group)):
                continue
            owner = _owner(passage, word, match, bare=pattern is _BARE) or (default if pattern is not _BARE else None)
            if owner is not None and owner.person.is_person:
                taken.add(start)
                yield found_at(owner, "age", value, match[group], word)


def ages_in(text: str) -> Value | None:
    """The least and the most of the ages that a card's value names."""
    found = [number for match in re.finditer(rf"\b{NUMBER}\b", text, re.IGNORECASE) if (number := number_of(match[0]))]
    ages = [number for number in found if number <= _MOST]
    return (min(ages), max(ages)) if ages else None


def _number_word(passage: ParsedPassage, start: int, end: int) -> ParsedWord | None:
    """The word of a number that the others hang on."""
    inside = [one for one in passage.parsed.words if start <= one.start < end]
    return next((one for one in inside if one.head not in inside), inside[0] if inside else None)


def _value(match: re.Match[str], group: str) -> Value | None:
    if group == "ordinal":
        number = ordinal_of(match[group])
        return None if number is None or number <= _LEAST else (number - 1, number - 1)
    number = number_of(match[group])
    if number is None or not _LEAST <= number <= _MOST:
        return None
    low, high = _NEAR[match["near"].lower()] if match["near"] else (0, 0)
    return (number + low, number + high)


def _owner(passage: ParsedPassage, word: ParsedWord, match: re.Match[str], *, bare: bool) -> Mention | None:
    if bare and match[0].lower().startswith(("at", ",")):
        # `at six` is a time of day.
        return (
            _beside(passage, word) if (number_of(match["number"]) or 0) > _HOURS or word.relation == "appos" else None
        )
    possessors = [
        mention
        for one in passage.parsed.words
        if match.start() <= one.start < match.end()
        and one.relation == "poss"
        and (mention := passage.mention_of(one)) is not None
    ]
    if possessors:
        return possessors[0]
    for one in word.ancestors():
        if (mention := passage.mention_of(one)) is not None:
            return mention
        if one.pos in {"VERB", "AUX"}:
            return _subject(passage, one, bare=bare)
    return None


def _subject(passage: ParsedPassage, verb: ParsedWord, *, bare: bool) -> Mention | None:
    """Who is the age that a verb gives: the subject of `was`, or the noun of its relative clause."""
    if verb.child("nsubj") is None and verb.relation == "relcl":
        return passage.mention_of(verb.head)
    if any(_is_when(child) for child in verb.children if child.index > verb.index):
        # `was twenty when she first saw the sea`
        return None
    says_age = verb.lemma in ({"be", "turn", "look"} if bare else {"be", "turn", "look", "seem", "die"})
    return passage.mention_of(verb.child("nsubj")) if says_age else None


def _is_when(clause: ParsedWord) -> bool:
    return any(one.lower == "when" for one in clause.subtree())


def _beside(passage: ParsedPassage, word: ParsedWord) -> Mention | None:
    """`Ilya, who at thirty …`, `Ilya, thirty, …`, `At thirty Ilya …`."""
    if word.relation in {"appos", "nummod", "amod", "acl"} and word.head.index < word.index:
        return passage.mention_of(word.head)
    if word.relation != "pobj" or word.head.lower != "at":
        return None
    verb = word.head.head
    if verb.pos not in {"VERB", "AUX"}:
        return passage.mention_of(verb)
    if verb.relation == "relcl":
        return passage.mention_of(verb.head)
    return passage.mention_of(verb.child("nsubj"))

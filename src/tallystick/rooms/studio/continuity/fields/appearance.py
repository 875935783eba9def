"""Colours of eyes, hair and beard."""

import re
from collections.abc import Iterable, Iterator

from tallystick.reading.parser import ParsedWord
from tallystick.rooms.studio.continuity.fields.found import Found, found_at
from tallystick.rooms.studio.continuity.mentions import Mention, ParsedPassage, owner_of
from tallystick.rooms.studio.continuity.statements import Statement, Value
from tallystick.rooms.studio.continuity.words import COLOURS, FEATURES, FIGURE, MATERIALS

FIELDS = {"eyes", "hair", "beard", "moustache"}
_PASSING = {"eyes": {"red", "white"}, "hair": set(), "beard": set(), "moustache": set()}
"""Colours that a mood or the light gives."""
_NEAR = 5
"""Words between a noun and the colour it is of."""
_AGEING = {"white", "grey"}
_PEOPLE = {"man", "woman", "girl", "boy", "lady", "gentleman", "person", "fellow"}
_SHADES = {"dark", "fair", "light", "pale", "deep", "bright"}
_DYED = re.compile(r"\b(?:dye[ds]?|dyeing|bleached|wig|tinted)\b", re.IGNORECASE)
_COMPOUND = re.compile(r"\b([a-z]+)-(eye|hair|beard)(?:d|ed)\b", re.IGNORECASE)


def read_appearance(passage: ParsedPassage, default: Mention | None) -> Iterator[Found]:
    """Yield what a passage says of somebody's eyes, hair or beard."""
    for word in passage.parsed.words:
        field = FEATURES.get(word.lemma) if word.pos == "NOUN" else None
        if field is None or (word.lemma in {"lock", "curl", "eye"} and word.tag != "NNS"):
            continue
        owner = owner_of(passage, word) or default
        value = colours(_describing(word))
        if owner is not None and owner.person.is_person and value and not _DYED.search(passage.parsed.text):
            yield found_at(owner, field, value, " ".join(map(str, value)), word)
    for match in _COMPOUND.finditer(passage.parsed.text):
        value = (match[1].lower(),) if match[1].lower() in COLOURS else ()
        at = next((one for one in passage.parsed.words if one.start >= match.start()), None)
        whose = at and (_noun_above(passage, at) or default)
        if value and at is not None and whose:
            field = FEATURES[match[2].lower()]
            yield found_at(whose, field, value, match[1].lower(), at)


def read_figure(passage: ParsedPassage, default: Mention | None) -> Iterator[Found]:
    """Yield who is tall or short, stout or thin."""
    for word in passage.parsed.words:
        if word.lower not in FIGURE or word.pos != "ADJ":
            continue
        owner = None
        if word.relation == "acomp" and word.head.lemma == "be":
            owner = passage.mention_of(word.head.child("nsubj"))
        elif word.relation in {"amod", "conj"}:
            noun = word.head if word.relation == "amod" else word.head.head
            if noun.lemma in _PEOPLE:
                verb = noun.head
                owner = (
                    passage.mention_of(verb.child("nsubj")) if noun.relation == "attr" and verb.lemma == "be" else None
                )
                owner = owner or (default if noun.relation == "ROOT" else None)
        elif word.relation == "ROOT":
            owner = default
        if owner is not None and owner.person.is_person:
            field, side = FIGURE[word.lower]
            yield found_at(owner, field, (side,), word.text, word)


def colours(words: Iterable[ParsedWord]) -> Value:
    """The colours among words; a shade before a colour is no colour."""
    found = [word for word in words if word.lower in COLOURS]
    kept = [
        word.lower
        for word in found
        if not (word.lower in _SHADES and any(0 < other.index - word.index <= 2 for other in found))  # noqa: PLR2004
    ]
    return tuple(dict.fromkeys(kept))


def disagree(one: Statement, other: Statement) -> bool:
    """Whether two colours of the same thing cannot both be."""
    first, second = (_plain(statement) for statement in (one, other))
    if not first or not second or first & second:
        return False
    return one.from_card or not ((first | second) & _AGEING and one.field != "eyes")


def _plain(statement: Statement) -> set[str]:
    passing = _PASSING.get(statement.field, set()) if not statement.from_card else set()
    named = [str(word) for word in statement.value if str(word) not in passing]
    return {colour for word in named for colour in COLOURS.get(word, ())} - MATERIALS


def _describing(word: ParsedWord) -> Iterator[ParsedWord]:
    """The adjectives of a noun, before it, behind `be`, and of what it is a sweep or a mass of."""
    head = word.head
    yield from _attributes(word)
    if word.relation in {"nsubj", "conj"} and head.lemma in {"be", "remain", "turn"}:
        for child in head.children:
            if child.relation in {"acomp", "attr"} and child.child("prep") is None:
                yield from (one for one in child.subtree() if one.pos in {"ADJ", "NOUN", "ADV"})
    if word.relation == "pobj" and head.lower == "of" and head.head.pos == "NOUN":
        yield from (one for one in head.head.children if one.relation in {"amod", "compound"})
    shared = word.relation == "conj" and head.lemma in FEATURES and word.child("amod") is None
    if shared and head.pos == "NOUN":
        yield from _describing(head)


def _attributes(word: ParsedWord) -> Iterator[ParsedWord]:
    for child in word.children:
        if child.relation == "relcl" and child.lemma == "be":
            yield from (one for part in child.children if part.relation in {"acomp", "attr"} for one in part.subtree())
        elif child.relation in {"amod", "compound", "nmod", "appos", "acl"} and child.pos in {
            "ADJ",
            "NOUN",
            "PROPN",
            "ADV",
        }:
            yield from sorted(child.subtree(), key=lambda one: one.index)
        elif child.relation == "prep" and child.lower == "of" and (made := child.child("pobj")) is not None:
            yield from (one for one in made.subtree() if one.index - word.index < _NEAR)


def _noun_above(passage: ParsedPassage, word: ParsedWord) -> Mention | None:
    for one in (word, *word.ancestors()):
        if (mention := passage.mention_of(one)) is not None:
            return mention
        if one.pos in {"VERB", "AUX"}:
            subject = one.child("nsubj") if one.lemma == "be" else None
            return passage.mention_of(subject)
    return None

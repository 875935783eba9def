"""Titles before names, and occupations."""

from collections.abc import Iterator

from tallystick.rooms.studio.continuity.fields.found import Found, found_at
from tallystick.rooms.studio.continuity.mentions import Mention, ParsedPassage
from tallystick.rooms.studio.continuity.statements import Statement
from tallystick.rooms.studio.continuity.words import LADDERS, OCCUPATIONS
from tallystick.text.words import words

_SAME = {"doctor": "dr", "reverend": "rev", "lord": "lord", "lady": "lady"}
_KEYS = {"rank", "title", "titles", "style", "office", "position", "styled"}


def read_rank(passage: ParsedPassage, _default: Mention | None) -> Iterator[Found]:
    """Yield the titles that people are named with."""
    for mention in passage.mentions:
        title = mention.title
        if title is not None and LADDERS[title] != "civil" and mention.is_name and mention.person.is_person:
            yield found_at(mention, f"title:{LADDERS[title]}", (_SAME.get(title, title),), title, mention.word)


def read_occupation(passage: ParsedPassage, _default: Mention | None) -> Iterator[Found]:
    """Yield occupations: `Mara was a miller`, `Mara, the miller,`."""
    for word in passage.parsed.words:
        if word.lower not in OCCUPATIONS or word.tag != "NN":
            continue
        owner = None
        if word.relation == "attr" and word.head.lemma == "be":
            owner = passage.mention_of(word.head.child("nsubj"))
        elif word.relation == "appos" and word.child("det") is not None:
            owner = passage.mention_of(word.head)
        if (
            owner is not None
            and owner.person.is_person
            and not any(one.lower in {"old", "former", "retired", "late"} for one in word.children)
        ):
            yield found_at(owner, "occupation", (word.lower,), word.text, word)


def titles_in(text: str) -> Iterator[tuple[str, str]]:
    """Yield ladder and title of the ranks that a card's value names."""
    for word in words(text):
        if word in LADDERS and LADDERS[word] != "civil":
            yield f"title:{LADDERS[word]}", _SAME.get(word, word)


def is_rank_key(key: str) -> bool:
    """Whether a card's key gives ranks."""
    return bool(set(words(key)) & _KEYS)


def disagree(one: Statement, other: Statement) -> bool:
    """Whether two titles of one ladder are different."""
    if one.field == "occupation":
        return str(other.value[0]) not in words(str(one.value[0]))
    return one.value != other.value

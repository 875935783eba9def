"""What a card says that somebody never does: `never drinks spirits` binds brandy."""

import tomllib
from collections.abc import Iterator
from pathlib import Path

from tallystick.reading.parser import ParsedWord
from tallystick.rooms.studio.continuity.certainty import is_denied, is_past_perfect, is_told
from tallystick.rooms.studio.continuity.mentions import Mention, ParsedPassage, subject_of
from tallystick.rooms.studio.continuity.statements import Value
from tallystick.text.stems import stem

_CLASSES: dict[str, str] = tomllib.loads(
    (Path(__file__).parents[1] / "data" / "classes.toml").read_text(encoding="utf-8")
)
KINDS = {name: frozenset(value.split()) for name, value in _CLASSES.items()}
"""A class of things → its members."""
_SAME = {
    "swallow": "drink",
    "sip": "drink",
    "gulp": "drink",
    "drain": "drink",
    "taste": "drink",
    "devour": "eat",
    "chew": "eat",
    "dine": "eat",
    "cigar": "smoke",
    "puff": "smoke",
    "light": "smoke",
}
_ANYTHING = {"nothing", "anything", "it"}


def read_bans(passage: ParsedPassage) -> Iterator[tuple[Value, ParsedWord]]:
    """Yield what a card's line forbids: the verb, and the things that must not be its object (none: any)."""
    for word in passage.parsed.words:
        if word.pos != "VERB" or word.tag == "VBD" or not _forbidden(word):
            continue
        things = [
            one for one in word.subtree() if one.relation in {"dobj", "conj", "pobj"} and one.pos in {"NOUN", "PROPN"}
        ]
        yield (_act(word), *(one.lemma for one in things if one.lemma not in _ANYTHING)), word


def breaks(passage: ParsedPassage, word: ParsedWord, ban: Value) -> Mention | None:
    """Who does what a ban forbids at this verb; None if nobody does."""
    act, *things = map(str, ban)
    if (
        word.pos != "VERB"
        or _act(word) != act
        or is_denied(word)
        or is_past_perfect(word)
        or not is_told(passage, word)
    ):
        return None
    objects = [one for one in word.subtree() if one.relation in {"dobj", "conj"} and one.pos in {"NOUN", "PROPN"}]
    if any(one.lower in {"no", "nothing"} for one in word.subtree()):
        return None
    if things and not any(_is_a(one.lemma, thing) for one in objects for thing in things):
        return None
    subject = word.child("nsubj") or subject_of(word)
    return passage.mention_of(subject)


def _act(word: ParsedWord) -> str:
    return stem(_SAME.get(word.lemma, word.lemma))


def _is_a(thing: str, kind: str) -> bool:
    return thing == kind or thing in KINDS.get(kind, ()) or thing in KINDS.get(kind.removesuffix("s"), ())


def _forbidden(word: ParsedWord) -> bool:
    below = {one.lower for one in word.children}
    return bool(below & {"never", "not", "n't", "cannot", "nothing"}) or (
        word.relation == "conj"
        and word.head.pos == "VERB"
        and bool({one.lower for one in word.head.children} & {"nothing", "never"})
    )

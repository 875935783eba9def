"""Hands and sides, whose something is, what it is made of, and how many there are."""

from collections.abc import Iterator

from tallystick.reading.parser import ParsedWord
from tallystick.rooms.studio.continuity.fields.found import Found, found_at
from tallystick.rooms.studio.continuity.fields.numbers import number_of
from tallystick.rooms.studio.continuity.mentions import Mention, ParsedPassage, owner_of, subject_of
from tallystick.rooms.studio.continuity.statements import Statement
from tallystick.rooms.studio.continuity.words import COLOURS, MATERIALS, PARTS

SIDES = {"left", "right"}
MARKS = {
    "scar",
    "limp",
    "tattoo",
    "birthmark",
    "patch",
    "stump",
    "burn",
    "mole",
    "lame",
    "blind",
    "deaf",
    "wound",
    "cut",
    "glove",
    "ring",
}
_HANDED = {"handed", "hander"}
_USUAL = {"write", "draw", "paint", "fence", "sew"}
_ALL = {"the", "all", "these", "those", "both"}
_DEFINITE = {"the", "his", "her", "my", "their", "its", "our", "that", "this"}


def read_sides(passage: ParsedPassage, default: Mention | None) -> Iterator[Found]:
    """Yield handedness, the side of a scar, and which hand holds what."""
    words = passage.parsed.words
    for word in words:
        if word.lower not in SIDES:
            continue
        following = words[word.index + 1 : word.index + 3]
        if any(one.lower in _HANDED for one in following):
            handed = next(one for one in following if one.lower in _HANDED)
            owner = _subject(passage, handed) or _subject(passage, word) or default
            if owner is not None:
                yield found_at(owner, "handedness", (word.lower,), f"{word.text}-handed", word)
            continue
        part = word.head if word.relation in {"amod", "compound", "nmod"} else None
        if part is None or part.lemma not in PARTS:
            continue
        yield from _part_statements(passage, word, part, default)


def _part_statements(
    passage: ParsedPassage, side: ParsedWord, part: ParsedWord, default: Mention | None
) -> Iterator[Found]:
    owner = owner_of(passage, part) or _clause_subject(passage, part) or default
    if owner is None or not owner.person.is_person:
        return
    prep = part.head if part.relation == "pobj" else None
    if prep is not None and prep.lower in {
        "on",
        "across",
        "in",
        "down",
        "over",
        "of",
        "with",
        "to",
        "through",
        "above",
        "below",
        "under",
    }:
        thing = prep.head
        if thing.pos == "NOUN" and thing.lemma in MARKS:
            yield found_at(owner, f"side:{thing.lemma}", (side.lower,), f"{side.text} {part.text}", side)
        elif thing.pos == "VERB" and thing.lemma == "limp":
            yield found_at(owner, "side:limp", (side.lower,), f"{side.text} {part.text}", side)
        elif part.lemma == "hand" and prep.lower == "with" and thing.lemma in _USUAL:
            yield found_at(owner, "handedness", (side.lower,), f"{side.text} hand", side, hard=False)
        elif part.lemma == "hand" and prep.lower == "in" and (held := _held(thing, prep)) is not None:
            yield found_at(owner, f"hand:{held.lemma}", (side.lower,), f"{side.text} hand", side)
    elif part.relation == "ROOT" and default is not None and not passage.parsed.words[side.index].sentence:
        yield found_at(owner, f"side:{part.lemma}", (side.lower,), f"{side.text} {part.text}", side, hard=False)


def _held(thing: ParsedWord, prep: ParsedWord) -> ParsedWord | None:
    """What is in the hand: the noun the phrase hangs on, or the object of its verb that stands nearest before it."""
    if thing.pos == "NOUN":
        return thing
    objects = [
        one
        for one in thing.subtree()
        if one.relation in {"dobj", "conj"} and one.pos == "NOUN" and one.index < prep.index
    ]
    return max(objects, key=lambda one: one.index, default=None)


def _subject(passage: ParsedPassage, word: ParsedWord) -> Mention | None:
    for one in (word, *word.ancestors()):
        if one.pos in {"VERB", "AUX"}:
            return passage.mention_of(one.child("nsubj")) if one.lemma in {"be", "remain"} else None
        if one is not word and (mention := passage.mention_of(one)) is not None:
            return mention
    return None


def _clause_subject(passage: ParsedPassage, word: ParsedWord) -> Mention | None:
    return passage.mention_of(subject_of(word))


def read_numbers(passage: ParsedPassage, *, card: bool) -> Iterator[tuple[str, int, ParsedWord]]:
    """Yield noun, number and place of the counted things: on a card all, in a scene only `the eleven lanterns`."""
    for word in passage.parsed.words:
        if word.tag != "NNS":
            continue
        number = next((one for one in word.children if one.relation == "nummod"), None)
        if number is None:
            continue
        written = " ".join(one.text for one in sorted(number.subtree(), key=lambda one: one.index))
        count = number_of(written)
        whole = any(one.lower in _ALL for one in word.children)
        if count is not None and word.lemma not in PARTS and (card or whole):
            yield word.lemma, count, word


def read_properties(passage: ParsedPassage) -> Iterator[tuple[str, str, ParsedWord]]:
    """Yield noun, material or colour, and place of `the brass compass`."""
    for word in passage.parsed.words:
        if word.tag != "NN" or not word.text.islower():
            continue
        made = next(
            (
                one
                for one in word.children
                if one.relation in {"amod", "compound", "nmod"} and (one.lower in MATERIALS or one.lower in COLOURS)
            ),
            None,
        )
        if made is not None:
            yield word.lemma, made.lower, word


def is_definite(word: ParsedWord) -> bool:
    """Whether a noun means the one that is known."""
    return any(one.lower in _DEFINITE or one.relation == "poss" for one in word.children)


def properties_disagree(one: str, other: str) -> bool:
    """Whether two materials, or two colours, differ; a colour and a material do not."""
    if one in MATERIALS and other in MATERIALS:
        return one != other and {one, other} not in ({"gold", "golden"}, {"wooden", "oak"}, {"glass", "crystal"})
    if one in COLOURS and other in COLOURS and one not in MATERIALS and other not in MATERIALS:
        return not COLOURS[one] & COLOURS[other]
    return False


def disagree(one: Statement, other: Statement) -> bool:
    """Whether two sides differ."""
    return one.value != other.value

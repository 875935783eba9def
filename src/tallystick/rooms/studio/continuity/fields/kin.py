"""Ties between people: `my uncle Hale`, `Mary, his sister`, `Jon is her cousin`; and how many of a kin somebody has."""

from collections.abc import Iterator

from tallystick.reading.parser import ParsedWord
from tallystick.rooms.studio.continuity.fields.found import Found, found_at
from tallystick.rooms.studio.continuity.fields.numbers import number_of
from tallystick.rooms.studio.continuity.mentions import Mention, ParsedPassage, subject_of
from tallystick.rooms.studio.continuity.statements import Statement
from tallystick.rooms.studio.continuity.words import INVERSE_KIN, KIN
from tallystick.text.words import words

ONE_OF = {"father", "mother", "husband", "wife"}
"""Kin of whom somebody has one."""
STRANGERS = "none"
"""The tie of two people whom a card says are no kin."""
_OTHERWISE = ("step", "half", "foster", "god", "grand", "great", "in-law", "adopted", "second")
_GROWING = {"son", "daughter", "child", "nephew", "niece", "grandson", "granddaughter"}
"""Kin that somebody may have more of later."""


def read_kin(passage: ParsedPassage, default: Mention | None) -> Iterator[Found]:
    """Yield the ties and numbers of kin that a passage states."""
    for word in passage.parsed.words:
        noun = word.lower if word.lower in KIN else word.lower.removesuffix("s")
        if word.pos not in {"NOUN", "PROPN"} or noun not in KIN or _other_tie(word):
            continue
        whose = _whose(passage, word)
        if word.tag == "NNS" or word.lower != noun:
            if (counted := _counted(word)) is not None and (owner := whose or default) is not None:
                yield found_at(owner, f"count:{noun}", (counted,), f"{counted} {word.text}", word)
        elif whose is not None:
            yield from _ties(passage, word, noun, whose)


def _ties(passage: ParsedPassage, word: ParsedWord, noun: str, whose: Mention) -> Iterator[Found]:
    if any(child.lower == "only" for child in word.children):
        yield found_at(whose, f"count:{noun}", (1,), f"only {noun}", word)
    if noun in ONE_OF and (named := _own_name(word)) is not None:
        yield found_at(whose, f"kinname:{noun}", (named.lower(),), named, word)
    who = _who(passage, word)
    if who is not None and whose.person is not who.person and who.person.is_person:
        yield tie(whose, who, KIN[noun], word)


def tie(whose: Mention, who: Mention, kind: str, word: ParsedWord) -> Found:
    """`who` is the `kind` of `whose`; stored once, under the lesser key."""
    found = found_at(whose, f"kin:{who.person.key}", (kind,), word.text, word)
    sure = whose.sure and who.sure
    if whose.person.key > who.person.key:
        inverse = INVERSE_KIN.get(kind, kind)
        found = found_at(who, f"kin:{whose.person.key}", (inverse,), word.text, word)
    return Found(
        person=found.person, field=found.field, value=found.value, words=found.words, word=found.word, sure=sure
    )


def disagree(one: Statement, other: Statement) -> bool:
    """Whether two ties between the same people, or two numbers of kin, cannot both be."""
    if one.field.startswith("count:"):
        noun = one.field.partition(":")[2]
        return one.value != other.value and (one.from_card or noun not in _GROWING)
    if one.field.startswith("kinname:"):
        return not set(words(str(one.value[0]))) & set(words(str(other.value[0])))
    pair = {one.value[0], other.value[0]}
    return len(pair) > 1 and pair != {"cousin", "spouse"}


def _whose(passage: ParsedPassage, word: ParsedWord) -> Mention | None:
    for child in word.children:
        if child.relation == "poss":
            return passage.mention_of(child)
        if child.relation == "prep" and child.lower == "of" and (named := child.child("pobj")) is not None:
            return passage.mention_of(named)
    if word.relation == "pobj" and word.head.lower == "of":
        # `the youngest of Lord Hale's four sons`
        return None
    if word.relation == "dobj" and word.head.lemma == "have":
        return passage.mention_of(subject_of(word.head))
    return None


def _own_name(word: ParsedWord) -> str | None:
    """The name that stands beside a kin noun: `her father, Karl,`."""
    beside = next((one for one in word.children if one.relation == "appos" and one.pos == "PROPN"), None)
    if beside is None:
        return None
    parts = [one for one in beside.subtree() if one.pos == "PROPN" and abs(one.index - beside.index) < 3]  # noqa: PLR2004
    return " ".join(one.text for one in sorted(parts, key=lambda one: one.index))


def _who(passage: ParsedPassage, word: ParsedWord) -> Mention | None:
    """Who is the kin: the name beside the noun, the noun's own apposition, or the subject of `is`."""
    nearby = passage.by_word.get(word.index + 1)
    if nearby is not None and nearby.is_name:
        return nearby
    for child in word.children:
        if child.relation == "appos" and (found := passage.by_word.get(child.index)) is not None and found.is_name:
            return found
    if word.relation == "appos" and (found := passage.by_word.get(word.head.index)) is not None and found.is_name:
        return found
    if (
        word.relation == "attr"
        and word.head.lemma == "be"
        and not any(one.relation == "neg" for one in word.head.children)
    ):
        return passage.mention_of(word.head.child("nsubj"))
    return None


def _counted(word: ParsedWord) -> int | None:
    for child in word.children:
        if child.relation == "nummod":
            written = " ".join(one.text for one in sorted(child.subtree(), key=lambda one: one.index))
            return number_of(written)
        if child.relation == "det" and child.lower == "no":
            return 0
    return None


def _other_tie(word: ParsedWord) -> bool:
    before = " ".join(child.lower for child in word.children if child.relation in {"amod", "compound", "advmod"})
    return any(part in before or part in word.lower for part in _OTHERWISE) or any(
        one.lower in {"-", "in", "law"} and 0 < one.index - word.index < 3 and one.lower != "in"  # noqa: PLR2004
        for one in word.children
    )

"""Check that names and ids of a claim occur in a quote or its context."""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from tallystick.gate.reply.support.doubts import Doubt
from tallystick.gate.reply.support.grounds import Ground
from tallystick.gate.reply.support.readings import Reading, Term, akin, read
from tallystick.text.stems import stem
from tallystick.text.words import REQUEST_WORDS

_PERSONS = frozenset(map(stem, ["he", "she", "they", "who", "him", "her", "them"]))
_PRONOUNS = _PERSONS | frozenset(
    map(stem, ["it", "his", "their", "its", "i", "we", "my", "our", "this", "that", "these"])
)
_ROLE = re.compile(r"\b[Tt]he ([a-z]{3,20})\b")
_SUBJECT = re.compile(
    r"[*_]{0,2}[A-Z]\w+(?:'s\b|\s+(?:is|was|has|had|will|does|did|can|may|must|would|could|and [A-Z]\w+|\w+(?:ed|s))\b)"
)
"""A capitalised first word followed by a verb or a possessive: probably a name."""
_START = 3
NAME_TITLES = frozenset(
    [
        "mr",
        "mrs",
        "ms",
        "miss",
        "dr",
        "prof",
        "sir",
        "captain",
        "father",
        "widow",
        "lady",
        "lord",
        "canon",
        "sergeant",
        "officer",
    ]
)
"""Words before a name that are not part of it."""


def name_missing(claim: Reading, grounds: Sequence[Ground], card: Callable[[str], str]) -> Doubt | None:
    """Return a doubt if nothing supports a name of the claim; else None."""
    quoted = _folded(ground.quote for ground in grounds)
    around = _folded(f"{ground.context} . {ground.sentence}" for ground in grounds)
    capital = capitalised(claim, grounds)
    names = [term for term in claim.terms if term.is_code or _is_name(term, capital)]
    for term in names:
        if term.folded in NAME_TITLES or _known(term, quoted):
            continue
        if not _may_mean(term, names, grounds, around) and not _is_alias(term, grounds, card):
            return Doubt(code="name_unsupported", reason=f"{term.written} does not occur in the quoted text.")
    return _unknown_subject(claim, grounds, quoted | around)


def _unknown_subject(claim: Reading, grounds: Sequence[Ground], known: frozenset[str]) -> Doubt | None:
    """Refuse a claim that starts with a name unknown to the evidence, if the quote has another name or a pronoun."""
    first = claim.terms[0] if claim.terms and claim.terms[0].start <= _START else None
    if (
        first is None
        or first.folded in REQUEST_WORDS
        or first.folded.endswith("s")
        or not first.opens
        or not first.written[:1].isupper()
        or _known(first, known)
    ):
        return None
    if _SUBJECT.match(claim.text) is None or any(akin(first.stem, word) for word in known):
        return None
    for ground in grounds:
        reading = read(ground.quote)
        other = reading.terms[0] if reading.terms else None
        replaced = other is not None and other.opens and other.written[:1].isupper() and other.stem not in claim.stems
        if replaced or any(term.is_name for term in reading.terms) or not reading.words.isdisjoint(_PRONOUNS):
            return Doubt(code="name_unsupported", reason=f"{first.written} does not occur in the quoted text.")
    return None


def _is_alias(term: Term, grounds: Sequence[Ground], card: Callable[[str], str]) -> bool:
    """Whether the quote refers to the person by a role (`the captain`) that the profile file (card) mentions."""
    if term.is_code or not any(_ROLE.search(ground.quote) for ground in grounds):
        return False
    said = read(card(term.folded)).stems
    return any(stem(found[1].lower()) in said for ground in grounds for found in _ROLE.finditer(ground.quote))


def _is_name(term: Term, capital: frozenset[str]) -> bool:
    if term.is_name:
        return True
    return term.opens and term.written[:1].isupper() and term.folded in capital


def _may_mean(term: Term, names: Sequence[Term], grounds: Sequence[Ground], around: frozenset[str]) -> bool:
    """Whether a name that is not quoted may be meant by a quote: only if the quote itself names nobody else."""
    if term.is_code:
        return _known(term, around)
    said = {each.folded for each in names}
    for ground in grounds:
        reading = read(ground.quote)
        own = {each.folded for each in reading.terms if each.is_name} - NAME_TITLES
        own |= {part for each in reading.terms if each.is_code and "/" in each.folded for part in _parts(each.folded)}
        refers = not reading.words.isdisjoint(_PERSONS)
        if own and own.isdisjoint(said) and not refers:
            continue
        if _subject(term, ground) or (own <= said and not refers and _known(term, _words(ground.vicinity()))):
            return True
    return False


def _subject(term: Term, ground: Ground) -> bool:
    """Whether the quote may refer to this name.

    The name must occur in the titles, in the sentence around the quote, or in the last sentence before it that names
    somebody.
    """
    return term.folded in _folded([ground.titles, ground.sentence, ground.antecedent])


def _parts(code: str) -> list[str]:
    name = code.rpartition("/")[2].rpartition(".")[0]
    return [part for part in name.replace("_", "-").split("-") if part.isalpha()]


def _known(term: Term, words: frozenset[str]) -> bool:
    if term.folded in words or term.folded.removesuffix("'s") in words:
        return True
    return not term.is_code and (term.folded.removesuffix("s") in words or f"{term.folded}s" in words)


def _folded(texts: Iterable[str]) -> frozenset[str]:
    return frozenset().union(*map(_words, texts))


@lru_cache(maxsize=4_096)
def _words(text: str) -> frozenset[str]:
    return frozenset(_spellings(text))


def _spellings(text: str) -> Iterable[str]:
    reading = read(text)
    for term in reading.terms:
        yield term.folded
        if term.is_code:
            yield from term.folded.replace("_", "/").replace(".", "/").replace("-", "/").replace("@", "/").split("/")
    yield from reading.words


def capitalised(claim: Reading, grounds: Sequence[Ground]) -> frozenset[str]:
    """Return the words that claim and evidence write with a capital letter within a sentence, and never without one."""
    read_all = [claim, *(read(f"{ground.context} . {ground.sentence} . {ground.quote}") for ground in grounds)]
    plain = {term.folded for each in read_all for term in each.terms if term.written[:1].islower()}
    return frozenset(term.folded for each in read_all for term in each.terms if term.is_name) - plain

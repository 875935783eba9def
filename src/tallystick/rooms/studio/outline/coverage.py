"""Whether a scene tells what its outline entry says.

An entry is split into statements, by line and sentence. For each statement the passage of the scene with most of its
words is found, rare words weighing more; words that occur only far apart give `partly` at most. Any name of a person
counts. This compares words only: a statement told in other words is reported as not found, with the missing words.
"""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Literal

from tallystick.gate.reply.sources import Source
from tallystick.records import record
from tallystick.rooms.studio.book.blocks import unmarked
from tallystick.rooms.studio.book.model import Beat, CanonCard
from tallystick.rooms.studio.book.outline_entries import read_field, take_pov
from tallystick.rooms.studio.prose.paragraphs import COMMON_WORDS, Prose, plain_form
from tallystick.rooms.studio.quotes import Place, line_place, place
from tallystick.text.sentences import sentences
from tallystick.text.stems import stem
from tallystick.text.words import word_spans

Status = Literal["covered", "partly", "not_found"]
WINDOW = 4
"""Sentences that one statement may be told in."""
SPREAD = 0.55
"""Weight of words that the scene has, but not together."""
COVERED, PARTLY = 0.6, 0.3
"""Share of a statement's weight that its passage must hold."""
MAX_STATEMENTS = 40
_FEWEST_TERMS = 2
"""A statement of one word says too little to be looked for, unless it is all there is."""
_FILE = re.compile(r"\[\[[^\[\]]{0,300}SCN-[^\[\]]{0,300}\]\]|\bSCN-[\w-]{1,120}(?:\.md)?", re.IGNORECASE)


@record
class Statement:
    """One statement of the outline."""

    line: int
    text: str


@record
class StatementCoverage:
    """A statement, and where the scene tells it."""

    place: Place | None
    """In the outline."""
    status: Status
    score: float
    missed: tuple[str, ...]
    evidence: Place | None
    """In the scene."""


def check_coverage(beat: Beat, outline: Source, prose: Prose, cards: Sequence[CanonCard]) -> list[StatementCoverage]:
    """Look for each statement of an entry in a scene."""
    people = _people(cards)
    held = tuple(frozenset(_terms(one.text, people)) for one in prose.sentences)
    told = _Told(prose=prose, held=held, words=frozenset().union(*held))
    return [_covered(one, _terms(one.text, people), outline, told) for one in statements_of(beat, outline)]


def statements_of(beat: Beat, outline: Source) -> list[Statement]:
    """The statements of an entry, by line and sentence; its title if it has no more."""
    made: list[Statement] = []
    for number in range(beat.line, min(beat.end_line, len(outline.lines)) + 1):
        raw = outline.lines[number - 1]
        if read_field(raw.strip(" \t-*+")) is not None:
            continue
        _, text = take_pov(_after_title(raw, beat) if number == beat.line else raw)
        # The name of the scene's file says nothing that a scene could tell.
        text = _FILE.sub("", text)
        cells = re.split(r";\s+|\s\|\s", unmarked(text.strip(" \t-*+|#>")))
        said = [one for cell in cells for one in sentences(cell)]
        made += [Statement(line=number, text=one) for one in said if len(_terms(one, {})) >= _FEWEST_TERMS]
    return made[:MAX_STATEMENTS] or [Statement(line=beat.line, text=beat.title)]


def _after_title(raw: str, beat: Beat) -> str:
    """The text after the title on its line."""
    plain = unmarked(raw)
    if not beat.text:
        return ""
    at = plain.find(beat.title)
    return plain[at + len(beat.title) :].strip(" :.–—-") if at >= 0 else ""  # noqa: RUF001


@record
class _Told:
    """A scene, and the words of each of its sentences."""

    prose: Prose
    held: tuple[frozenset[str], ...]
    words: frozenset[str]
    """Of all of them."""

    def window(self, start: int) -> frozenset[str]:
        """The words of a few sentences."""
        return frozenset().union(*self.held[start : start + WINDOW])


def _covered(statement: Statement, terms: Mapping[str, str], outline: Source, told: _Told) -> StatementCoverage:
    weights = {term: _weight(term, told.held) for term in terms}
    total = sum(weights.values()) or 1.0
    best, where = 0.0, 0
    for start, own in enumerate(told.held):
        if not own & weights.keys():
            # A passage begins where something of the statement is told.
            continue
        window = told.window(start)
        score = sum(weight for term, weight in weights.items() if term in window)
        if score > best:
            best, where = score, start
    whole = sum(weight for term, weight in weights.items() if term in told.words)
    share = round(max(best, SPREAD * whole) / total, 3)
    status: Status = "covered" if share >= COVERED else "partly" if share >= PARTLY else "not_found"
    seen = told.window(where)
    evidence = None
    if status != "not_found":
        first = told.prose.sentences[where]
        evidence = place(told.prose.source, first.line, first.text)
    return StatementCoverage(
        place=place(outline, statement.line, statement.text) or line_place(outline, statement.line),
        status=status,
        score=share,
        missed=tuple(word for term, word in terms.items() if term not in seen),
        evidence=evidence,
    )


def _weight(term: str, held: Sequence[frozenset[str]]) -> float:
    """Rare words of the scene tell more; a word it does not have at all tells as much as its rarest."""
    count = sum(term in one for one in held)
    return math.log(1 + (len(held) + 1) / max(1, count))


def _people(cards: Sequence[CanonCard]) -> Mapping[str, str]:
    """Word of a name → one word for the person; words that two people share stand for themselves."""
    owners: dict[str, set[str]] = {}
    for card in cards:
        if card.kind != "character":
            continue
        for name in (card.name, *card.aliases):
            for word in name.casefold().split():
                owners.setdefault(word, set()).add(card.path)
    return {word: next(iter(paths)) for word, paths in owners.items() if len(paths) == 1}


def _terms(text: str, people: Mapping[str, str]) -> dict[str, str]:
    """What a text is about: the form a word is compared in → the word."""
    found: dict[str, str] = {}
    for word in (found.written for found in word_spans(text)):
        plain = plain_form(word)
        if plain not in COMMON_WORDS and len(plain) > 1:
            found.setdefault(people.get(plain) or stem(plain), word)
    return found

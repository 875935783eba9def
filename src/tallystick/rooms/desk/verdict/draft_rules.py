"""Draft rules: every statement cites verified evidence that supports it, and no personal data of others leaves.

Sentences, references and courtesies are read as the gate reads them (`gate/reply/sentences.py`). Beyond the gate's own
check, what a sentence says must stand in what it cites: a true reference beside other words proves nothing.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tallystick.gate.quotes import find_quote, fold, fold_text
from tallystick.gate.reply.sentences import read_sentences, strip_references
from tallystick.records import record
from tallystick.rooms.desk.language.overlap import denies, numbers_in, relevance, stems_of
from tallystick.rooms.desk.language.sentences import RECORD, own_words, plain_sentences
from tallystick.rooms.desk.options import VerdictPolicy
from tallystick.rooms.desk.verdict.blocks import PERSONAL
from tallystick.rooms.desk.verdict.case import Case, VerifiedEvidence
from tallystick.text.sentences import sentences


@record
class CitedSentence:
    """A statement of a draft with the verified evidence that it cites."""

    sentence: str
    pieces: tuple[VerifiedEvidence, ...]


_GAP = re.compile(r"(?<=\S)[ \t]{2,}(?=\S)")
_QUOTED = re.compile(r"[“\"]([^“”\"]{8,400})[”\"]")
_BRACKETED = re.compile(r"\[([^\[\]\n]{1,2000})\]")
SUPPORT = 0.75
"""The share of a sentence's words that its cited evidence must contain."""


@record
class Unsupported:
    """A statement without supporting evidence."""

    sentence: str
    why: str


def text_of(draft: str) -> str:
    """A draft as it is sent: without the references and the gaps they leave between sentences."""
    return _GAP.sub(" ", strip_references(draft, kind=RECORD))


def unsupported(draft: str, evidence: Mapping[str, str]) -> Iterator[Unsupported]:
    """Sentences of a draft without supporting evidence.

    Args:
        draft: With its references, `[ev:ID]` behind a sentence.
        evidence: Id → the verified snippet.
    """
    for sentence in read_sentences(draft, kind=RECORD):
        if sentence.is_courtesy:
            continue
        cited = [claim.record.removeprefix(f"{RECORD}:") for claim in sentence.claims if claim.record is not None]
        missing = [name for name in cited if name not in evidence]
        if not cited:
            yield Unsupported(sentence=sentence.text, why="it cites nothing")
        elif missing:
            yield Unsupported(sentence=sentence.text, why=f"there is no evidence {missing[0]} that holds")
        elif (why := _unproved(sentence.text, "\n\n".join(evidence[name] for name in cited))) is not None:
            yield Unsupported(sentence=sentence.text, why=why)


def statements_in(draft: str) -> int:
    """How many sentences of a draft say something."""
    return sum(not sentence.is_courtesy for sentence in read_sentences(draft))


def others_data(text: str, event: Mapping[str, Any], policy: VerdictPolicy) -> str | None:
    """Personal data in a draft that is neither public nor from the customer."""
    own = " ".join((*map(str, event.values()), *policy.public_contacts))
    return next((found[0] for found in PERSONAL.finditer(text) if found[0] not in own), None)


def evidence_texts(shown: Iterable[VerifiedEvidence]) -> dict[str, str]:
    """Id → what a snippet says itself, of evidence that was verified."""
    return {one.evidence_id: f"{one.text}\n\n{own_words(one.snippet)}" for one in shown}


def _unproved(said: str, snippets: str) -> str | None:
    folded = fold_text(snippets)
    if find_quote(said.rstrip("."), folded) is not None or _bare(said) in map(_bare, plain_sentences(snippets)):
        return None
    for bracket in _BRACKETED.findall(said):
        if find_quote(bracket, folded) is None:
            return "what stands in brackets does not stand in what it cites"
    for quote in _QUOTED.findall(said):
        if find_quote(quote, folded) is None:
            return "what it quotes does not stand in what it cites"
    if not numbers_in(said) <= numbers_in(snippets):
        return "a number in it does not stand in what it cites"
    if stems_of(said) and relevance(said, snippets) < SUPPORT:
        return "what it says does not stand in what it cites"
    nearest = max(sentences(snippets, wrapped=False), key=lambda one: relevance(said, one), default="")
    return "it says no where what it cites says yes, or yes for no" if denies(said) != denies(nearest) else None


def _bare(sentence: str) -> str:
    """A sentence as it is compared: its document's marks and the stop at its end are not part of it."""
    return fold(sentence).rstrip(".:;, ")


def cited_pieces(case: Case, draft: str) -> tuple[VerifiedEvidence, ...]:
    """The pieces of evidence that a draft cites."""
    return tuple(piece for one in cited_sentences(case, draft) for piece in one.pieces)


def cited_sentences(case: Case, draft: str) -> Iterator[CitedSentence]:
    """The statements of a draft without courtesies."""
    shown = {one.evidence_id: one for one in case.counted}
    for sentence in read_sentences(draft, kind=RECORD):
        names = [claim.record.removeprefix(f"{RECORD}:") for claim in sentence.claims if claim.record is not None]
        if not sentence.is_courtesy:
            yield CitedSentence(sentence=sentence.text, pieces=tuple(shown[name] for name in names if name in shown))

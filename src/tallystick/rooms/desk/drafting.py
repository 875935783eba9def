"""REPLY by rules: the sentences of the evidence that answer each need, each with its reference. Nothing is added."""

from collections.abc import Iterable

from tallystick.rooms.desk.judging.case import Case, Shown
from tallystick.rooms.desk.judging.matching import relevance, sentences
from tallystick.rooms.desk.judging.policy import VerdictPolicy

GREETING = "Hello,"
CLOSING = "Kind regards"
MOST = 3
"""Sentences for one need: an answer, not the document."""
LONGEST = 400


def draft(case: Case, policy: VerdictPolicy) -> str:
    """A reply from evidence that holds; empty when there is none."""
    answers = []
    for place, need in enumerate(case.needs):
        pieces = [one for one in case.shown if one.need == place and one.relevance >= policy.threshold]
        told = _answer(need.question, pieces)
        if told:
            answers.append(" ".join(told))
    return "\n\n".join([GREETING, *answers, CLOSING]) if answers else ""


def _answer(question: str, pieces: Iterable[Shown]) -> list[str]:
    """The sentences that speak most of the question, in the order in which they stand in their source."""
    scored = [
        (relevance(question, sentence), -rank, -place, sentence, piece.evidence_id)
        for rank, piece in enumerate(sorted(pieces, key=lambda one: -one.relevance))
        for place, sentence in enumerate(_plain(piece.snippet))
        if len(sentence) <= LONGEST
    ]
    best = sorted(scored, reverse=True)[:MOST]
    if not best or best[0][0] <= 0:
        return []
    chosen = [one for one in best if one[0] >= best[0][0] / 2]
    ordered = sorted(chosen, key=lambda one: (-one[1], -one[2]))
    seen: dict[str, str] = {}
    for _, _, _, sentence, name in ordered:
        seen.setdefault(sentence, name)
    return [f"{_stopped(sentence)} [ev:{name}]" for sentence, name in seen.items()]


def _plain(snippet: str) -> list[str]:
    """Sentences without what is only there for the eye."""
    kept = []
    for one in sentences(snippet):
        words = one.lstrip("#>*-• ").strip()
        if words and not one.lstrip().startswith("#") and any(map(str.isalnum, words)):
            kept.append(words)
    return kept


def _stopped(sentence: str) -> str:
    return sentence if sentence[-1:] in ".!?" else f"{sentence}."

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
    """The best piece, sentence by sentence; of a long one what speaks most of the question, in its order."""
    best = max(pieces, key=lambda one: one.relevance, default=None)
    if best is None:
        return []
    told = [sentence for sentence in _plain(best.snippet) if len(sentence) <= LONGEST]
    chosen = sorted(range(len(told)), key=lambda place: (-relevance(question, told[place]), place))[:MOST]
    return [f"{_stopped(told[place])} [ev:{best.evidence_id}]" for place in sorted(chosen)]


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

"""REPLY by rules: the sentences of the evidence that answer each need, each with its reference. Nothing is added."""

from collections.abc import Iterable, Iterator

from tallystick.records import record
from tallystick.rooms.desk.judging.case import Case, Shown
from tallystick.rooms.desk.judging.policy import VerdictPolicy
from tallystick.rooms.desk.judging.telling import Telling, tellings

GREETING = "Hello,"
CLOSING = "Kind regards"
MOST = 4
"""Sentences for one need: an answer, not the document."""
LONGEST = 400
NEAR = 0.75
"""What a further sentence must be worth, in the best one."""
OWN, FOUND, FIRST, FITS = 0.5, 0.5, 0.5, 0.25
"""What counts beside the words that are spoken of: that the sentence itself speaks of them, that the search thinks much
of its passage, how far up it was found, and that it is of the kind that is asked for. Measured, see benchmarks/desk."""


@record
class _Candidate:
    piece: Shown
    place: int
    told: Telling
    worth: float


def draft(case: Case, policy: VerdictPolicy) -> str:
    """A reply from evidence that holds; empty when there is none."""
    answers: list[str] = []
    for place, need in enumerate(case.needs):
        pieces = [one for one in case.shown if one.need == place and one.relevance >= policy.threshold]
        told = " ".join(_answer(need.question, pieces, policy.threshold))
        # Two questions that one passage answers are answered once.
        if told and told not in answers:
            answers.append(told)
    return "\n\n".join([GREETING, *answers, CLOSING]) if answers else ""


def _answer(question: str, pieces: Iterable[Shown], threshold: float) -> list[str]:
    """The sentence that answers most, and those of its passage that do nearly as much, in their order."""
    found = [one for piece in pieces for one in _candidates(question, piece) if one.told.share >= threshold]
    best = max(found, key=lambda one: one.worth, default=None)
    if best is None:
        return []
    beside = [one for one in found if one.piece is best.piece and one.worth >= NEAR * best.worth]
    if best.told.own:
        # What only stands under the right heading may say anything.
        beside = [one for one in beside if one.told.own]
    chosen = sorted(beside, key=lambda one: (-one.worth, one.place))[:MOST]
    return [
        f"{_stopped(one.told.sentence)} [ev:{one.piece.evidence_id}]"
        for one in sorted(chosen, key=lambda one: one.place)
    ]


def _candidates(question: str, piece: Shown) -> Iterator[_Candidate]:
    for place, told in enumerate(tellings(question, piece.snippet, piece.about)):
        if len(told.sentence) <= LONGEST:
            worth = told.whole + OWN * told.own + FOUND * piece.found + FIRST / (1 + piece.rank)
            worth += FITS * told.fits
            yield _Candidate(piece=piece, place=place, told=told, worth=worth)


def _stopped(sentence: str) -> str:
    return sentence if sentence[-1:] in ".!?" else f"{sentence.rstrip(':;,')}."

"""Drafts without a model: the passages that answer each need, in whole sentences, each with its reference."""

from collections.abc import Sequence

from tallystick.gate.reply.sentences import written_sentences
from tallystick.rooms.desk.language.sentences import RECORD, is_sentence
from tallystick.rooms.desk.verdict.case import WORTH, Case, VerifiedEvidence

GREETING = "Hello,"
CLOSING = "Kind regards"
NEAR = 0.8
"""What a further passage must be worth, in the best one."""
PASSAGES, WITH_SEVERAL_QUESTIONS = 2, 3
"""Passages of an answer at the most."""


def draft(case: Case) -> str:
    """A reply from verified evidence; empty without any that could answer."""
    answers: list[str] = []
    for place in range(len(case.needs)):
        for piece in answering(case, place):
            # Two questions that one passage answers are answered once.
            told = _told(piece)
            if told and told not in answers:
                answers.append(told)
    return "\n\n".join([GREETING, *answers, CLOSING]) if answers else ""


def answering(case: Case, place: int) -> list[VerifiedEvidence]:
    """The passages that answer a need: the most probable, and those that are nearly as probable."""
    pieces = sorted((one for one in case.counted if one.need == place), key=lambda one: -one.relevance)
    if not pieces or pieces[0].relevance < WORTH:
        return []
    several = case.needs[place].question.count("?") > 1
    least = pieces[0].relevance * NEAR
    chosen = [one for at, one in enumerate(pieces) if one.relevance >= least or (several and at == 1)]
    return chosen[: WITH_SEVERAL_QUESTIONS if several else PASSAGES]


def _told(piece: VerifiedEvidence) -> str:
    lines = [_referenced(list(written_sentences(line, kind=RECORD)), piece) for line in piece.text.splitlines()]
    return "\n".join(line for line in lines if line)


def _referenced(said: Sequence[str], piece: VerifiedEvidence) -> str:
    kept = [one for one in said if is_sentence(one)]
    return " ".join(f"{_stopped(one)} [{RECORD}:{piece.evidence_id}]" for one in kept)


def _stopped(sentence: str) -> str:
    return sentence if sentence[-1:] in ".!?" else f"{sentence.rstrip(':;,')}."

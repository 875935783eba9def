"""REPLY by rules: the sentences of the evidence that answer each need, each with its reference. Nothing is added."""

from tallystick.rooms.desk.judging.case import Case
from tallystick.rooms.desk.judging.choosing import choose
from tallystick.rooms.desk.judging.saying import RECORD
from tallystick.rooms.desk.options import VerdictPolicy

GREETING = "Hello,"
CLOSING = "Kind regards"


def draft(case: Case, policy: VerdictPolicy) -> str:
    """A reply from evidence that holds; empty when there is none."""
    answers: list[str] = []
    for place, need in enumerate(case.needs):
        pieces = [one for one in case.counted if one.need == place and one.relevance >= policy.threshold]
        chosen = choose(need.question, pieces, policy.threshold).sentences
        told = " ".join(f"{_stopped(sentence)} [{RECORD}:{evidence}]" for sentence, evidence in chosen)
        # Two questions that one passage answers are answered once.
        if told and told not in answers:
            answers.append(told)
    return "\n\n".join([GREETING, *answers, CLOSING]) if answers else ""


def _stopped(sentence: str) -> str:
    return sentence if sentence[-1:] in ".!?" else f"{sentence.rstrip(':;,')}."

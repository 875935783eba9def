"""A small model judges which sentence answers a question, one sentence at a time; it words nothing.

A small model words answers badly, and copies badly what it must choose among many. Whether one sentence states the
answer is what it judges best: by how much it prefers yes joins the probability that reading alone gives.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import exp, log
from typing import Protocol

from tallystick.reading.answers import Candidate
from tallystick.turns.model import ModelError

JUDGED = 6
"""Sentences that are judged: some 100 tokens each, three seconds of a small model on one core."""
_LEAST = 1e-6


class AnswerJudge(Protocol):
    """Port: a model that judges texts."""

    async def margins(self, question: str, texts: Sequence[str]) -> list[int] | ModelError:
        """Return, for each text, by how much it is likelier that it states the answer, in thousandths of a logarithm.

        Args:
            question: The question.
            texts: Each with what a reader needs to understand it.
        """
        ...


async def judged(question: str, candidates: Sequence[Candidate], judge: AnswerJudge) -> list[Candidate] | ModelError:
    """Return the first candidates with the confidence that reading and judgement have together, the surest first."""
    first = candidates[:JUDGED]
    margins = await judge.margins(question, [_in_context(each) for each in first])
    if isinstance(margins, ModelError):
        return margins
    found = [
        replace(each, confidence=joined(each.confidence, margin)) for each, margin in zip(first, margins, strict=True)
    ]
    return sorted(found, key=lambda each: -each.confidence)


def joined(confidence: float, margin: int) -> float:
    """Return the probability of an answer from that of reading and the margin of a judgement."""
    own = min(max(confidence, _LEAST), 1 - _LEAST)
    return 1 / (1 + exp(-(log(own / (1 - own)) + margin / 1000)))


def _in_context(candidate: Candidate) -> str:
    head = candidate.passage.in_context.partition("\n")[0]
    return f"[{head}] {' '.join(candidate.around.split())}"

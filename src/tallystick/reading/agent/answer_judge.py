"""A small model judges, for one sentence at a time, whether it answers a question; it writes no text.

Small models write poor answers and copy chosen sentences inexactly. They judge best whether a single sentence states
the answer. The margin between yes and no is combined with the probability from retrieval.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import exp, log
from typing import Protocol

from tallystick.reading.answers import Candidate
from tallystick.turns.model import ModelError

JUDGED = 6
"""Number of sentences to judge: about 100 tokens each, three seconds for a small model on one core."""
_LEAST = 1e-6


class AnswerJudge(Protocol):
    """Port: a model that judges whether texts answer a question."""

    async def margins(self, question: str, texts: Sequence[str]) -> list[int] | ModelError:
        """Return for each text the log odds that it states the answer, in thousandths.

        Args:
            question: The question.
            texts: Sentences with the context that a reader needs.
        """
        ...


async def judged(question: str, candidates: Sequence[Candidate], judge: AnswerJudge) -> list[Candidate] | ModelError:
    """Return the first candidates with the combined confidence of retrieval and judge, highest first."""
    first = candidates[:JUDGED]
    margins = await judge.margins(question, [_in_context(each) for each in first])
    if isinstance(margins, ModelError):
        return margins
    found = [
        replace(each, confidence=joined(each.confidence, margin)) for each, margin in zip(first, margins, strict=True)
    ]
    return sorted(found, key=lambda each: -each.confidence)


def joined(confidence: float, margin: int) -> float:
    """Combine the probability from retrieval with the margin of a judgement."""
    own = min(max(confidence, _LEAST), 1 - _LEAST)
    return 1 / (1 + exp(-(log(own / (1 - own)) + margin / 1000)))


def _in_context(candidate: Candidate) -> str:
    head = candidate.passage.in_context.partition("\n")[0]
    return f"[{head}] {' '.join(candidate.around.split())}"

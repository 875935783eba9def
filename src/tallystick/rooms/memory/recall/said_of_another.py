"""Detects questions that name one speaker but ask for something that another speaker said.

A logistic model compares the best texts of the named speaker with those of all others. Its weights were learnt on
LoCoMo, whose unanswerable questions attribute one speaker's statements to the other. Validated with one conversation
left out at a time, it finds 67 % of them at the same rate of false doubts (`benchmarks/RESULTS.md`).
"""

from collections.abc import Mapping, Sequence
from math import log, log1p

from tallystick.rooms.memory.recall.question import Question, coverage
from tallystick.rooms.memory.recall.text_index import SearchScores, TextIndex

BEST, NEXT = 5, 3
"""Number of texts per side by score, and by words only."""
_WEIGHTS = (-2.284, -1.733, 0.83, 1.211, -0.5, 0.088, -2.694, -0.578, -0.739, -0.748, -1.789, -0.764)
_CONSTANT = -0.3


def is_said_of_another(
    index: TextIndex,
    question: Question,
    asked: tuple[str, ...],
    found: SearchScores,
    sides: tuple[Mapping[int, float], Mapping[int, float]],
) -> bool:
    """Return whether a question is probably about someone other than the named speaker.

    Args:
        index: The index of the texts.
        question: The question.
        asked: Its words without the name.
        found: The search scores.
        sides: Text → score, for the named speaker and for all others.
    """
    signs = _signs(index, question, asked, found, sides)
    return _CONSTANT + sum(weight * sign for weight, sign in zip(_WEIGHTS, signs, strict=True)) > 0


def _signs(
    index: TextIndex,
    question: Question,
    asked: tuple[str, ...],
    found: SearchScores,
    sides: tuple[Mapping[int, float], Mapping[int, float]],
) -> tuple[float, ...]:
    """Return the features of whether the named speaker or someone else said what is asked for."""
    own, others = (_best(side, BEST) for side in sides)
    raw_own, raw_others = (_best({name: found.scores.get(name, 0.0) for name in side}, NEXT) for side in sides)
    held = index.words({name for side in (own, others, raw_own, raw_others) for name, _ in side})

    def covers(side: Sequence[tuple[int, float]]) -> float:
        return max((coverage(held[name], found.worth, asked) for name, _ in side), default=0.0)

    def most(side: Sequence[tuple[int, float]]) -> float:
        return max((found.scores.get(name, 0.0) for name, _ in side), default=0.0)

    rarest = max(asked, key=lambda word: found.worth[word])
    whole = sum(found.worth[word] for word in asked) or 1.0
    return (
        _ratio(_sum(own, 1), _sum(others, 1)),
        covers(own) - covers(others),
        covers(own),
        _ratio(most(own), most(others)),
        _sum(own, 1) / whole,
        len(asked),
        float(question.asks_when),
        _ratio(_sum(own, NEXT), _sum(others, NEXT)),
        _ratio(_sum(own, BEST), _sum(others, BEST)),
        float(any(rarest in held[name] for name, _ in raw_others)),
        covers(raw_own) - covers(raw_others),
        log1p(_sum(raw_own, NEXT)) - log1p(_sum(raw_others, NEXT)),
    )


def _best(side: Mapping[int, float], most: int) -> list[tuple[int, float]]:
    return sorted(side.items(), key=lambda each: (-each[1], -each[0]))[:most]


def _sum(side: Sequence[tuple[int, float]], most: int) -> float:
    return sum(score for _, score in side[:most])


def _ratio(one: float, other: float) -> float:
    return log((one + 0.1) / (other + 0.1))

"""Whether a question that names one speaker is answered by that one's words, or speaks of what another one said.

A logistic model over what the best texts of the one who is named and of all others say. Its weights were learnt on
LoCoMo, whose questions without an answer ask one speaker for what the other one said; leaving out one conversation at a
time it finds 67 % of them at the same rate of false doubts (`benchmarks/RESULTS.md`).
"""

from collections.abc import Mapping, Sequence
from math import log, log1p

from tallystick.rooms.memory.recall.question import Question, coverage
from tallystick.rooms.memory.recall.text_index import SearchScores, TextIndex

BEST, NEXT = 5, 3
"""Texts of each side by their scores, and by their words alone."""
_WEIGHTS = (-2.284, -1.733, 0.83, 1.211, -0.5, 0.088, -2.694, -0.578, -0.739, -0.748, -1.789, -0.764)
_CONSTANT = -0.3


def is_said_of_another(
    index: TextIndex,
    question: Question,
    asked: tuple[str, ...],
    found: SearchScores,
    sides: tuple[Mapping[int, float], Mapping[int, float]],
) -> bool:
    """Return whether a question is likely about somebody else than it names.

    Args:
        index: Where the texts are.
        question: What is asked.
        asked: Its words without the name.
        found: The scores of the search.
        sides: Text → score, of the one who is named, and of all others.
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
    """Return what tells whether the one who is named, or others, said what is asked for."""
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

"""Which recipe a request asks for: the one whose name and description share the most with it, or none.

The words of a recipe's title count most, rare ones more than common ones; the vocabulary of the kind of work counts
half, as it does for agents. A recipe that shares nothing but what most recipes share is not named: a wrong one would
cost the author a run.
"""

import math
from collections.abc import Mapping, Sequence

from tallystick.rooms.studio.criteria import read_criteria
from tallystick.rooms.studio.runs.recipe import Recipe

_CALLED, _MEANT = 3.0, 1.0
"""What a shared word is worth: in the title and the id, in the description."""
_ENOUGH = 3.0
"""A score below is no fit."""
_LONG = 5
"""Letters from which a stem may be the beginning of another: `contradict` of `contradiction`."""


def recipe_for(asked: Mapping[str, float], recipes: Sequence[Recipe]) -> str | None:
    """The id of the recipe that fits best; None: none does.

    Args:
        asked: Stem → what it counts.
        recipes: Those that can be run here.
    """
    cards = [_words(recipe) for recipe in recipes]
    scores = {recipe.id: _score(asked, card, cards) for recipe, card in zip(recipes, cards, strict=True)}
    best = max(sorted(scores), key=scores.__getitem__, default=None)
    return best if best is not None and scores[best] >= _ENOUGH else None


def _score(asked: Mapping[str, float], card: Mapping[str, float], cards: Sequence[Mapping[str, float]]) -> float:
    score = 0.0
    for word, weight in asked.items():
        worth = _worth(word, card)
        if worth:
            holders = sum(_worth(word, other) > 0 for other in cards)
            score += weight * worth * math.log(len(cards) / holders) if len(cards) > 1 else weight * worth
    return score


def _worth(word: str, card: Mapping[str, float]) -> float:
    near = (worth for known, worth in card.items() if known == word or _begins(known, word))
    return max(near, default=0.0)


def _begins(one: str, other: str) -> bool:
    return min(len(one), len(other)) >= _LONG and (one.startswith(other) or other.startswith(one))


def _words(recipe: Recipe) -> dict[str, float]:
    """Stems of a recipe → the best worth they have."""
    worth = {term.stem: _MEANT for term in read_criteria(recipe.description, globs=False).terms}
    called = f"{recipe.title} {recipe.id.replace('-', ' ')}"
    return worth | {term.stem: _CALLED for term in read_criteria(called, globs=False).terms}

"""Routes a request to agents by a transparent score over their cards, and names a recipe if one fits.

1. The intent comes from a list of patterns; the longest match wins. No match: `other`.
2. Each agent is scored by the words that its card (role, purpose, ownership) shares with the request, rare words
   weighing more; words of the intent weigh half, and what an agent must not do counts against it.
3. The evidence type follows from the wording: what is missing, where something is, or what it says.
4. A recipe is named if its title and description share enough with the request. A recipe that shares only words common
   to most recipes is not named: a wrong one would cost the author a run.

No agent is known by name, so a project's own agents are routed to by their cards.
"""

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from tallystick.records import record
from tallystick.rooms.studio.runs.recipe import Recipe
from tallystick.text.bm25 import idf
from tallystick.text.stems import stem_all
from tallystick.text.words import content_words, words
from tallystick.turns.agent import Agent, EvidenceKind

_IN_TITLE, _IN_DESCRIPTION = 3.0, 1.0
"""Weights of a shared word: in the title and the id, in the description."""
_ENOUGH = 3.0
"""A score below is no fit."""
_LONG = 5
"""Letters from which a stem may be the beginning of another: `contradict` of `contradiction`."""


def recipe_for(asked: Mapping[str, float], recipes: Sequence[Recipe]) -> str | None:
    """The id of the best matching recipe, or None.

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
            score += weight * worth * idf(holders, len(cards)) if len(cards) > 1 else weight * worth
    return score


def _worth(word: str, card: Mapping[str, float]) -> float:
    near = (worth for known, worth in card.items() if known == word or _begins(known, word))
    return max(near, default=0.0)


def _begins(one: str, other: str) -> bool:
    return min(len(one), len(other)) >= _LONG and (one.startswith(other) or other.startswith(one))


def _words(recipe: Recipe) -> dict[str, float]:
    """Stems of a recipe → the best worth they have."""
    worth = dict.fromkeys(_subjects(recipe.description), _IN_DESCRIPTION)
    called = f"{recipe.title} {recipe.id.replace('-', ' ')}"
    return worth | dict.fromkeys(_subjects(called), _IN_TITLE)


MAX_AGENTS = 3
"""More would be a conference, not a route."""
FAIR_SHARE = 0.45
"""An agent is named beside the best one only if it fits at least this well."""
_GAP = 3
"""Words that may stand between two words of a pattern."""
_SHORT = 3
"""Letters of words that do not hint at a kind of work."""
MAX_WORDS = 24
"""Words of a request that count."""
_OWNED, _IN_ROLE, _IN_PURPOSE = 2.0, 3.0, 1.0
"""Weights of a shared word: in what an agent owns, in its name and role, in its purpose."""
_HINTED = 0.5
"""What a word of the kind of work is worth, against one of the request itself."""

_PATTERNS = tomllib.loads(Path(__file__).with_name("routing.toml").read_text(encoding="utf-8"))
INTENTS: Mapping[str, tuple[str, ...]] = {intent: tuple(listed) for intent, listed in _PATTERNS["intents"].items()}
"""Intent → its patterns."""
NEEDS: Mapping[EvidenceKind, str] = {
    "content": 'A quote with the path of its file and its line: "…" path:L12.',
    "structural": "A path with its lines or § Heading, or an outline entry.",
    "absence": 'The files that were checked and the term: checked path for "term".',
}


@record
class Fit:
    """An agent that the request concerns, and why."""

    agent_id: str
    role: str
    score: float
    why: tuple[str, ...]


@record
class Routed:
    """The route of a request."""

    intent: str
    matched_pattern: str | None
    evidence_type: EvidenceKind
    fits: tuple[Fit, ...]
    recipe: str | None
    """The id of the recipe that does such work."""

    @property
    def evidence_needs(self) -> str:
        """The evidence an answer needs."""
        return NEEDS[self.evidence_type]


def route(request: str, crew: Sequence[Agent], recipes: Sequence[Recipe] = ()) -> Routed:
    """Route a request to the agents of a crew; no fit at all: nobody is named."""
    said = list(_stems(words(request)))
    pattern, intent = max(
        ((pattern, intent) for intent, patterns in INTENTS.items() for pattern in patterns if _fits(pattern, said)),
        key=lambda found: (found[0].count(" "), len(found[0])),
        default=(None, "other"),
    )
    asked = dict.fromkeys(_subjects(request)[:MAX_WORDS], 1.0)
    for hinted in _vocabulary(intent):
        asked.setdefault(hinted, _HINTED)
    return Routed(
        intent=intent,
        matched_pattern=pattern,
        evidence_type=_evidence_type(said),
        fits=_scored(asked, crew),
        recipe=recipe_for(asked, recipes),
    )


def _scored(asked: Mapping[str, float], crew: Sequence[Agent]) -> tuple[Fit, ...]:
    cards = [_card_words(agent) for agent in crew]
    fits: list[Fit] = []
    for agent, card in zip(crew, cards, strict=True):
        forbidden = set(_stems(words(" ".join(agent.must_not))))
        score = 0.0
        why: list[str] = []
        for word, weight in asked.items():
            if word not in card:
                # Words of an agent's prohibitions lower its score, unless it owns them.
                score -= weight * (word in forbidden)
                continue
            holders = sum(word in other for other in cards)
            score += weight * card[word] * idf(holders, len(cards))
            why.append(word)
        if score > 0:
            fits.append(Fit(agent_id=agent.agent_id, role=agent.role, score=round(score, 3), why=tuple(why)))
    fits.sort(key=lambda fit: (-fit.score, fit.agent_id))
    return tuple(fit for fit in fits[:MAX_AGENTS] if fit.score >= FAIR_SHARE * fits[0].score)


def _card_words(agent: Agent) -> dict[str, float]:
    """Stems of a card → the best worth they have on it."""
    worth: dict[str, float] = {}
    for text, value in (
        (agent.purpose, _IN_PURPOSE),
        (" ".join(agent.owns), _OWNED),
        (f"{agent.role} {agent.name} {agent.agent_id}", _IN_ROLE),
    ):
        worth |= dict.fromkeys(_subjects(text), value)
    return worth


def _vocabulary(intent: str) -> list[str]:
    return [
        found for pattern in INTENTS.get(intent, ()) for found in _stems(w for w in words(pattern) if len(w) > _SHORT)
    ]


def _evidence_type(said: list[str]) -> EvidenceKind:
    if any(_fits(pattern, said) for pattern in _PATTERNS["evidence"]["absence"]):
        return "absence"
    if any(_fits(pattern, said) for pattern in _PATTERNS["evidence"]["structural"]):
        return "structural"
    return "content"


def _fits(pattern: str, said: list[str]) -> bool:
    """Whether the words of a pattern stand in the request in order and near each other."""
    wanted = list(_stems(words(pattern)))
    return any(word == wanted[0] and _follows(wanted[1:], said[at + 1 :]) for at, word in enumerate(said))


def _follows(wanted: list[str], said: list[str]) -> bool:
    for word in wanted:
        near = said[: _GAP + 1]
        if word not in near:
            return False
        said = said[near.index(word) + 1 :]
    return True


def _subjects(text: str) -> list[str]:
    """The stems of the words that say what a text is about, once each."""
    return list(dict.fromkeys(_stems(content_words(text, query=True))))


def _stems(folded: Iterable[str]) -> Iterator[str]:
    """Yield the stems of words; a noun in `-ity` stays whole, so that `continuity` is not `continue`."""
    for word in folded:
        if word.endswith(("ity", "ities")):
            yield word.removesuffix("ities").removesuffix("ity") + "ity"
        else:
            yield from stem_all([word])

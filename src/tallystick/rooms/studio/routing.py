"""Whom a request concerns: a scorer that can be read, over the agents' own cards.

1. The kind of work comes from a vocabulary of patterns; the longest one that fits wins. None: `other`.
2. Each agent is scored by the words that its card (role, purpose, what it owns) shares with the request, rare words
   more than common ones; the vocabulary of the kind of work counts half, and what an agent must not do counts against.
3. The type of evidence follows from how the request is put: what is missing, where something stands, or what it says.
4. A recipe is named if one shares enough with the request.

Nothing here knows an agent by name, so a project's own agents are routed to by what their cards say.
"""

import math
from collections.abc import Mapping, Sequence

from tallystick.records import record
from tallystick.rooms.studio.criteria import read_criteria, stem
from tallystick.rooms.studio.recipe_routing import recipe_for
from tallystick.rooms.studio.runs.recipe import Recipe
from tallystick.turns.agent import Agent, EvidenceKind

MAX_AGENTS = 3
"""More would be a conference, not a route."""
FAIR_SHARE = 0.45
"""An agent is named beside the best one only if it fits at least this well."""
_GAP = 3
"""Words that may stand between two words of a pattern."""
_OWNED, _CALLED, _MEANT = 2.0, 3.0, 1.0
"""What a shared word is worth: in what an agent owns, in its name and role, in its purpose."""
_HINTED = 0.5
"""What a word of the kind of work is worth, against one of the request itself."""

INTENTS: Mapping[str, tuple[str, ...]] = {
    "plan_scene": (
        "plan", "plan scene", "plan chapter", "plan next", "outline", "next scene", "what happen next",
        "story structure", "arrange scene", "order of scene", "scene order", "plot",
    ),
    "beat_architect": ("beat", "beat sheet", "list beat", "break down into beat", "turning point"),
    "continuity_check": (
        "continuity", "consistent", "consistency", "contradict", "canon", "timeline", "check fact", "match canon",
        "same as before", "age of", "eye colour", "eye color", "in which scene", "fits canon", "does it agree",
    ),
    "write_beat": ("write", "write scene", "write beat", "draft", "draft scene", "continue scene", "write dialogue"),
    "critique_scene": (
        "critique", "critique scene", "review", "review scene", "feedback", "feedback on scene", "weak", "does it work",
        "is it good", "pacing", "too slow", "tension",
    ),
    "edit_scene": (
        "edit", "edit scene", "revise", "rewrite", "tighten", "polish", "line edit", "shorten", "fix grammar",
        "proofread", "trim",
    ),
    "summarize_context": (
        "summarize", "summarise", "summary", "recap", "what happen", "overview", "tell about", "who is", "describe",
    ),
    "finalize": ("finalize", "finalise", "finish chapter", "ready to publish", "sign off", "export"),
}  # fmt: skip
"""Kind of work → its patterns. The words may be inflected, and a few others may stand between them."""

_STRUCTURAL = (
    "where", "which line", "which scene", "which chapter", "how many", "order", "structure", "outline", "section",
    "heading", "line", "position", "sequence", "layout", "number of",
)  # fmt: skip
_ABSENCE = (
    "missing", "never", "absent", "is no", "are no", "lack", "without", "nowhere", "not mention", "is there any",
    "are there any", "does anyone ever", "not occur", "gap",
)  # fmt: skip
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
    """Where a request goes."""

    intent: str
    matched_pattern: str | None
    evidence_type: EvidenceKind
    fits: tuple[Fit, ...]
    recipe: str | None
    """The id of the recipe that does such work."""

    @property
    def evidence_needs(self) -> str:
        """What an answer has to show."""
        return NEEDS[self.evidence_type]


def route(request: str, crew: Sequence[Agent], recipes: Sequence[Recipe] = ()) -> Routed:
    """Route a request to the agents of a crew; no fit at all: nobody is named."""
    words = [stem(word) for word in _plain_words(request)]
    pattern, intent = max(
        ((pattern, intent) for intent, patterns in INTENTS.items() for pattern in patterns if _fits(pattern, words)),
        key=lambda found: (found[0].count(" "), len(found[0])),
        default=(None, "other"),
    )
    asked = dict.fromkeys((term.stem for term in read_criteria(request, globs=False).terms), 1.0)
    for hinted in _vocabulary(intent):
        asked.setdefault(hinted, _HINTED)
    return Routed(
        intent=intent,
        matched_pattern=pattern,
        evidence_type=_evidence_type(words),
        fits=_scored(asked, crew),
        recipe=recipe_for(asked, recipes),
    )


def _scored(asked: Mapping[str, float], crew: Sequence[Agent]) -> tuple[Fit, ...]:
    cards = [_card_words(agent) for agent in crew]
    fits: list[Fit] = []
    for agent, card in zip(crew, cards, strict=True):
        forbidden = {stem(word) for word in _plain_words(" ".join(agent.must_not))}
        score = 0.0
        why: list[str] = []
        for word, weight in asked.items():
            if word not in card:
                # What it must not do and does not own either speaks against it.
                score -= weight * (word in forbidden)
                continue
            holders = sum(word in other for other in cards)
            score += weight * card[word] * math.log(1 + len(cards) / holders)
            why.append(word)
        if score > 0:
            fits.append(Fit(agent_id=agent.agent_id, role=agent.role, score=round(score, 3), why=tuple(why)))
    fits.sort(key=lambda fit: (-fit.score, fit.agent_id))
    return tuple(fit for fit in fits[:MAX_AGENTS] if fit.score >= FAIR_SHARE * fits[0].score)


def _card_words(agent: Agent) -> dict[str, float]:
    """Stems of a card → the best worth they have on it."""
    worth: dict[str, float] = {}
    for text, value in (
        (agent.purpose, _MEANT),
        (" ".join(agent.owns), _OWNED),
        (f"{agent.role} {agent.name} {agent.agent_id}", _CALLED),
    ):
        worth |= {term.stem: value for term in read_criteria(text, globs=False).terms}
    return worth


def _vocabulary(intent: str) -> list[str]:
    return [stem(word) for pattern in INTENTS.get(intent, ()) for word in _plain_words(pattern) if len(word) > _GAP]


def _evidence_type(words: list[str]) -> EvidenceKind:
    if any(_fits(pattern, words) for pattern in _ABSENCE):
        return "absence"
    if any(_fits(pattern, words) for pattern in _STRUCTURAL):
        return "structural"
    return "content"


def _fits(pattern: str, words: list[str]) -> bool:
    """Whether the words of a pattern stand in the request in order and near each other."""
    wanted = [stem(word) for word in pattern.split()]
    return any(word == wanted[0] and _follows(wanted[1:], words[at + 1 :]) for at, word in enumerate(words))


def _follows(wanted: list[str], words: list[str]) -> bool:
    for word in wanted:
        near = words[: _GAP + 1]
        if word not in near:
            return False
        words = words[near.index(word) + 1 :]
    return True


def _plain_words(text: str) -> list[str]:
    return "".join(sign if sign.isalnum() else " " for sign in text.lower()).split()

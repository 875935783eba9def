"""An observation becomes evidence on a proposition: one edge, and what it counts for.

Whoever brings an observation answers for its words; whoever cites it says what the words are about. An agent may cite
what it likes, so its citing counts only as far as the words themselves go: they must name what the proposition says.
"""

import re
from collections.abc import Iterable

from tallystick.rooms.memory.founding import takes_edges
from tallystick.rooms.memory.naming import name_key
from tallystick.rooms.memory.nouns import Edge, Event, Proposition, Stance
from tallystick.rooms.memory.state import State

_BETWEEN_WORDS = re.compile(r"[\W_]+")


def attach(state: State, event: Event, name: str, seen: str, stance: Stance, quote: str | None) -> bool:
    """Keep an edge that somebody proposed; False if there is nothing to attach, or it is there already."""
    one = state.propositions.get(name) or state.unfounded.get(name)
    if one is None:
        return False
    return keep_edge(state, event, name, seen, stance, quote, backed=bool(backed(state, event, one, (seen,))))


def keep_edge(
    state: State, event: Event, name: str, seen: str, stance: Stance, quote: str | None, *, backed: bool = True
) -> bool:
    """Keep an edge as what it is; False if there is nothing to attach, or it is there already."""
    observation = state.observations.get(seen)
    dossier = state.dossier(name)
    if observation is None or (seen, stance) in dossier.known or not takes_edges(state, event, name, seen, stance):
        return False
    edge = Edge(
        proposition_id=name, observation_id=seen, stance=stance, quote=quote, seq=event.seq,
        receipt_id=event.receipt_id, at=state.now, backed=backed, by_agent=event.agent is not None,
    )  # fmt: skip
    dossier.take(observation, edge)
    state.add_edge(edge)
    return True


def backed(state: State, event: Event, one: Proposition, observation_ids: Iterable[str]) -> list[str]:
    """Those of the observations that count at their own class when this event cites them for this proposition."""
    if event.agent is None:
        return list(observation_ids)
    held = state.observations.some(observation_ids)
    return [name for name, seen in held.items() if holds_words(seen.text, one.object)]


def holds_words(text: str, named: str) -> bool:
    """Whether a text holds all words of a name, in whatever order."""
    whole, wanted = name_key(text), name_key(named)
    words = [word for word in _BETWEEN_WORDS.split(wanted) if word]
    if not words:
        # Signs can be a name, too.
        return wanted in whole
    there = set(_BETWEEN_WORDS.split(whole))
    # Not every script puts spaces between its words.
    return all(word in there or (not word.isascii() and word in whole) for word in words)

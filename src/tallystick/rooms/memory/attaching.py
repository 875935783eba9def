"""An observation becomes evidence on a proposition: one edge, and what it counts for.

Whoever brings an observation answers for its words; whoever cites it says what the words are about. An agent may cite
what it likes, and a person what others said; such citing counts only as far as the words themselves go: they must name
what the proposition says.
"""

import re
from collections.abc import Iterable
from dataclasses import replace

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
    dossier, by_agent = state.dossier(name), event.by.is_program
    if observation is None or not dossier.takes(seen, by_agent=by_agent):
        return False
    if not takes_edges(state, event, name, seen, stance):
        return False
    edge = Edge(
        proposition_id=name, observation_id=seen, stance=stance, quote=quote, seq=event.seq,
        receipt_id=event.receipt_id, at=state.now, backed=backed, by_agent=by_agent,
    )  # fmt: skip
    if seen in dossier.known:
        _overrule(state, edge)
        return True
    dossier.take(observation, edge)
    state.add_edge(edge)
    return True


def _overrule(state: State, edge: Edge) -> None:
    """Put somebody's word on an observation in the place of an agent's; the evidence is then gathered anew."""
    for old in state.edges_of(edge.proposition_id):
        if old.observation_id == edge.observation_id:
            edge = replace(edge, earlier=(*old.earlier, old.receipt_id, *edge.earlier))
            if old.stance != edge.stance:
                state.replace_edge(replace(old, overruled=True))
    state.replace_edge(edge)
    dossier = state.begin_dossier(edge.proposition_id)
    edges = state.edges_of(edge.proposition_id)
    seen = state.observations.some(one.observation_id for one in edges)
    for one in edges:
        if one.observation_id in seen:
            dossier.take(seen[one.observation_id], one)


def backed(state: State, event: Event, one: Proposition, observation_ids: Iterable[str]) -> list[str]:
    """Those of the observations that count at their own class when this event cites them for this proposition."""
    by = event.by
    if by.is_owner:
        return list(observation_ids)
    held = state.observations.some(observation_ids)
    own = () if by.is_program else (by.group,)
    return [name for name, seen in held.items() if seen.groups == own or holds_words(seen.text, one.object)]


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

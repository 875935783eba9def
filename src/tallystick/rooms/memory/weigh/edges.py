"""An observation becomes evidence on a proposition: one edge, and what it counts for.

Whoever brings an observation answers for its words; whoever cites it says what the words are about. An agent may cite
anything, and a person what others said; such a citation counts only as far as the words themselves go: they must name
what the proposition says.

Every proposition traces to an observation that is held. When everything it was proposed from has been erased it is put
aside, and nobody can read it. If something else that is held supports it later, it is restored with that support, and
everything that speaks against it counts.
"""

import re
from collections.abc import Iterable
from dataclasses import replace

from tallystick.rooms.memory.ids import name_key, one_line, predicate_key
from tallystick.rooms.memory.model import DEFAULT_EPISODE, Edge, Event, Figures, Proposition, Stance
from tallystick.rooms.memory.propose.speakers import proposer_of
from tallystick.rooms.memory.times import seconds_or_none
from tallystick.rooms.memory.weigh.state import State

NO_FIGURES = Figures()


def held_observations(state: State, cited: list[str]) -> list[str]:
    """Return the cited observations that are held."""
    return [name for name in cited if state.observations.get(name) is not None]


def new_proposition(state: State, event: Event, name: str, held: list[str]) -> Proposition:
    """Return a proposition as proposed, before it is weighed."""
    args = event.args
    first = state.observations.get(held[0]) if held else None
    return Proposition(
        id=name,
        subject=one_line(args["subject"]),
        predicate=predicate_key(args["predicate"]),
        object=one_line(args["object"]),
        kind=args.get("class", "descriptive"),
        volatility=args.get("volatility", "medium"),
        valid_from=seconds_or_none(args.get("valid_from")),
        valid_to=seconds_or_none(args.get("valid_to")),
        episode_id=args.get("episode_id") or (DEFAULT_EPISODE if first is None else first.episode_id),
        observation_ids=tuple(held),
        supersedes=(),
        status="tentative",
        evidence_status="tentative",
        rule="",
        figures=NO_FIGURES,
        rivals=(),
        superseded_by=None,
        canonical_id=None,
        archived=None,
        due_at=None,
        pending=False,
        scored_at=state.now,
        seq=event.seq,
        receipt_id=event.receipt_id,
        at=state.now,
    )


def put_aside(state: State, event: Event, name: str) -> None:
    """Put a proposition aside because nothing that it was proposed from is held."""
    if state.propositions.get(name) is None and state.unfounded.get(name) is None:
        state.unfounded.put(name, new_proposition(state, event, name, []))


def accepts_edges(state: State, event: Event, name: str, seen: str, stance: Stance) -> bool:
    """Return whether a proposition accepts edges: it is held, this support restores it, or a later one may."""
    if state.propositions.get(name) is not None:
        return True
    aside = state.unfounded.get(name)
    if aside is not None and stance == "support":
        # Its log position is that of its first support, so that an incremental reader does not miss it.
        state.propositions.put(
            name, replace(aside, observation_ids=(seen,), scored_at=state.now, seq=event.seq, at=state.now)
        )
    return aside is not None


_BETWEEN_WORDS = re.compile(r"[\W_]+")


def attach(state: State, event: Event, name: str, seen: str, stance: Stance, quote: str | None) -> bool:
    """Add a proposed edge; False if a record is missing or the edge exists."""
    one = state.propositions.get(name) or state.unfounded.get(name)
    if one is None:
        return False
    return keep_edge(state, event, name, seen, stance, quote, backed=bool(backed(state, event, one, (seen,))))


def keep_edge(
    state: State, event: Event, name: str, seen: str, stance: Stance, quote: str | None, *, backed: bool = True
) -> bool:
    """Add an edge as given; False if a record is missing or the edge exists."""
    observation = state.observations.get(seen)
    evidence, by_agent = state.evidence(name), proposer_of(event).is_program
    if observation is None or not evidence.takes(seen, by_agent=by_agent):
        return False
    if not accepts_edges(state, event, name, seen, stance):
        return False
    edge = Edge(
        proposition_id=name,
        observation_id=seen,
        stance=stance,
        quote=quote,
        seq=event.seq,
        receipt_id=event.receipt_id,
        at=state.now,
        backed=backed,
        by_agent=by_agent,
    )
    if seen in evidence.known:
        _overrule(state, edge)
        return True
    evidence.take(observation, edge)
    state.add_edge(edge)
    return True


def _overrule(state: State, edge: Edge) -> None:
    """Replace an agent's edge on an observation, and collect the evidence again."""
    for old in state.edges_of(edge.proposition_id):
        if old.observation_id == edge.observation_id:
            edge = replace(edge, earlier=(*old.earlier, old.receipt_id, *edge.earlier))
            if old.stance != edge.stance:
                state.replace_edge(replace(old, overruled=True))
    state.replace_edge(edge)
    evidence = state.reset_evidence(edge.proposition_id)
    edges = state.edges_of(edge.proposition_id)
    seen = state.observations.some(one.observation_id for one in edges)
    for one in edges:
        if one.observation_id in seen:
            evidence.take(seen[one.observation_id], one)


def backed(state: State, event: Event, one: Proposition, observation_ids: Iterable[str]) -> list[str]:
    """Return the observations that count at their own class when this event cites them for this proposition."""
    by = proposer_of(event)
    if by.is_owner:
        return list(observation_ids)
    held = state.observations.some(observation_ids)
    own = () if by.is_program else (by.group,)
    return [name for name, seen in held.items() if seen.groups == own or holds_words(seen.text, one.object)]


def holds_words(text: str, named: str) -> bool:
    """Return whether a text contains all words of a name, in any order."""
    whole, wanted = name_key(text), name_key(named)
    words = [word for word in _BETWEEN_WORDS.split(wanted) if word]
    if not words:
        # A name may consist of symbols.
        return wanted in whole
    there = set(_BETWEEN_WORDS.split(whole))
    # Not every script has spaces between words.
    return all(word in there or (not word.isascii() and word in whole) for word in words)

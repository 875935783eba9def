"""Why memory holds what it holds: edges, quotes, observations, sources, receipts, and the rule that decided."""

from typing import Any

from tallystick.rooms.memory.as_json import as_dict
from tallystick.rooms.memory.nouns import Edge, Proposition, Transition, Trial
from tallystick.rooms.memory.recorded import Recorded
from tallystick.rooms.memory.slices import Log, replayed
from tallystick.rooms.memory.standing import standing
from tallystick.rooms.memory.state import State
from tallystick.rooms.memory.times import stamp_of

MAX_EDGES = 200
"""Edges that are shown, the newest of them; how many there are is said."""
MAX_TEXT = 600
"""Characters of an observation that are shown when no quote was given."""


def explain_proposition(
    state: State, log: Log, proposition_id: str, *, now: int, as_of_seq: int | None = None
) -> dict[str, Any] | None:
    """Everything about one proposition; None if it is not there (or was not yet).

    Args:
        state: Memory.
        log: Where the events are.
        proposition_id: Which one.
        now: The moment its state is computed for.
        as_of_seq: How it stood at this place of the log instead.
    """
    one = state.propositions.get(proposition_id)
    if one is None:
        return None
    if as_of_seq is None:
        return _explained(state, one, now, Recorded(state, one))
    then = log.time_at(as_of_seq)
    now = now if then is None else then
    past = replayed(state, log, one, now=now, upto=as_of_seq)
    known = past.propositions.get(proposition_id)
    return None if known is None else _explained(past, known, now, Recorded(state, one, as_of_seq))


def proposition_dict(one: Proposition) -> dict[str, Any]:
    """What is claimed, as plain JSON; how it stands is told beside it."""
    return {
        "id": one.id,
        "subject": one.subject,
        "predicate": one.predicate,
        "object": one.object,
        "class": one.kind,
        "volatility": one.volatility,
        "valid_from": _stamp(one.valid_from),
        "valid_to": _stamp(one.valid_to),
        "episode_id": one.episode_id,
        "receipt_id": one.receipt_id,
        "seq": one.seq,
    }


def _explained(state: State, one: Proposition, now: int, noted: Recorded) -> dict[str, Any]:
    edges = sorted(state.edges_of(one.id), key=lambda edge: edge.seq, reverse=True)
    stands = standing(state, one, now)
    canonical = noted.canonical()
    results = state.dossier(one.id).trials
    return {
        "proposition": proposition_dict(one),
        "standing": stands.as_dict(),
        "canonical": None if canonical is None else as_dict(canonical),
        "archived": noted.archived(),
        "supersedes": list(one.supersedes),
        "superseded_by": stands.superseded_by,
        "rivals": [proposition_dict(rival) for name in stands.rivals if (rival := state.propositions.get(name))],
        "edges": [_edge(state, edge, noted) for edge in edges[:MAX_EDGES]],
        "edges_total": len(edges),
        "tests": [_test(trial, results.get(trial.id)) for trial in noted.trials()],
        "history": [_change(change) for change in noted.history],
    }


def _edge(state: State, edge: Edge, noted: Recorded) -> dict[str, Any]:
    seen = state.observations.get(edge.observation_id)
    return {
        "stance": edge.stance,
        "quote": edge.quote,
        "receipt_id": edge.receipt_id,
        "seq": edge.seq,
        "by_agent": edge.by_agent,
        "backed": edge.backed,
        "in_place_of": list(edge.earlier),
        "observation": None
        if seen is None
        else {
            "id": seen.id,
            "text": seen.text[:MAX_TEXT],
            "truncated": len(seen.text) > MAX_TEXT,
            "observed_at": stamp_of(seen.observed_at),
            "claimed_class": seen.claimed,
            "weighed_as": seen.weighed_as,
            "groups": list(seen.groups),
            "derived_from": list(seen.derived_from),
            "receipt_id": seen.receipt_id,
        },
        "source": None if seen is None else {"id": seen.source_id, "classes": noted.classes_of(seen.source_id)},
    }


def _test(trial: Trial, told: Trial | None) -> dict[str, Any]:
    """A test, with its result as far as it was told then."""
    return {
        "id": trial.id,
        "method": trial.method,
        "expectation": trial.expectation,
        "discriminating": trial.discriminating,
        "proposed_by": trial.proposed_by,
        "result": None if told is None else told.result,
        "observation_id": None if told is None else told.observation_id,
        "receipt_id": trial.receipt_id,
    }


def _change(change: Transition) -> dict[str, Any]:
    return {
        "before": change.before,
        "after": change.after,
        "rule": change.rule,
        "words": change.words,
        "cause": change.cause,
        "evidence_ids": list(change.evidence_ids),
        "policy": change.policy,
        "seq": change.seq,
        "at": stamp_of(change.at),
    }


def _stamp(moment: int | None) -> str | None:
    return None if moment is None else stamp_of(moment)

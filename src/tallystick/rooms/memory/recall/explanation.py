"""Why memory holds what it holds: edges, quotes, observations, sources, receipts, and the rule that decided.

The history, the canonical record and the tests are taken from the whole log, not from a part of it: consolidation
considers all propositions together.
"""

from dataclasses import replace
from typing import Any

from tallystick.rooms.memory.model import Canonical, Edge, Proposition, Transition, Trial
from tallystick.rooms.memory.recall.replay import EventLog, replayed
from tallystick.rooms.memory.record_json import as_dict
from tallystick.rooms.memory.times import stamp_of
from tallystick.rooms.memory.weigh.assessment import assess
from tallystick.rooms.memory.weigh.consolidation import CAP_EXCEEDED
from tallystick.rooms.memory.weigh.state import State

_PUT_ASIDE = "archive"
_BY_ITSELF = frozenset({"age", "rival"})
"""Causes of a change that do not take a proposition out of the archive."""


class RecordedHistory:
    """One proposition's records."""

    def __init__(self, state: State, one: Proposition, upto: int | None = None) -> None:
        """Say of what.

        Args:
            state: Memory at the end of the log.
            one: The proposition.
            upto: Only what was recorded up to this place; None: all.
        """
        self._state = state
        self._one = one
        self._upto = upto
        self.history = [change for change in state.transitions_of(one.id) if self._there(change.seq)]

    def canonical(self) -> Canonical | None:
        """The record it stood for then, as it was then."""
        for held in self._state.canonicals_of(self._one.id):
            retired = held.retired_seq is not None and self._there(held.retired_seq)
            if self._there(held.promoted_seq) and not retired:
                return replace(
                    held, retired_at=None, retired_seq=None, retired_why=None, supersedes=self._replaced(held)
                )
        return None

    def archived(self) -> str | None:
        """Why it was put aside then; None: it was not."""
        causes = [change.cause for change in self.history if change.cause not in _BY_ITSELF]
        return CAP_EXCEEDED if causes and causes[-1] == _PUT_ASIDE else None

    def trials(self) -> list[Trial]:
        """Its tests, by id; what came of them may have been told later."""
        held = self._state.evidence(self._one.id).trials
        return [self._then(trial) for _, trial in sorted(held.items()) if self._there(trial.seq)]

    def _then(self, trial: Trial) -> Trial:
        """As it had been proposed by then."""
        raised = trial.raised_seq is not None and not self._there(trial.raised_seq)
        return replace(trial, discriminating=False) if raised else trial

    def classes_of(self, source_id: str) -> list[str]:
        """What was claimed of a source by then, on whatever occasion."""
        source = self._state.sources.get(source_id)
        claimed = () if source is None else zip(source.classes, source.since, strict=True)
        return [name for name, since in claimed if self._there(since)]

    def _replaced(self, held: Canonical) -> tuple[str, ...]:
        """The records it had taken the place of."""
        found = ((name, self._state.canonicals.get(name)) for name in held.supersedes)
        return tuple(
            name
            for name, other in found
            if other is not None and other.retired_seq is not None and self._there(other.retired_seq)
        )

    def _there(self, seq: int) -> bool:
        return self._upto is None or seq <= self._upto


MAX_EDGES = 200
"""Edges that are shown, the newest of them; how many there are is said."""
MAX_TEXT = 600
"""Characters of an observation that are shown when no quote was given."""


def explain_proposition(
    state: State, log: EventLog, proposition_id: str, *, now: int, as_of_seq: int | None = None
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
        return _explained(state, one, now, RecordedHistory(state, one))
    then = log.time_at(as_of_seq)
    now = now if then is None else then
    past = replayed(state, log, one, now=now, upto=as_of_seq)
    known = past.propositions.get(proposition_id)
    return None if known is None else _explained(past, known, now, RecordedHistory(state, one, as_of_seq))


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


def _explained(state: State, one: Proposition, now: int, noted: RecordedHistory) -> dict[str, Any]:
    edges = sorted(state.edges_of(one.id), key=lambda edge: edge.seq, reverse=True)
    assessment = assess(state, one, now)
    canonical = noted.canonical()
    results = state.evidence(one.id).trials
    return {
        "proposition": proposition_dict(one),
        "standing": assessment.as_dict(),
        "canonical": None if canonical is None else as_dict(canonical),
        "archived": noted.archived(),
        "supersedes": list(one.supersedes),
        "superseded_by": assessment.superseded_by,
        "rivals": [proposition_dict(rival) for name in assessment.rivals if (rival := state.propositions.get(name))],
        "edges": [_edge(state, edge, noted) for edge in edges[:MAX_EDGES]],
        "edges_total": len(edges),
        "tests": [_test(trial, results.get(trial.id)) for trial in noted.trials()],
        "history": [_change(change) for change in noted.history],
    }


def _edge(state: State, edge: Edge, noted: RecordedHistory) -> dict[str, Any]:
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

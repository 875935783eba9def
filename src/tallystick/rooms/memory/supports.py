"""The fewest observations that a belief rests on: take any one away, and its status would not hold."""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from tallystick.rooms.memory.dossier import Dossier
from tallystick.rooms.memory.nouns import Observation, Proposition, Status
from tallystick.rooms.memory.standing import standing
from tallystick.rooms.memory.state import State
from tallystick.rooms.memory.states import decide

MAX_CANDIDATES = 18
"""Observations that are combined, the strongest of them. Their pairs, triples and fours are some four thousand."""
MAX_SIZE = 4
MAX_SETS = 10
_REACHED: dict[Status, frozenset[Status]] = {
    "accepted": frozenset({"accepted"}),
    "provisional": frozenset({"provisional", "accepted"}),
}


def minimal_supports(state: State, proposition_id: str, *, now: int) -> dict[str, Any] | None:
    """The smallest sets of support that suffice for the present status; None if there is no such proposition."""
    one = state.propositions.get(proposition_id)
    if one is None:
        return None
    present = standing(state, one, now)
    wanted = _REACHED.get(decide(present.figures, state.policy).status)
    sets = [] if wanted is None else list(_minimal(state, one, wanted, present.at))
    return {
        "proposition_id": one.id,
        "status": present.status,
        "sets": [sorted(seen.id for seen in found) for found in sets],
        "sources": [sorted({seen.source_id for seen in found}) for found in sets],
    }


def _minimal(state: State, one: Proposition, wanted: frozenset[Status], at: int) -> Iterator[tuple[Observation, ...]]:
    candidates = _candidates(state, one)
    found: list[frozenset[str]] = []
    for size in range(1, MAX_SIZE + 1):
        for chosen in combinations(candidates, size):
            ids = frozenset(seen.id for seen in chosen)
            if any(known <= ids for known in found):
                continue
            if _status(state, one, chosen, at) in wanted:
                found.append(ids)
                yield chosen
                if len(found) >= MAX_SETS:
                    return


def _candidates(state: State, one: Proposition) -> list[Observation]:
    """What supports it by its own words, the best class first, and the newest first within a class."""
    names = {edge.observation_id for edge in state.edges_of(one.id) if edge.stance == "support" and edge.backed}
    seen = [each for name in names if (each := state.observations.get(name)) is not None]
    worth = state.policy.reliability_of
    seen.sort(key=lambda each: (-worth[each.weighed_as], bool(each.derived_from), -each.observed_at, each.id))
    return seen[:MAX_CANDIDATES]


def _status(state: State, one: Proposition, support: tuple[Observation, ...], at: int) -> Status:
    """The status with this support and everything that speaks against it."""
    dossier = Dossier(state.policy)
    for seen in support:
        dossier.add(seen, "support")
    for edge in state.edges_of(one.id):
        against = state.observations.get(edge.observation_id) if edge.stance == "contradiction" else None
        if against is not None:
            dossier.take(against, edge)
    dossier.trials.update(state.dossier(one.id).trials)
    owner = state.policy.predicate(one.predicate).owner
    return decide(dossier.weigh(one.volatility, at, owner_predicate=owner).figures, state.policy).status

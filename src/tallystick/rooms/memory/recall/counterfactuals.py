"""Counterfactuals: a proposition's status without some sources, and the fewest observations its status needs.

Nothing is changed: the fold runs again on the remaining events.
"""

from collections.abc import Collection, Iterator, Mapping
from itertools import combinations
from typing import Any

from tallystick.rooms.memory.model import Event, Observation, Proposition, Status
from tallystick.rooms.memory.recall.explanation import proposition_dict
from tallystick.rooms.memory.recall.replay import EventLog, replayed
from tallystick.rooms.memory.weigh.assessment import assess
from tallystick.rooms.memory.weigh.evidence import Evidence
from tallystick.rooms.memory.weigh.state import State
from tallystick.rooms.memory.weigh.status_rules import decide


def what_if(
    state: State, log: EventLog, proposition_id: str, *, without: str, now: int, also: Collection[str] = ()
) -> dict[str, Any] | None:
    """One proposition, with and without a source; None if it is not there.

    Args:
        state: Memory.
        log: Where the events are.
        proposition_id: Which one.
        without: The source's id. What others derived from it goes as well: it then has no root.
        now: The moment both are computed for.
        also: Further sources that are left out with it.
    """
    one = state.propositions.get(proposition_id)
    if one is None:
        return None
    silent = frozenset({without, *also})
    with_it = assess(state, one, now)
    other = replayed(state, log, one, now=now, keep=lambda event: not _is_from(event, silent))
    left = other.propositions.get(one.id)
    supported = left is not None and any(edge.stance == "support" for edge in other.edges_of(one.id))
    after = assess(other, left, now).as_dict() if left is not None and supported else None
    return {
        "proposition": proposition_dict(one),
        "without": without,
        "with": with_it.as_dict(),
        "then": after,
        "changes": after is None or after["status"] != with_it.status,
        "observations_left_out": _left_out(state, one, silent),
    }


def _is_from(event: Event, silent: Collection[str]) -> bool:
    said: Any = event.args.get("source")
    if isinstance(said, Mapping):
        return said.get("id") in silent
    # A test's results come from the test.
    return event.tool == "execute_test_result_ingest" and f"test:{event.args.get('test_id')}" in silent


def _left_out(state: State, one: Proposition, silent: Collection[str]) -> list[str]:
    seen = (state.observations.get(edge.observation_id) for edge in state.edges_of(one.id))
    return sorted({each.id for each in seen if each is not None and each.source_id in silent})


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
    present = assess(state, one, now)
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
    evidence = Evidence(state.policy)
    for seen in support:
        evidence.add(seen, "support")
    for edge in state.edges_of(one.id):
        against = state.observations.get(edge.observation_id) if edge.stance == "contradiction" else None
        if against is not None:
            evidence.take(against, edge)
    evidence.trials.update(state.evidence(one.id).trials)
    owner = state.policy.is_owners(one.subject, one.predicate)
    return decide(evidence.weigh(one.volatility, at, owner_predicate=owner).figures, state.policy).status

"""How things would stand had a source never spoken. Nothing is changed: the fold runs again on the other events."""

from collections.abc import Collection, Mapping
from typing import Any

from tallystick.rooms.memory.explain import proposition_dict
from tallystick.rooms.memory.nouns import Event, Proposition
from tallystick.rooms.memory.slices import Log, replayed
from tallystick.rooms.memory.standing import standing
from tallystick.rooms.memory.state import State


def what_if(
    state: State, log: Log, proposition_id: str, *, without: str, now: int, also: Collection[str] = ()
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
    with_it = standing(state, one, now)
    other = replayed(state, log, one, now=now, keep=lambda event: not _is_from(event, silent))
    left = other.propositions.get(one.id)
    supported = left is not None and any(edge.stance == "support" for edge in other.edges_of(one.id))
    after = standing(other, left, now).as_dict() if left is not None and supported else None
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

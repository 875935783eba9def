"""Partial replay: the events that concern one proposition, folded again for another time or without a source.

State is a function of the log, so the fold itself answers such questions on fewer events. Only the events that concern
the proposition and its rivals are fetched, so the length of the log does not matter.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Protocol

from tallystick.rooms.memory.model import Event, Observation, Proposition
from tallystick.rooms.memory.project.fold import replay
from tallystick.rooms.memory.weigh.rivals import family_of
from tallystick.rooms.memory.weigh.state import State
from tallystick.rooms.memory.weigh.transitions import POLICY

RESULT = "execute_test_result_ingest"
TEST = "test:"
"""Prefix of the source id of a test result."""


class EventLog(Protocol):
    """Finds events by their receipts."""

    def event(self, receipt_id: str) -> Event | None:
        """The event; None: it was erased."""
        ...

    def time_at(self, seq: int) -> int | None:
        """The log time at a position; None: the log is shorter."""
        ...


def replayed(
    state: State,
    log: EventLog,
    one: Proposition,
    *,
    now: int,
    upto: int | None = None,
    keep: Callable[[Event], bool] = lambda _event: True,
) -> State:
    """Return memory as far as it concerns a proposition, from some of the events.

    Args:
        state: Memory as it is.
        log: Where the events are.
        one: The proposition.
        now: The moment to look at it.
        upto: Only events up to this place of the log.
        keep: Which events to take.
    """
    events = [
        event for event in _events(log, _receipts(state, one)) if (upto is None or event.seq <= upto) and keep(event)
    ]
    made = replay((_told(state, event) for event in events), state.policy)
    made.now = max(now, made.now)
    return made


def _told(state: State, event: Event) -> Event:
    """Return the event; a result of a policy test names its proposition, as the cause of the test may be absent."""
    trial = state.trials.get(event.args["test_id"]) if event.tool == RESULT else None
    if trial is None or trial.proposed_by != POLICY:
        return event
    return replace(event, args={**event.args, "proposition_id": trial.proposition_id})


def _events(log: EventLog, receipts: Iterable[str]) -> list[Event]:
    found = (log.event(name) for name in receipts)
    return sorted((event for event in found if event is not None), key=lambda event: event.seq)


def _receipts(state: State, one: Proposition) -> set[str]:
    """Return the receipts of everything that concerns a proposition."""
    receipts: set[str] = set()
    seen: dict[str, Observation] = {}
    waiting = family_of(state, one)
    taken = {known.id for known in waiting}
    while waiting:
        known = waiting.pop()
        receipts.add(known.receipt_id)
        receipts.update(receipt for _, receipt in state.superseders.get(known.id) or ())
        edges = state.edges_of(known.id)
        receipts.update(receipt for edge in edges for receipt in (edge.receipt_id, *edge.earlier))
        cited = [edge.observation_id for edge in edges]
        for trial in state.evidence(known.id).trials.values():
            receipts.update({trial.receipt_id, trial.raised_receipt or trial.receipt_id})
            cited.extend(trial.result_ids)
        for tested in _tested(state, _gather(state, cited, seen)):
            # A result needs its test, and a test its proposition.
            if tested.id not in taken:
                taken.add(tested.id)
                waiting.append(tested)
    return receipts | {observation.receipt_id for observation in seen.values()}


def _gather(state: State, names: Iterable[str], seen: dict[str, Observation]) -> list[Observation]:
    """Add observations and their ancestors; return the new ones."""
    new: list[Observation] = []
    left = list(names)
    while left:
        each = left.pop()
        found = None if each in seen else state.observations.get(each)
        if found is not None:
            seen[each] = found
            new.append(found)
            left.extend(found.derived_from)
    return new


def _tested(state: State, seen: Iterable[Observation]) -> Iterator[Proposition]:
    """Yield the propositions whose test results are among these observations."""
    for observation in seen:
        trial = state.trials.get(observation.source_id.removeprefix(TEST)) if _is_result(observation) else None
        tested = None if trial is None else state.propositions.get(trial.proposition_id)
        if tested is not None:
            yield tested


def _is_result(seen: Observation) -> bool:
    return seen.claimed == "test_result" and seen.source_id.startswith(TEST)

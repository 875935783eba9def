"""What changed in memory between two places of the log, from what was written down when it changed."""

from collections.abc import Iterable, Mapping
from typing import Any, Protocol, TypeVar

import orjson

from tallystick.rooms.memory.as_json import as_dict
from tallystick.rooms.memory.explain import proposition_dict
from tallystick.rooms.memory.state import State
from tallystick.rooms.memory.times import stamp_of

MAX_CHANGES = 1000
"""Of each kind that are listed; how many there are is said."""


class _Placed(Protocol):
    @property
    def seq(self) -> int: ...


P = TypeVar("P", bound=_Placed)


def diff(state: State, first: int, last: int) -> dict[str, Any]:
    """The changes after `first`, up to and with `last`; the other way round is the same."""
    first, last = sorted((first, last))
    stored = map(orjson.loads, state.transition_bodies())
    changes = [change for change in stored if first < change["seq"] <= last]
    promoted, retired = [], []
    for record in state.canonicals.ordered():
        if first < record.promoted_seq <= last:
            promoted.append(as_dict(record))
        if record.retired_seq is not None and first < record.retired_seq <= last:
            retired.append(as_dict(record))
    added = _between(state.propositions.ordered(), first, last)
    return {
        "from_seq": first,
        "to_seq": last,
        "observations": sum(first < seen.seq <= last for seen in state.observations.ordered()),
        "added": [proposition_dict(one) for one in added[:MAX_CHANGES]],
        "added_total": len(added),
        "changed": [_change(state, change) for change in changes[:MAX_CHANGES]],
        "changed_total": len(changes),
        "promoted": promoted[:MAX_CHANGES],
        "retired": retired[:MAX_CHANGES],
    }


def _between(things: Iterable[P], first: int, last: int) -> list[P]:
    return sorted((each for each in things if first < each.seq <= last), key=lambda each: each.seq)


def _change(state: State, change: Mapping[str, Any]) -> dict[str, Any]:
    one = state.propositions.get(change["proposition_id"])
    kept = {name: change[name] for name in ("proposition_id", "before", "after", "rule", "words", "cause", "seq")}
    says = None if one is None else f"{one.subject} {one.predicate} {one.object}"
    return {**kept, "says": says, "at": stamp_of(change["at"])}

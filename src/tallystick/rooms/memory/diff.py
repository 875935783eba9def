"""What changed in memory between two places of the log, from what was written down when it changed."""

from collections.abc import Mapping
from typing import Any

import orjson

from tallystick.rooms.memory.as_json import as_dict
from tallystick.rooms.memory.cached import reviver
from tallystick.rooms.memory.explain import proposition_dict
from tallystick.rooms.memory.nouns import Proposition
from tallystick.rooms.memory.state import State
from tallystick.rooms.memory.stored import StoredState
from tallystick.rooms.memory.times import stamp_of

MAX_CHANGES = 1000
"""Of each kind that are listed; how many there are is said."""
_proposition = reviver(Proposition)


def diff(state: StoredState, first: int, last: int) -> dict[str, Any]:
    """The changes after `first`, up to and with `last`; the other way round is the same."""
    first, last = sorted((first, last))
    store, span = state.store, (first, last)
    changes = [orjson.loads(body) for body in store.bodies("transitions", "seq", "place", between=span)]
    promoted, retired = [], []
    for record in state.canonicals.ordered():
        if first < record.promoted_seq <= last:
            promoted.append(as_dict(record))
        if record.retired_seq is not None and first < record.retired_seq <= last:
            retired.append(as_dict(record))
    added = list(map(_proposition, store.bodies("propositions", "seq", between=span)))
    return {
        "from_seq": first,
        "to_seq": last,
        "observations": store.count("observations", span),
        "added": [proposition_dict(one) for one in added[:MAX_CHANGES]],
        "added_total": len(added),
        "changed": [_change(state, change) for change in changes[:MAX_CHANGES]],
        "changed_total": len(changes),
        "promoted": promoted[:MAX_CHANGES],
        "retired": retired[:MAX_CHANGES],
    }


def _change(state: State, change: Mapping[str, Any]) -> dict[str, Any]:
    one = state.propositions.get(change["proposition_id"])
    kept = {name: change[name] for name in ("proposition_id", "before", "after", "rule", "words", "cause", "seq")}
    says = None if one is None else f"{one.subject} {one.predicate} {one.object}"
    return {**kept, "says": says, "at": stamp_of(change["at"])}

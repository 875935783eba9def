"""The schema of a step, made from one that is remembered: only the nonce differs from step to step.

Walking every tool's schema at every step would cost more than the step. What is given out shares its parts with what
is remembered, so whoever needs it in another form makes a copy.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from tallystick.gate.admit.names import Entry
from tallystick.gate.admit.turn_schema import turn_schema

_MAX_KEPT = 256
"""Sets of tools that are remembered; when there are more, all are forgotten and made again."""

_kept: dict[tuple[Any, ...], Sequence[Mapping[str, Any]]] = {}


def step_schema(entries: Sequence[Entry], nonce: str, *, first: bool, may_finish: bool) -> dict[str, Any]:
    """What `turn_schema` makes, for the price of filling in the nonce."""
    # A version is the digest of the whole card, so what is remembered cannot be out of date.
    key = (first, may_finish, *(entry.card.version for entry in entries))
    branches = _kept.get(key)
    if branches is None:
        if len(_kept) >= _MAX_KEPT:
            _kept.clear()
        branches = _kept[key] = turn_schema(entries, "", first=first, may_finish=may_finish)["anyOf"]
    constant = {"const": nonce}
    filled = [{**branch, "properties": {**branch["properties"], "nonce": constant}} for branch in branches]
    return {"type": "object", "anyOf": filled}

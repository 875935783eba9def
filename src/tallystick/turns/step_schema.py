"""Build the schema of a step from a cached one: only the nonce differs between steps.

Walking every tool's schema at every step would cost more than the step itself. The returned schema shares objects with
the cache, so callers must copy it before changing it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from tallystick.gate.admit.names import Entry
from tallystick.gate.admit.turn_schema import turn_schema

_MAX_KEPT = 256
"""Maximum number of cached tool sets; when it is reached, the cache is cleared."""

_kept: dict[tuple[Any, ...], Sequence[Mapping[str, Any]]] = {}


def step_schema(entries: Sequence[Entry], nonce: str, *, first: bool, may_finish: bool) -> dict[str, Any]:
    """Return the same schema as `turn_schema`, at the cost of filling in the nonce."""
    # A version is the digest of the whole card, so a cached entry cannot be stale.
    key = (first, may_finish, *(entry.card.version for entry in entries))
    branches = _kept.get(key)
    if branches is None:
        if len(_kept) >= _MAX_KEPT:
            _kept.clear()
        branches = _kept[key] = turn_schema(entries, "", first=first, may_finish=may_finish)["anyOf"]
    constant = {"const": nonce}
    filled = [{**branch, "properties": {**branch["properties"], "nonce": constant}} for branch in branches]
    return {"type": "object", "anyOf": filled}

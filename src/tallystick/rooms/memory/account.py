"""What memory holds, in numbers and lists: for the doors."""

from typing import Any

import orjson

from tallystick.rooms.memory.export import digest
from tallystick.rooms.memory.naming import name_key
from tallystick.rooms.memory.projection import Projection
from tallystick.rooms.memory.states import TABLE
from tallystick.rooms.memory.stored import StoredState
from tallystick.rooms.memory.times import stamp_of

_KINDS = {"canonical": "canonicals", "entity": "entities", "episode": "episodes", "source": "sources", "trial": "tests"}


def status(projection: Projection) -> dict[str, Any]:
    """How much there is of what, and how far of the log it goes."""

    def read(state: StoredState) -> dict[str, Any]:
        counts = state.store.counts()
        return {
            "seq": state.seq,
            "time": stamp_of(state.now),
            "policy": state.policy.digest,
            "counts": {
                **{name: counts[name] for name in ("observations", "propositions", "edges", "transitions")},
                **{name: counts.get(kind, 0) for kind, name in _KINDS.items()},
            },
            "states": {row.status: counts.get(row.status, 0) for row in TABLE},
        }

    return projection.ask(read, written=True)


def digest_of(projection: Projection) -> str:
    """SHA-256 of all that memory holds, as canonical JSON."""
    return projection.ask(digest, written=True)


def rebuild(projection: Projection) -> dict[str, Any]:
    """Build memory again from the log; what it came to, and whether that is what it was."""
    before = digest_of(projection)
    projection.rebuild()
    after = digest_of(projection)
    return {"before": before, "after": after, "same": before == after}


def propositions(
    projection: Projection, *, status: str | None, subject: str | None, limit: int, offset: int
) -> tuple[list[dict[str, Any]], int]:
    """Propositions, the newest first, and how many there are."""

    def read(state: StoredState) -> tuple[list[bytes], int]:
        return state.store.listing(status, None if subject is None else name_key(subject), limit, offset)

    bodies, total = projection.ask(read, written=True)
    return [orjson.loads(body) for body in bodies], total


def history(projection: Projection, proposition_id: str | None, limit: int) -> list[dict[str, Any]]:
    """Changes of status, the newest first: of one proposition, or of all."""

    def read(state: StoredState) -> list[bytes]:
        if proposition_id is None:
            return state.store.latest_transitions(limit)
        return state.store.transitions(proposition_id, state.scanned)[::-1][:limit]

    return [orjson.loads(body) for body in projection.ask(read, written=True)]

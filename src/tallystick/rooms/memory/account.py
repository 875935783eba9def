"""What memory holds, in numbers and lists: for the doors."""

from collections.abc import Callable, Mapping
from typing import Any

import orjson

from tallystick.rooms.memory import shown
from tallystick.rooms.memory.cached import reviver
from tallystick.rooms.memory.export import digest
from tallystick.rooms.memory.naming import name_key
from tallystick.rooms.memory.nouns import Entity, Episode, Observation, Proposition, Source, Trial
from tallystick.rooms.memory.projection import Projection
from tallystick.rooms.memory.states import TABLE
from tallystick.rooms.memory.stored import StoredState
from tallystick.rooms.memory.times import stamp_of

_KINDS = {"canonical": "canonicals", "entity": "entities", "episode": "episodes", "source": "sources", "trial": "tests"}


LISTS: Mapping[str, tuple[str, Callable[[bytes], Any]]] = {
    "entities": ("entity", reviver(Entity)),
    "tests": ("trial", reviver(Trial)),
    "episodes": ("episode", reviver(Episode)),
    "sources": ("source", reviver(Source)),
}
"""What can be listed besides observations and propositions: by name, the kind in the tables and what revives it."""
_observation = reviver(Observation)
_proposition = reviver(Proposition)


def status(projection: Projection, now: int) -> dict[str, Any]:
    """How much there is of what, and how far of the log it goes.

    Propositions are counted by the state in which they were last weighed; `due` are those that age may have changed
    since then, by the given moment.
    """

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
            "due": state.store.count_due(now),
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
    projection: Projection, *, status: str | None, subject: str | None, limit: int, offset: int, now: int
) -> tuple[list[dict[str, Any]], int]:
    """Propositions, the newest first, and how many there are; a status narrows them by how they were last weighed."""

    def read(state: StoredState) -> tuple[list[dict[str, Any]], int]:
        bodies, total = state.store.listing(status, None if subject is None else name_key(subject), limit, offset)
        return [shown.proposition(state, _proposition(body), now) for body in bodies], total

    return projection.ask(read, written=True)


def proposition(projection: Projection, proposition_id: str, now: int) -> dict[str, Any] | None:
    """One proposition; None: there is none of this id."""

    def read(state: StoredState) -> dict[str, Any] | None:
        one = state.propositions.get(proposition_id)
        return None if one is None else shown.proposition(state, one, now)

    return projection.ask(read)


def observations(projection: Projection, *, limit: int, offset: int) -> tuple[list[dict[str, Any]], int]:
    """Observations, the newest first, and how many there are."""
    bodies, total = projection.ask(lambda state: state.store.latest_observations(limit, offset), written=True)
    return [shown.observation(_observation(body)) for body in bodies], total


def observation(projection: Projection, observation_id: str) -> dict[str, Any] | None:
    """One observation, its text whole; None: there is none of this id."""
    seen = projection.ask(lambda state: state.observations.get(observation_id))
    return None if seen is None else shown.observation(seen, whole=True)


def things(projection: Projection, name: str, *, limit: int, offset: int) -> tuple[list[dict[str, Any]], int]:
    """One of `LISTS`, by id, and how many there are."""
    kind, revive = LISTS[name]
    bodies, total = projection.ask(lambda state: state.store.list_things(kind, limit, offset), written=True)
    return [shown.thing(revive(body)) for body in bodies], total


def history(projection: Projection, proposition_id: str | None, limit: int) -> list[dict[str, Any]]:
    """Changes of status, the newest first: of one proposition, or of all."""

    def read(state: StoredState) -> list[bytes]:
        if proposition_id is None:
            return state.store.latest_transitions(limit)
        return state.store.transitions(proposition_id, state.scanned)[::-1][:limit]

    changes = (orjson.loads(body) for body in projection.ask(read, written=True))
    return [{**change, "at": stamp_of(change["at"])} for change in changes]

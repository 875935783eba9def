"""What memory holds, in counts, lists and changes, in the one JSON form that all doors show."""

from collections.abc import Callable, Mapping
from typing import Any

import orjson

from tallystick.rooms.memory.ids import name_key
from tallystick.rooms.memory.model import Entity, Episode, Observation, Proposition, Source, Trial
from tallystick.rooms.memory.project.exports import digest
from tallystick.rooms.memory.project.projection import Projection
from tallystick.rooms.memory.project.stored_state import StoredState
from tallystick.rooms.memory.recall.explanation import MAX_TEXT, proposition_dict
from tallystick.rooms.memory.record_json import as_dict, reviver
from tallystick.rooms.memory.times import stamp_of
from tallystick.rooms.memory.weigh.assessment import assess
from tallystick.rooms.memory.weigh.state import State
from tallystick.rooms.memory.weigh.status_rules import TABLE

_TIMES = frozenset({"at", "observed_at", "opened_at", "closed_at"})


def proposition_view(state: State, one: Proposition, now: int) -> dict[str, Any]:
    """A proposition_view with how it stands now, and how it stood when it was last weighed."""
    assessment = assess(state, one, now)
    return {
        **proposition_dict(one),
        **assessment.as_dict(),
        "belief": assessment.figures.belief,
        "rivals": list(assessment.rivals),
        "supersedes": list(one.supersedes),
        "superseded_by": assessment.superseded_by,
        "canonical_id": one.canonical_id,
        "archived": one.archived,
        "last_weighed": {"status": one.status, "at": stamp_of(one.scored_at)},
    }


def observation_view(seen: Observation, *, whole: bool = False) -> dict[str, Any]:
    """An observation_view; in lists a long text is cut."""
    text = seen.text if whole else seen.text[:MAX_TEXT]
    return {
        "id": seen.id,
        "text": text,
        "truncated": len(text) < len(seen.text),
        "source_id": seen.source_id,
        "claimed_class": seen.claimed,
        "weighed_as": seen.weighed_as,
        "groups": list(seen.groups),
        "observed_at": stamp_of(seen.observed_at),
        "derived_from": list(seen.derived_from),
        "episode_id": seen.episode_id,
        "agent": seen.agent,
        "receipt_id": seen.receipt_id,
        "seq": seen.seq,
        "at": stamp_of(seen.at),
    }


def record_view(noun: Source | Entity | Episode | Trial) -> dict[str, Any]:
    """Anything else."""
    return {
        name: stamp_of(value) if name in _TIMES and value is not None else value
        for name, value in as_dict(noun).items()
    }


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
        return [proposition_view(state, _proposition(body), now) for body in bodies], total

    return projection.ask(read, written=True)


def proposition(projection: Projection, proposition_id: str, now: int) -> dict[str, Any] | None:
    """One proposition; None: there is none of this id."""

    def read(state: StoredState) -> dict[str, Any] | None:
        one = state.propositions.get(proposition_id)
        return None if one is None else proposition_view(state, one, now)

    return projection.ask(read)


def observations(projection: Projection, *, limit: int, offset: int) -> tuple[list[dict[str, Any]], int]:
    """Observations, the newest first, and how many there are."""
    bodies, total = projection.ask(lambda state: state.store.latest_observations(limit, offset), written=True)
    return [observation_view(_observation(body)) for body in bodies], total


def observation(projection: Projection, observation_id: str) -> dict[str, Any] | None:
    """One observation, its text whole; None: there is none of this id."""
    seen = projection.ask(lambda state: state.observations.get(observation_id))
    return None if seen is None else observation_view(seen, whole=True)


def records(projection: Projection, name: str, *, limit: int, offset: int) -> tuple[list[dict[str, Any]], int]:
    """One of `LISTS`, by id, and how many there are."""
    kind, revive = LISTS[name]
    bodies, total = projection.ask(lambda state: state.store.list_records(kind, limit, offset), written=True)
    return [record_view(revive(body)) for body in bodies], total


def history(projection: Projection, proposition_id: str | None, limit: int) -> list[dict[str, Any]]:
    """Changes of status, the newest first: of one proposition, or of all."""

    def read(state: StoredState) -> list[bytes]:
        if proposition_id is None:
            return state.store.latest_transitions(limit)
        return state.store.transitions(proposition_id, state.scanned)[::-1][:limit]

    changes = (orjson.loads(body) for body in projection.ask(read, written=True))
    return [{**change, "at": stamp_of(change["at"])} for change in changes]


MAX_CHANGES = 1000
"""Of each kind that are listed; how many there are is said."""


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
        "changed": [_changed(state, change) for change in changes[:MAX_CHANGES]],
        "changed_total": len(changes),
        "promoted": promoted[:MAX_CHANGES],
        "retired": retired[:MAX_CHANGES],
    }


def _changed(state: State, change: Mapping[str, Any]) -> dict[str, Any]:
    one = state.propositions.get(change["proposition_id"])
    kept = {name: change[name] for name in ("proposition_id", "before", "after", "rule", "words", "cause", "seq")}
    says = None if one is None else f"{one.subject} {one.predicate} {one.object}"
    return {**kept, "says": says, "at": stamp_of(change["at"])}

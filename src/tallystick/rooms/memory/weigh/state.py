"""Everything that memory holds, as `fold` reads and writes it.

This state is kept in memory: for tests, and to compute another time or the absence of a source. The same on a database
is in `project/stored_state.py`.
"""

from collections.abc import Iterable, Iterator
from typing import Generic, TypeVar

from tallystick.rooms.memory.ids import name_key
from tallystick.rooms.memory.model import (
    Canonical,
    Edge,
    Entity,
    Episode,
    Observation,
    Proposition,
    Source,
    Transition,
    Trial,
)
from tallystick.rooms.memory.policy import Policy
from tallystick.rooms.memory.record_json import body_of
from tallystick.rooms.memory.weigh.evidence import Evidence
from tallystick.rooms.memory.weigh.status_rules import RELIED_ON, UNRESOLVED

T = TypeVar("T")


def in_force(edges: Iterable[Edge]) -> list[Edge]:
    """Return the edges that are not overruled, in the order of the log."""
    return sorted(
        (edge for edge in edges if not edge.overruled), key=lambda edge: (edge.seq, edge.observation_id, edge.stance)
    )


class RecordMap(Generic[T]):
    """Records of one kind, by key."""

    def __init__(self) -> None:
        self.held: dict[str, T] = {}

    def get(self, key: str) -> T | None:
        """Return the record, or None."""
        return self.held.get(key)

    def some(self, keys: Iterable[str]) -> dict[str, T]:
        """Return several records, in the order of the keys, without those that are missing."""
        return {key: self.held[key] for key in keys if key in self.held}

    def put(self, key: str, thing: T) -> None:
        """Store a record under its key."""
        self.held[key] = thing

    def ordered(self) -> Iterator[T]:
        """Yield all records, by key."""
        return (self.held[key] for key in sorted(self.held))

    def bodies(self) -> Iterator[bytes]:
        """Yield all records as canonical JSON, by key."""
        return map(body_of, self.ordered())


class State:
    """Memory at one place of the log."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.seq = -1
        """The last event that was folded in."""
        self.now = 0
        """The latest log time, the only clock here."""
        self.since_consolidation = 0
        """Observations since the last one."""
        self.place = 0
        """How many transitions the present event has made."""
        self.sources: RecordMap[Source] = RecordMap()
        self.observations: RecordMap[Observation] = RecordMap()
        self.propositions: RecordMap[Proposition] = RecordMap()
        self.unfounded: RecordMap[Proposition] = RecordMap()
        """Proposed from what was erased since, and supported by nothing: never shown."""
        self.trials: RecordMap[Trial] = RecordMap()
        self.entities: RecordMap[Entity] = RecordMap()
        self.episodes: RecordMap[Episode] = RecordMap()
        self.canonicals: RecordMap[Canonical] = RecordMap()
        self.siblings: RecordMap[tuple[str, ...]] = RecordMap()
        """Subject and functional predicate → propositions whose support was ever enough to accept them."""
        self.superseders: RecordMap[tuple[tuple[str, str], ...]] = RecordMap()
        """Proposition → those that claim to supersede it, each with the receipt of the claim."""
        self.lookalikes: RecordMap[tuple[str, ...]] = RecordMap()
        """Skeleton of a name → entities that have it."""
        self.notes: RecordMap[str] = RecordMap()
        """Text that a model made, or that was derived → the first observation of it."""
        self.pending: set[str] = set()
        """Propositions that the next consolidation reviews."""
        self._evidence: dict[str, Evidence] = {}
        self._edges: dict[str, dict[tuple[str, str], Edge]] = {}
        self._transitions: list[Transition] = []

    # -- evidence ------------------------------------------------------------------------------------------------------

    def evidence(self, proposition_id: str) -> Evidence:
        """Return the evidence on a proposition."""
        found = self._evidence.get(proposition_id)
        if found is None:
            found = self._evidence[proposition_id] = Evidence(self.policy)
        return found

    def load_evidence(self, proposition_ids: Iterable[str]) -> None:
        """Load the evidence on several propositions that is not in memory yet."""

    def reset_evidence(self, proposition_id: str) -> Evidence:
        """Put a dossier without evidence in the place of what there is; the tests stay."""
        made = Evidence(self.policy)
        made.trials = self.evidence(proposition_id).trials
        self._evidence[proposition_id] = made
        return made

    def add_edge(self, edge: Edge) -> None:
        """Keep an edge on an observation that has none yet."""
        self._edges.setdefault(edge.proposition_id, {})[edge.observation_id, edge.stance] = edge

    def replace_edge(self, edge: Edge) -> None:
        """Keep an edge, in place of one of the same stance on the same observation."""
        self.add_edge(edge)

    def edges_of(self, proposition_id: str) -> list[Edge]:
        """The edges that count, in the order of the log."""
        return in_force(self._edges.get(proposition_id, {}).values())

    def edge_bodies(self) -> Iterator[bytes]:
        """All edges as canonical JSON, by proposition, observation and stance."""
        for name in sorted(self._edges):
            yield from (body_of(edge) for _, edge in sorted(self._edges[name].items()))

    def canonicals_of(self, proposition_id: str) -> list[Canonical]:
        """The records it was ever promoted to."""
        return [one for one in self.canonicals.held.values() if one.proposition_id == proposition_id]

    # -- changes -------------------------------------------------------------------------------------------------------

    def add_transition(self, change: Transition) -> None:
        """Keep a change of status."""
        self._transitions.append(change)
        self.place += 1

    def transition_bodies(self) -> Iterator[bytes]:
        """All changes as canonical JSON, in order."""
        return map(body_of, self._transitions)

    def transitions_of(self, proposition_id: str) -> list[Transition]:
        """The changes of one proposition, in order."""
        return [change for change in self._transitions if change.proposition_id == proposition_id]

    # -- what consolidation asks -------------------------------------------------------------------------------------

    def due(self, now: int, limit: int | None) -> list[str]:
        """Propositions that age may have changed by now, the longest due first."""
        found = sorted(
            (one.due_at, one.id)
            for one in self.propositions.held.values()
            if one.due_at is not None and one.due_at <= now
        )
        return [name for _, name in found[:limit]]

    def about(self, subject: str | None, predicate: str | None, *, upto: int | None, most: int) -> list[Proposition]:
        """Propositions by subject (as `name_key` writes it), by predicate, or by both.

        Args:
            subject: None: any.
            predicate: None: any.
            upto: Only those that were there at this place of the log.
            most: How many; of more, those to rely on, and then the newest.
        """
        found = [
            one
            for one in self.propositions.held.values()
            if (subject is None or name_key(one.subject) == subject)
            and (predicate is None or one.predicate == predicate)
            and (upto is None or one.seq <= upto)
        ]
        return sorted(found, key=lambda one: (RELIED_ON[one.status], -one.seq, one.id))[:most]

    def unresolved_in(self, episode_id: str) -> list[Proposition]:
        """What an episode has left open, by id."""
        return [
            one
            for one in self.propositions.ordered()
            if one.episode_id == episode_id and one.archived is None and one.status in UNRESOLVED
        ]

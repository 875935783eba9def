"""All that memory holds, as `fold` reads and writes it.

This one lies in memory: for tests, and to ask how things stood at another time or without a source. `store.py` has the
same on a database, where a shelf fetches what is not at hand.
"""

from collections.abc import Iterable, Iterator
from typing import Generic, TypeVar

from tallystick.rooms.memory.as_json import body_of
from tallystick.rooms.memory.dossier import Dossier
from tallystick.rooms.memory.naming import name_key
from tallystick.rooms.memory.nouns import (
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
from tallystick.rooms.memory.states import RELIED_ON, UNRESOLVED

T = TypeVar("T")


def in_force(edges: Iterable[Edge]) -> list[Edge]:
    """Those that count, in the order of the log."""
    return sorted(
        (edge for edge in edges if not edge.overruled), key=lambda edge: (edge.seq, edge.observation_id, edge.stance)
    )


class Shelf(Generic[T]):
    """Things of one kind, by key."""

    def __init__(self) -> None:
        self.held: dict[str, T] = {}

    def get(self, key: str) -> T | None:
        """The thing, or None."""
        return self.held.get(key)

    def some(self, keys: Iterable[str]) -> dict[str, T]:
        """Several of them at once, in the order of the keys; those that are not there are left out."""
        return {key: self.held[key] for key in keys if key in self.held}

    def put(self, key: str, thing: T) -> None:
        """Keep it under its key, in place of what was there."""
        self.held[key] = thing

    def ordered(self) -> Iterator[T]:
        """All of them, by key."""
        return (self.held[key] for key in sorted(self.held))

    def bodies(self) -> Iterator[bytes]:
        """All of them as canonical JSON, by key."""
        return map(body_of, self.ordered())


class State:
    """Memory at one place of the log."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.seq = -1
        """The last event that was folded in."""
        self.now = 0
        """The latest log time: the only clock there is here."""
        self.since_consolidation = 0
        """Observations since the last one."""
        self.place = 0
        """How many transitions the present event has made."""
        self.sources: Shelf[Source] = Shelf()
        self.observations: Shelf[Observation] = Shelf()
        self.propositions: Shelf[Proposition] = Shelf()
        self.unfounded: Shelf[Proposition] = Shelf()
        """Proposed from what was erased since, and supported by nothing: nobody reads them."""
        self.trials: Shelf[Trial] = Shelf()
        self.entities: Shelf[Entity] = Shelf()
        self.episodes: Shelf[Episode] = Shelf()
        self.canonicals: Shelf[Canonical] = Shelf()
        self.siblings: Shelf[tuple[str, ...]] = Shelf()
        """Subject and functional predicate → propositions whose support was ever enough to accept them."""
        self.superseders: Shelf[tuple[tuple[str, str], ...]] = Shelf()
        """Proposition → those that say they take its place, each with the receipt in which that is said."""
        self.lookalikes: Shelf[tuple[str, ...]] = Shelf()
        """How a name looks → entities that look so."""
        self.notes: Shelf[str] = Shelf()
        """Text that a model made, or that was derived → the first observation of it."""
        self.pending: set[str] = set()
        """Propositions the next consolidation looks at."""
        self._dossiers: dict[str, Dossier] = {}
        self._edges: dict[str, dict[tuple[str, str], Edge]] = {}
        self._transitions: list[Transition] = []

    # -- evidence ------------------------------------------------------------------------------------------------------

    def dossier(self, proposition_id: str) -> Dossier:
        """The evidence on a proposition, ready to be weighed."""
        found = self._dossiers.get(proposition_id)
        if found is None:
            found = self._dossiers[proposition_id] = Dossier(self.policy)
        return found

    def gather(self, proposition_ids: Iterable[str]) -> None:
        """Have the evidence on several propositions at hand, where it is not."""

    def begin_dossier(self, proposition_id: str) -> Dossier:
        """Put a dossier without evidence in the place of what there is; the tests stay."""
        made = Dossier(self.policy)
        made.trials = self.dossier(proposition_id).trials
        self._dossiers[proposition_id] = made
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

    def transitions(self) -> Iterator[Transition]:
        """All changes, in order."""
        return iter(self._transitions)

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

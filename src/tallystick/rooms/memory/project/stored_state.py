"""A state kept in the database, with the same interface to `fold` as the one in memory."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import orjson

from tallystick.gate.record.canonical import canonical_plain
from tallystick.rooms.memory.ids import lookup_key, name_key
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
from tallystick.rooms.memory.project.record_cache import (
    HELD,
    DueQueue,
    Entry,
    PropositionCache,
    RecordCache,
    RecordReaders,
)
from tallystick.rooms.memory.record_json import body_of, reviver
from tallystick.rooms.memory.weigh.evidence import Evidence
from tallystick.rooms.memory.weigh.state import State, in_force
from tallystick.rooms.memory.weigh.status_rules import UNRESOLVED

if TYPE_CHECKING:
    from tallystick.rooms.memory.store.rows import Store

T = TypeVar("T")
FORM = 13
"""Version of the fold and of the records; tables of another version are rebuilt."""
_KINDS: dict[str, Callable[[bytes], Any]] = {
    "source": reviver(Source),
    "trial": reviver(Trial),
    "entity": reviver(Entity),
    "episode": reviver(Episode),
    "canonical": reviver(Canonical),
    "siblings": lambda body: tuple(orjson.loads(body)),
    "superseders": lambda body: tuple(map(tuple, orjson.loads(body))),
    "lookalikes": lambda body: tuple(orjson.loads(body)),
    "note": orjson.loads,
    "unfounded": reviver(Proposition),
}
_observation = reviver(Observation)
_proposition = reviver(Proposition)
_edge = reviver(Edge)
_transition = reviver(Transition)


class StoredState(State):
    """A state in the tables. It is used under the projection's lock."""

    def __init__(self, policy: Policy, store: "Store") -> None:
        super().__init__(policy)
        self.store = store
        self.scanned = -1
        """The log position that was read last."""
        self.log = ""
        """Which log: the id of its first record."""
        self._base: int | None = None
        """The log position of the tables; None: they are empty."""
        self._new_edges: dict[tuple[str, str, str], Edge] = {}
        self._replaced: set[tuple[str, str, str]] = set()
        """Those of which the tables may hold an older version."""
        self._new_transitions: list[Transition] = []
        self._observations = self.observations = self._shelf("observations", _observation)
        self._propositions = self.propositions = PropositionCache(*self._ways("propositions", _proposition))
        self._propositions.agenda = DueQueue(self._due_after, self._propositions.changed)
        self._records = {kind: self._shelf("things", revive, kind) for kind, revive in _KINDS.items()}
        self.sources, self.trials = self._records["source"], self._records["trial"]
        self.entities, self.episodes = self._records["entity"], self._records["episode"]
        self.canonicals, self.siblings = self._records["canonical"], self._records["siblings"]
        self.lookalikes, self.notes = self._records["lookalikes"], self._records["note"]
        self.superseders, self.unfounded = self._records["superseders"], self._records["unfounded"]
        self._load()

    def _shelf(self, table: str, revive: Callable[[bytes], T], kind: str | None = None) -> RecordCache[T]:
        return RecordCache(*self._ways(table, revive, kind))

    def _ways(self, table: str, revive: Callable[[bytes], T], kind: str | None = None) -> RecordReaders[T]:
        # Most lookups of these kinds are for new keys.
        hashed = kind in {None, "note", "superseders", "unfounded"}
        return (
            lambda keys: self.store.some(table, keys, self._base, kind=kind),
            partial(self.store.bodies, table, "id", kind=kind),
            revive,
            partial(self.store.numbers, table, kind) if hashed else None,
        )

    def _due_after(self, entry: Entry) -> list[Entry]:
        return self.store.due_after(entry, self._base)

    def _load(self) -> None:
        head = self.store.head()
        if head is not None:
            self._base = self.scanned = head[0]
            noted = orjson.loads(head[1])
            self.seq, self.now, self.since_consolidation = noted["seq"], noted["now"], noted["since_consolidation"]
            self.log, self.written_under = noted["log"], (noted["policy"], noted.get("form"))
            self.pending.update(self.store.pending())

    written_under: tuple[str, int | None] | None = None
    """The policy and the version that the tables were written with; None: they are empty."""

    # -- reading -------------------------------------------------------------------------------------------------------

    def evidence(self, proposition_id: str) -> Evidence:
        """Return the evidence on a proposition, loaded from the tables if necessary."""
        found = self._evidence.get(proposition_id)
        if found is None:
            # A new proposition has no evidence to load, unless it was put aside before.
            if any(shelf.may_hold(proposition_id) for shelf in (self._propositions, self._records["unfounded"])):
                self.load_evidence((proposition_id,))
            found = self._evidence.setdefault(proposition_id, Evidence(self.policy))
        return found

    def load_evidence(self, proposition_ids: Iterable[str]) -> None:
        """Load the evidence on several propositions with one query."""
        wanted = [name for name in dict.fromkeys(proposition_ids) if name not in self._evidence]
        if not wanted:
            return
        found = {name: Evidence(self.policy) for name in wanted}
        edges = self._edges_of(wanted)
        seen = self.observations.some(edge.observation_id for edge in edges)
        for edge in edges:
            if edge.observation_id in seen:
                found[edge.proposition_id].take(seen[edge.observation_id], edge)
        for trial in self._referring("trial", wanted):
            found[trial.proposition_id].trials[trial.id] = trial
        self._evidence.update(found)

    def canonicals_of(self, proposition_id: str) -> list[Canonical]:
        """The records it was ever promoted to."""
        return self._referring("canonical", (proposition_id,))

    def _referring(self, kind: str, proposition_ids: Sequence[str]) -> list[Any]:
        stored = map(_KINDS[kind], self.store.referring(kind, proposition_ids, self._base))
        found = {one.id: one for one in stored}
        changed = self._records[kind].changed
        found |= {name: one for name, one in changed.items() if one.proposition_id in proposition_ids}
        return [found[name] for name in sorted(found)]

    def edges_of(self, proposition_id: str) -> list[Edge]:
        """Its edges, in the order of the log."""
        return self._edges_of((proposition_id,))

    def _edges_of(self, proposition_ids: Sequence[str]) -> list[Edge]:
        found = {_edge_key(edge): edge for edge in map(_edge, self.store.edges(proposition_ids, self._base))}
        found |= {key: edge for key, edge in self._new_edges.items() if key[0] in proposition_ids}
        return in_force(found.values())

    def transitions_of(self, proposition_id: str) -> list[Transition]:
        """The changes of one proposition, in order."""
        stored = map(_transition, self.store.transitions(proposition_id, self._base))
        return [*stored, *(one for one in self._new_transitions if one.proposition_id == proposition_id)]

    def due(self, now: int, limit: int | None) -> list[str]:
        """Propositions that age may have changed by now, the longest due first."""
        return self._propositions.agenda.take(now, limit)

    def about(self, subject: str | None, predicate: str | None, *, upto: int | None, most: int) -> list[Proposition]:
        """Propositions by subject, by predicate, or by both, of those that are written."""
        return list(map(_proposition, self.store.about(subject, predicate, upto=upto, most=most)))

    def unresolved_in(self, episode_id: str) -> list[Proposition]:
        """What an episode has left open, by id."""
        changed = self._propositions.changed
        stored = map(_proposition, self.store.unresolved(episode_id, UNRESOLVED, self._base))
        found = {one.id: one for one in stored if one.id not in changed}
        found |= {
            name: one
            for name, one in changed.items()
            if one.episode_id == episode_id and one.archived is None and one.status in UNRESOLVED
        }
        return [found[name] for name in sorted(found)]

    def edge_bodies(self) -> Iterator[bytes]:
        """All edges as canonical JSON, by proposition, observation and stance."""
        return self.store.bodies("edges", "proposition_id", "observation_id", "stance")

    def transition_bodies(self) -> Iterator[bytes]:
        """All changes as canonical JSON, in order."""
        return self.store.bodies("transitions", "seq", "place")

    def observations_after(self, seq: int) -> Iterator[Observation]:
        """Those of later events that are written, in order."""
        return map(_observation, self.store.bodies("observations", "seq", between=(seq, None)))

    # -- writing -------------------------------------------------------------------------------------------------------

    def add_edge(self, edge: Edge) -> None:
        """Keep an edge on an observation that has none yet."""
        self._new_edges[_edge_key(edge)] = edge

    def replace_edge(self, edge: Edge) -> None:
        """Keep an edge, in place of one of the same stance on the same observation."""
        self.add_edge(edge)
        self._replaced.add(_edge_key(edge))

    def add_transition(self, change: Transition) -> None:
        """Keep a change of status."""
        self._new_transitions.append(change)
        self.place += 1

    def unwritten(self) -> int:
        """Return how many of the larger rows are unwritten."""
        return len(self._new_edges) + len(self._new_transitions) + len(self._observations.changed)

    def flush(self) -> None:
        """Write all changes, in one transaction.

        Raises:
            StaleSnapshot: Another process has written since; nothing was written.
        """
        if self._base == self.scanned:
            return
        noted = {
            "seq": self.seq,
            "now": self.now,
            "since_consolidation": self.since_consolidation,
            "log": self.log,
            "policy": self.policy.digest,
            "form": FORM,
        }
        self.store.write(
            self._rows(), base=self._base, scanned=self.scanned, body=canonical_plain(noted), replaced=self._replaced
        )
        self._base = self.scanned
        self._new_edges.clear()
        self._replaced.clear()
        self._new_transitions.clear()
        self._observations.written()
        self._propositions.written()
        self._propositions.agenda.begin_again()
        for shelf in self._records.values():
            shelf.written()
        for name in list(self._evidence)[: max(len(self._evidence) - HELD, 0)]:
            del self._evidence[name]

    def _rows(self) -> dict[str, list[tuple[Any, ...]]]:
        """In the order of the tables' columns."""
        return {
            "observations": [(one.seq, one.id, body_of(one)) for one in self._observations.changed.values()],
            "propositions": list(map(_proposition_row, self._propositions.changed.values())),
            "edges": [(one.seq, *_edge_key(one), body_of(one)) for one in self._new_edges.values()],
            "transitions": [(one.seq, one.place, one.proposition_id, body_of(one)) for one in self._new_transitions],
            "things": [
                _record_row(kind, key, one)
                for kind, shelf in self._records.items()
                for key, one in shelf.changed.items()
            ],
        }


def _proposition_row(one: Proposition) -> tuple[Any, ...]:
    return (
        one.seq,
        one.id,
        lookup_key(name_key(one.subject)),
        lookup_key(one.predicate),
        one.status,
        one.episode_id,
        one.archived is not None,
        one.pending,
        one.due_at,
        body_of(one),
    )


def _edge_key(one: Edge) -> tuple[str, str, str]:
    return one.proposition_id, one.observation_id, one.stance


def _record_row(kind: str, key: str, one: Any) -> tuple[Any, ...]:
    plain = isinstance(one, str | tuple)
    return kind, key, getattr(one, "proposition_id", None), orjson.dumps(one) if plain else body_of(one)

"""The projection's tables, and a state that lies in them.

The log is the truth; this is only where reading is quick. Rows are written in batches, each in one transaction that also
says how far of the log it goes. Of several processes that fold the same log, the one that is overtaken throws away what
it has at hand and goes on from what the other wrote.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeVar

import orjson
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Connection, Engine

from tallystick.gate.record.canonical import canonical_plain
from tallystick.rooms.memory.cached import HELD, CachedShelf, reviver
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
    name_key,
)
from tallystick.rooms.memory.policy import Policy
from tallystick.rooms.memory.scoring import Dossier
from tallystick.rooms.memory.state import State, body_of
from tallystick.rooms.memory.states import UNRESOLVED
from tallystick.storage.database import writing

_META = sa.MetaData()
HEAD = sa.Table(
    "tally_memory_head", _META,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("scanned", sa.BigInteger, nullable=False),
    sa.Column("body", sa.LargeBinary, nullable=False),
)  # fmt: skip
OBSERVATIONS = sa.Table(
    "tally_memory_observations", _META,
    sa.Column("id", sa.String(64), primary_key=True),
    sa.Column("seq", sa.BigInteger, nullable=False, index=True),
    sa.Column("body", sa.LargeBinary, nullable=False),
)  # fmt: skip
PROPOSITIONS = sa.Table(
    "tally_memory_propositions", _META,
    sa.Column("id", sa.String(64), primary_key=True),
    sa.Column("subject", sa.Text, nullable=False),
    sa.Column("predicate", sa.Text, nullable=False),
    sa.Column("status", sa.String(16), nullable=False),
    sa.Column("episode_id", sa.Text, nullable=False),
    sa.Column("archived", sa.Boolean, nullable=False),
    sa.Column("pending", sa.Boolean, nullable=False),
    sa.Column("due_at", sa.BigInteger),
    sa.Column("seq", sa.BigInteger, nullable=False),
    sa.Column("body", sa.LargeBinary, nullable=False),
)  # fmt: skip
EDGES = sa.Table(
    "tally_memory_edges", _META,
    sa.Column("proposition_id", sa.String(64), primary_key=True),
    sa.Column("observation_id", sa.String(64), primary_key=True),
    sa.Column("stance", sa.String(16), primary_key=True),
    sa.Column("seq", sa.BigInteger, nullable=False),
    sa.Column("body", sa.LargeBinary, nullable=False),
)  # fmt: skip
TRANSITIONS = sa.Table(
    "tally_memory_transitions", _META,
    sa.Column("seq", sa.BigInteger, primary_key=True),
    sa.Column("place", sa.Integer, primary_key=True),
    sa.Column("proposition_id", sa.String(64), nullable=False, index=True),
    sa.Column("body", sa.LargeBinary, nullable=False),
)  # fmt: skip
THINGS = sa.Table(
    "tally_memory_things", _META,
    sa.Column("kind", sa.String(16), primary_key=True),
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("ref", sa.String(64)),
    sa.Column("body", sa.LargeBinary, nullable=False),
)  # fmt: skip
_TABLES = (HEAD, OBSERVATIONS, PROPOSITIONS, EDGES, TRANSITIONS, THINGS)
T = TypeVar("T")


class Overtaken(Exception):  # noqa: N818 - a signal between this module and the projection, not an error
    """Another process has written further than this state stands."""


class StoredState(State):
    """A state in the tables. Whoever uses it does so under the projection's lock."""

    def __init__(self, policy: Policy, engine: Engine) -> None:
        super().__init__(policy)
        self._engine = engine
        self._upsert = _insert_of(engine.dialect.name)
        self.scanned = -1
        """How far of the log has been looked at."""
        self.log = ""
        """Which log: the id of its first record."""
        self._stored: int | None = None
        """How far the tables go; None: they are empty."""
        self._new_edges: list[Edge] = []
        self._new_transitions: list[Transition] = []
        self._next_due = 0
        """No stored proposition is due before this."""
        self.observations = self._shelf(OBSERVATIONS, Observation, hashed=True)
        self.propositions = self._shelf(PROPOSITIONS, Proposition, hashed=True)
        self.sources = self._things("source", reviver(Source))
        self.trials = self._things("trial", reviver(Trial))
        self.entities = self._things("entity", reviver(Entity))
        self.episodes = self._things("episode", reviver(Episode))
        self.canonicals = self._things("canonical", reviver(Canonical))
        self.siblings = self._things("siblings", _names)
        self.lookalikes = self._things("lookalikes", _names)
        self.notes = self._things("note", orjson.loads, hashed=True)
        self._load()

    # -- reading -------------------------------------------------------------------------------------------------------

    def dossier(self, proposition_id: str) -> Dossier:
        """The evidence on a proposition; gathered from the tables if it is not at hand."""
        found = self._dossiers.get(proposition_id)
        if found is None:
            found = self._dossiers[proposition_id] = Dossier(self.policy)
            # A proposition that is only being made has no evidence to gather.
            if self.propositions.may_hold(proposition_id):
                self._gather(proposition_id, found)
        return found

    def _gather(self, proposition_id: str, into: Dossier) -> None:
        for edge in self.edges_of(proposition_id):
            seen = self.observations.get(edge.observation_id)
            if seen is not None:
                into.add(seen, edge.stance)
        for trial in self.trials_of(proposition_id):
            into.trials[trial.id] = trial

    def trials_of(self, proposition_id: str) -> list[Trial]:
        """The tests of a proposition, by id."""
        chosen = (THINGS.c.kind == "trial") & (THINGS.c.ref == proposition_id)
        stored = self._rows(sa.select(THINGS.c.id, THINGS.c.body).where(chosen))
        found = {row.id: reviver(Trial)(row.body) for row in stored}
        found |= {name: one for name, one in self.trials.changed.items() if one.proposition_id == proposition_id}
        return [found[name] for name in sorted(found)]

    def edges_of(self, proposition_id: str) -> list[Edge]:
        """Its edges, in the order of the log."""
        chosen = sa.select(EDGES.c.body).where(EDGES.c.proposition_id == proposition_id)
        stored = [reviver(Edge)(row.body) for row in self._rows(chosen)]
        new = (edge for edge in self._new_edges if edge.proposition_id == proposition_id)
        return sorted((*stored, *new), key=lambda edge: (edge.seq, edge.observation_id, edge.stance))

    def transitions_of(self, proposition_id: str) -> list[Transition]:
        """The changes of one proposition, in order."""
        chosen = sa.select(TRANSITIONS.c.body).where(TRANSITIONS.c.proposition_id == proposition_id)
        stored = self._rows(chosen.order_by(TRANSITIONS.c.seq, TRANSITIONS.c.place))
        new = (one for one in self._new_transitions if one.proposition_id == proposition_id)
        return [*(reviver(Transition)(row.body) for row in stored), *new]

    def due(self, now: int, limit: int | None) -> list[str]:
        """Propositions that age may have changed by now, the longest due first."""
        changed = self.propositions.changed
        found = [(one.due_at, name) for name, one in changed.items() if one.due_at is not None and one.due_at <= now]
        if self._next_due <= now:
            columns = PROPOSITIONS.c.due_at, PROPOSITIONS.c.id
            query = sa.select(*columns).where(PROPOSITIONS.c.due_at <= now).order_by(*columns)
            # Some of those in the table may have changed since; so many more are read.
            most = None if limit is None else limit + len(changed)
            stored = self._rows(query.limit(most))
            found += [(due_at, name) for due_at, name in stored if name not in changed]
            if most is None or len(stored) < most:
                least = self._rows(sa.select(sa.func.min(columns[0])).where(columns[0] > now))
                self._next_due = _NEVER if least[0][0] is None else least[0][0]
        return [name for _, name in sorted(found)[:limit]]

    def unresolved_in(self, episode_id: str) -> list[Proposition]:
        """What an episode has left open, by id."""
        c = PROPOSITIONS.c
        open_ = (c.episode_id == episode_id) & c.archived.is_(False) & c.status.in_(UNRESOLVED)
        changed = self.propositions.changed
        stored = self._rows(sa.select(c.id, c.body).where(open_))
        found = {row.id: reviver(Proposition)(row.body) for row in stored if row.id not in changed}
        for name, one in changed.items():
            if one.episode_id == episode_id and one.archived is None and one.status in UNRESOLVED:
                found[name] = one
        return [found[name] for name in sorted(found)]

    # -- writing -------------------------------------------------------------------------------------------------------

    def add_edge(self, edge: Edge) -> None:
        """Keep an edge."""
        self._new_edges.append(edge)

    def add_transition(self, change: Transition) -> None:
        """Keep a change of status."""
        self._new_transitions.append(change)
        self.place += 1

    def unwritten(self) -> int:
        """How many rows wait to be written."""
        return len(self._new_edges) + len(self._new_transitions) + sum(len(one.changed) for one in self._shelves())

    def flush(self) -> None:
        """Write all that changed, in one transaction.

        Raises:
            Overtaken: Another process has written since; nothing was written.
        """
        if self._stored == self.scanned:
            return
        with writing(self._engine) as connection:
            self._move_head(connection)
            self._write(connection, OBSERVATIONS, list(map(_observation_row, self.observations.changed.values())))
            self._write(connection, PROPOSITIONS, list(map(_proposition_row, self.propositions.changed.values())))
            self._write(connection, EDGES, list(map(_edge_row, self._new_edges)))
            self._write(connection, TRANSITIONS, list(map(_transition_row, self._new_transitions)))
            for kind, shelf in self._kinds.items():
                rows = [_thing_row(kind, key, one) for key, one in shelf.changed.items()]
                self._write(connection, THINGS, rows)
        due = [one.due_at for one in self.propositions.changed.values() if one.due_at is not None]
        self._next_due = min((self._next_due, *due))
        self._stored = self.scanned
        self._new_edges.clear()
        self._new_transitions.clear()
        for shelf in self._shelves():
            shelf.written()
        for name in list(self._dossiers)[: max(len(self._dossiers) - HELD, 0)]:
            del self._dossiers[name]

    def wipe(self) -> None:
        """Empty the tables, to build them again from the log."""
        with writing(self._engine) as connection:
            for table in _TABLES:
                connection.execute(sa.delete(table))

    def edge_bodies(self) -> Iterator[bytes]:
        """All edges as canonical JSON, by proposition, observation and stance."""
        return self._stream(EDGES, EDGES.c.proposition_id, EDGES.c.observation_id, EDGES.c.stance)

    def transition_bodies(self) -> Iterator[bytes]:
        """All changes as canonical JSON, in order."""
        return self._stream(TRANSITIONS, TRANSITIONS.c.seq, TRANSITIONS.c.place)

    def observations_after(self, seq: int) -> Iterator[Observation]:
        """Those that were written from later events, in order."""
        return map(reviver(Observation), self._stream(OBSERVATIONS, OBSERVATIONS.c.seq, where=OBSERVATIONS.c.seq > seq))

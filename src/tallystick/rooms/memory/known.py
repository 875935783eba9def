"""What is there already of a subject and a predicate, as far as one who proposes must know it."""

from collections.abc import Mapping

from tallystick.records import record
from tallystick.rooms.memory.naming import name_key
from tallystick.rooms.memory.nouns import Edge, Proposition
from tallystick.rooms.memory.standing import holds_at
from tallystick.rooms.memory.state import State

MOST_EDGES = 200
"""Of one proposition, the newest: who said something long before has said it again, or is not asked about it."""


@record
class Known:
    """A proposition, and when each source last spoke for it or against it."""

    one: Proposition
    functional: bool
    """Only one object at a time."""
    said: Mapping[str, int]
    """Source → when it last said so."""
    denied: Mapping[str, int]

    @property
    def id(self) -> str:
        """The proposition's."""
        return self.one.id

    def says(self, thing: str) -> bool:
        """Whether it is about this object."""
        return name_key(self.one.object) == name_key(thing)

    def still_said_by(self, source: str, when: int) -> bool:
        """Whether a source has said so up to a moment, of that moment too, and not taken it back."""
        key = name_key(source)
        said = self.said.get(key)
        return said is not None and said <= when and self.denied.get(key, -1) < said and holds_at(self.one, when)


def known_of(state: State, one: Proposition) -> Known:
    """A proposition with who said what about it."""
    heard: dict[str, dict[str, int]] = {"support": {}, "contradiction": {}}
    newest = sorted(state.edges_of(one.id), key=lambda edge: edge.seq, reverse=True)
    for edge in newest[:MOST_EDGES]:
        _hear(state, edge, heard[edge.stance])
    functional = state.policy.predicate(one.predicate).functional
    return Known(one=one, functional=functional, said=heard["support"], denied=heard["contradiction"])


def _hear(state: State, edge: Edge, heard: dict[str, int]) -> None:
    seen = state.observations.get(edge.observation_id)
    if seen is not None:
        key = name_key(seen.source_id)
        heard[key] = max(heard.get(key, seen.observed_at), seen.observed_at)

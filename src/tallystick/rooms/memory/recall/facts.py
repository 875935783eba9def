"""Propositions as an answer shows them: with a label saying how reliable they are, and what supersedes them."""

from collections.abc import Mapping, Sequence
from typing import Any

from tallystick.records import record
from tallystick.rooms.memory.ids import name_key
from tallystick.rooms.memory.model import Edge, Proposition
from tallystick.rooms.memory.recall.explanation import proposition_dict
from tallystick.rooms.memory.weigh.assessment import Assessment, holds_at
from tallystick.rooms.memory.weigh.state import State
from tallystick.rooms.memory.weigh.status_rules import RELIED_ON

MOST_EDGES = 200
"""Newest edges of a proposition that are read."""


@record
class KnownProposition:
    """A proposition, and when each source last supported or contradicted it."""

    one: Proposition
    functional: bool
    """Only one object at a time."""
    said: Mapping[str, int]
    """Source → when it last supported it."""
    denied: Mapping[str, int]

    @property
    def id(self) -> str:
        """The proposition's id."""
        return self.one.id

    def says(self, thing: str) -> bool:
        """Return whether it has this object."""
        return name_key(self.one.object) == name_key(thing)

    def still_said_by(self, source: str, when: int) -> bool:
        """Return whether a source supported it by a moment at which it is valid, and has not contradicted it."""
        key = name_key(source)
        said = self.said.get(key)
        return said is not None and said <= when and self.denied.get(key, -1) < said and holds_at(self.one, when)


def known_proposition(state: State, one: Proposition) -> KnownProposition:
    """Return a proposition with what each source said about it."""
    heard: dict[str, dict[str, int]] = {"support": {}, "contradiction": {}}
    newest = sorted(state.edges_of(one.id), key=lambda edge: edge.seq, reverse=True)
    for edge in newest[:MOST_EDGES]:
        _note_source(state, edge, heard[edge.stance])
    functional = state.policy.predicate(one.predicate).functional
    return KnownProposition(one=one, functional=functional, said=heard["support"], denied=heard["contradiction"])


def _note_source(state: State, edge: Edge, heard: dict[str, int]) -> None:
    seen = state.observations.get(edge.observation_id)
    if seen is not None:
        key = name_key(seen.source_id)
        heard[key] = max(heard.get(key, seen.observed_at), seen.observed_at)


@record
class Fact:
    """A proposition that matches the question."""

    one: Proposition
    assessment: Assessment

    @property
    def replaced_by(self) -> str | None:
        """What supersedes it."""
        return self.assessment.superseded_by

    @property
    def words(self) -> str:
        """Its text, as it is shown and counted."""
        return f"{self.one.subject} {self.one.predicate} {self.one.object}"

    def as_dict(self) -> dict[str, Any]:
        """As plain JSON."""
        shown = self.assessment.as_dict()
        del shown["figures"], shown["evidence_ids"]
        return {
            **proposition_dict(self.one),
            **shown,
            "belief": self.assessment.figures.belief,
            "superseded_by": self.replaced_by,
        }


def rank_of(assessment: Assessment) -> tuple[int, bool]:
    """Return the rank of a fact: by its status, with facts that their sources withdrew after undisputed ones."""
    if assessment.taken_back and assessment.status in {"contested", "provisional"}:
        return RELIED_ON["provisional"], True
    return RELIED_ON[assessment.status], False


def in_succession(facts: Sequence[Fact]) -> list[Fact]:
    """Return the facts with those outside their valid time after the others, and superseded ones last."""
    return sorted(facts, key=lambda fact: (fact.replaced_by is not None, bool(fact.assessment.holds)))

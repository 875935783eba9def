"""Facts as an answer shows them: with a label that says how far they may be relied on, and what takes their place."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tallystick.records import record
from tallystick.rooms.memory.explain import proposition_dict
from tallystick.rooms.memory.nouns import Proposition
from tallystick.rooms.memory.standing import Standing

SUPPORTED = frozenset({"accepted", "provisional"})
REPLACED = "superseded: something later takes its place"


@record
class Fact:
    """A proposition that bears on the question."""

    one: Proposition
    stands: Standing
    replaced_by: str | None = None
    """Another that takes its place."""

    @property
    def words(self) -> str:
        """As it is shown, and counted."""
        return f"{self.one.subject} {self.one.predicate} {self.one.object}"

    def as_dict(self) -> dict[str, Any]:
        """As plain JSON."""
        shown = self.stands.as_dict()
        del shown["figures"], shown["evidence_ids"]
        if self.replaced_by is not None:
            shown["label"] = REPLACED
        return {
            **proposition_dict(self.one), **shown, "belief": self.stands.figures.belief,
            "superseded_by": self.replaced_by,
        }  # fmt: skip


def in_succession(facts: Sequence[Fact]) -> list[Fact]:
    """The same facts, and after all others those whose place another one takes.

    Among accepted facts policy has decided which. Else one takes the place that it claims when there is support for it,
    and of as good a kind: the word of a model puts nothing aside that a person said.
    """
    claims: dict[str, list[Fact]] = {}
    for fact in facts:
        for name in fact.one.supersedes:
            claims.setdefault(name, []).append(fact)
    placed = [replace(fact, replaced_by=_replacement(fact, claims.get(fact.one.id, ()))) for fact in facts]
    return sorted(placed, key=lambda fact: fact.replaced_by is not None)


def _replacement(fact: Fact, claimants: Sequence[Fact]) -> str | None:
    if fact.stands.status == "accepted":
        return fact.stands.superseded_by
    believed = [
        other.one.id
        for other in claimants
        if other.one.id not in fact.one.supersedes
        and other.stands.status in SUPPORTED
        and other.stands.figures.best_class >= fact.stands.figures.best_class
    ]
    return min(believed, default=None)

"""Facts as an answer shows them: with a label that says how far they may be relied on, and what takes their place."""

from collections.abc import Sequence
from typing import Any

from tallystick.records import record
from tallystick.rooms.memory.explain import proposition_dict
from tallystick.rooms.memory.nouns import Proposition
from tallystick.rooms.memory.standing import Standing
from tallystick.rooms.memory.states import RELIED_ON


@record
class Fact:
    """A proposition that bears on the question."""

    one: Proposition
    stands: Standing

    @property
    def replaced_by(self) -> str | None:
        """Another that takes its place."""
        return self.stands.superseded_by

    @property
    def words(self) -> str:
        """As it is shown, and counted."""
        return f"{self.one.subject} {self.one.predicate} {self.one.object}"

    def as_dict(self) -> dict[str, Any]:
        """As plain JSON."""
        shown = self.stands.as_dict()
        del shown["figures"], shown["evidence_ids"]
        return {
            **proposition_dict(self.one), **shown, "belief": self.stands.figures.belief,
            "superseded_by": self.replaced_by,
        }  # fmt: skip


def place_of(stands: Standing) -> tuple[int, bool]:
    """Where a fact comes among others: by its status, but what was taken back after what nobody speaks against."""
    if stands.taken_back and stands.status in {"contested", "provisional"}:
        return RELIED_ON["provisional"], True
    return RELIED_ON[stands.status], False


def in_succession(facts: Sequence[Fact]) -> list[Fact]:
    """The same facts; after the others those that do not hold now, and then those whose place another one takes."""
    return sorted(facts, key=lambda fact: (fact.replaced_by is not None, bool(fact.stands.holds)))

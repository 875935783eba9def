"""The numbers of memory's policy, `[rooms.memory]` in `tallystick.toml`. Their digest stands in every record.

State is a function of the log and of these numbers; after a change the projection is built again under the new ones.
"""

from collections.abc import Mapping
from functools import cached_property
from hashlib import sha256
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from tallystick.gate.record.canonical import canonical
from tallystick.rooms.memory.nouns import SourceClass, Volatility

HOUR = 3_600

SWITCHES = frozenset(
    {
        "lineage", "independence", "copies", "saturation", "decay", "model_cap", "conflict", "two_groups", "best_class",
        "rivals", "agent_ceiling", "rereading", "owner",
    }
)  # fmt: skip
"""Rules that a measurement may turn off, to see what each one buys. No configuration can."""


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Reliability(_Section):
    """How far a class of source is believed, in basis points."""

    test_result: int = Field(default=9500, ge=0, le=10_000)
    human: int = Field(default=9000, ge=0, le=10_000)
    tool_internal: int = Field(default=8500, ge=0, le=10_000)
    document: int = Field(default=7000, ge=0, le=10_000)
    tool_external: int = Field(default=5000, ge=0, le=10_000)
    model_inference: int = Field(default=2000, ge=0, le=10_000)


class HalfLife(_Section):
    """After how many hours a claim of this volatility is half as fresh; a static one never ages."""

    low: int = Field(default=168, gt=0)
    medium: int = Field(default=72, gt=0)
    high: int = Field(default=24, gt=0)


class PredicateRule(_Section):
    """What policy says about one predicate."""

    functional: bool = False
    """A subject has one object at a time."""
    owner: bool = False
    """The owner's own statement is enough."""
    volatility: Volatility | None = None
    """Set for every proposition with this predicate, so that evidence is not split between several."""


class Thresholds(_Section):
    """Where one state ends and the next begins."""

    rejected_disbelief: int = Field(default=8000, ge=0, le=10_000)
    rejected_groups: int = Field(default=2, ge=1)
    contested_conflict: int = Field(default=2500, ge=0, le=10_000)
    contested_clear: int = Field(default=7000, ge=0, le=10_000)
    """Belief or disbelief from here on is clear in spite of conflict."""
    accepted_belief: int = Field(default=7000, ge=0, le=10_000)
    accepted_groups: int = Field(default=2, ge=1)
    accepted_class: int = Field(default=7000, ge=0, le=10_000)
    accepted_disbelief: int = Field(default=5000, ge=0, le=10_000)
    deprecated_freshness: int = Field(default=2000, ge=0, le=10_000)
    provisional_belief: int = Field(default=4000, ge=0, le=10_000)


_PREDICATES = {
    "name": PredicateRule(functional=True, owner=True, volatility="static"),
    "preference": PredicateRule(owner=True, volatility="low"),
    "prefers": PredicateRule(owner=True, volatility="low"),
    "decision": PredicateRule(owner=True, volatility="low"),
    "decided": PredicateRule(owner=True, volatility="low"),
    "date_of_birth": PredicateRule(functional=True, volatility="static"),
    "born_on": PredicateRule(functional=True, volatility="static"),
    "lives_in": PredicateRule(functional=True, volatility="low"),
    "works_for": PredicateRule(functional=True, volatility="low"),
}
"""What is declared unless the configuration says otherwise; its entries are added to these."""


class Policy(_Section):
    """All of it."""

    reliability: Reliability = Reliability()
    saturation: tuple[int, int, int] = (7000, 9000, 10_000)
    """For 1, 2 and 3 or more root observations of one group with distinct content."""
    half_life_h: HalfLife = HalfLife()
    cap: int = Field(default=9900, ge=0, le=10_000)
    """No amount of evidence is certainty."""
    model_cap: int = Field(default=3000, ge=0, le=10_000)
    """What all model inference together may add."""
    states: Thresholds = Thresholds()
    promote_freshness: int = Field(default=3500, ge=0, le=10_000)
    consolidate_every: int = Field(default=25, gt=0)
    """Observations between two consolidations that nobody asked for."""
    due_at_once: int = Field(default=256, gt=0)
    """Aged propositions that such a consolidation looks at; one that was asked for looks at all."""
    carry_over: int = Field(default=20, ge=0)
    owners: tuple[str, ...] = ("owner", "local")
    """Source ids that are the owner."""
    agent_ceiling: SourceClass = "tool_external"
    """The best class that an agent's own word can give. It is below a document: no agent alone makes a fact.

    Who raises it to where facts are made believes agents about their sources, and so about how many there are.
    """
    future_s: int = Field(default=300, ge=0)
    """How far `observed_at` may lie ahead of the log: clocks differ."""
    predicates: dict[str, PredicateRule] = Field(default_factory=dict)
    off: frozenset[str] = frozenset()
    """Of `SWITCHES`; only for measurements."""

    @cached_property
    def digest(self) -> str:
        """SHA-256 of all numbers."""
        plain = self.model_dump(mode="json")
        plain["off"] = sorted(plain["off"])
        return sha256(canonical(plain)).hexdigest()

    @cached_property
    def reliability_of(self) -> Mapping[str, int]:
        """Class → reliability."""
        return self.reliability.model_dump()

    @cached_property
    def agents_are_one_source(self) -> bool:
        """Whether all that one agent reports is of one independence group."""
        return "agent_ceiling" not in self.off and self.reliability_of[self.agent_ceiling] < self.states.accepted_class

    @cached_property
    def half_life_s(self) -> Mapping[str, int | None]:
        """Volatility → half-life in seconds; None: it never ages."""
        hours = {} if "decay" in self.off else self.half_life_h.model_dump()
        return {name: hours[name] * HOUR if name in hours else None for name in ("static", "low", "medium", "high")}

    @cached_property
    def _declared(self) -> Mapping[str, PredicateRule]:
        return {**_PREDICATES, **self.predicates}

    def predicate(self, name: str) -> PredicateRule:
        """What is declared about a predicate."""
        return self._declared.get(name, _UNDECLARED)

    def without(self, *rules: str) -> "Policy":
        """The same policy with some rules turned off, for measurements."""
        unknown = set(rules) - SWITCHES
        if unknown:
            raise ValueError(f"no such rule: {', '.join(sorted(unknown))}")
        return Policy(**{**self.model_dump(), "off": frozenset(rules)})


_UNDECLARED = PredicateRule()


class MemorySettings(Policy):
    """`[rooms.memory]`: the policy without what only measurements may turn off."""

    @model_validator(mode="before")
    @classmethod
    def _keep_every_rule(cls, given: Any) -> Any:
        if isinstance(given, Mapping) and "off" in given:
            raise ValueError("'off': no rule can be turned off")
        return given

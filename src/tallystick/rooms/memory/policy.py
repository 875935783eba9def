"""The numbers of memory's policy, `[rooms.memory]` in `tallystick.toml`. Every record contains their digest.

State is a function of the log and of these numbers; after a change the projection is rebuilt.
"""

from collections.abc import Mapping
from functools import cached_property, lru_cache
from hashlib import sha256
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from tallystick.gate.record.canonical import canonical
from tallystick.rooms.memory.ids import name_key, possessed
from tallystick.rooms.memory.model import SourceClass, Volatility
from tallystick.rooms.memory.ontology.attributes import default_ontology

HOUR = 3_600

SWITCHES = frozenset(
    {
        "lineage",
        "independence",
        "copies",
        "saturation",
        "decay",
        "model_cap",
        "conflict",
        "two_groups",
        "best_class",
        "rivals",
        "agent_ceiling",
        "rereading",
        "owner",
    }
)
"""Rules that a benchmark may turn off, to measure their effect. No configuration can."""


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Reliability(_Section):
    """How reliable a class of source is, in basis points."""

    test_result: int = Field(default=9500, ge=0, le=10_000)
    human: int = Field(default=9000, ge=0, le=10_000)
    tool_internal: int = Field(default=8500, ge=0, le=10_000)
    document: int = Field(default=7000, ge=0, le=10_000)
    tool_external: int = Field(default=5000, ge=0, le=10_000)
    model_inference: int = Field(default=2000, ge=0, le=10_000)


class HalfLife(_Section):
    """Hours after which a claim of this volatility is half as fresh; a static one never ages."""

    low: int = Field(default=168, gt=0)
    medium: int = Field(default=72, gt=0)
    high: int = Field(default=24, gt=0)


class PredicateRule(_Section):
    """Policy for one predicate."""

    functional: bool = False
    """A subject has one object at a time."""
    owner: bool = False
    """The owner's own statement suffices."""
    volatility: Volatility | None = None
    """Set for every proposition with this predicate, so that evidence is not split between several."""


class Thresholds(_Section):
    """The thresholds between statuses."""

    rejected_disbelief: int = Field(default=8000, ge=0, le=10_000)
    rejected_groups: int = Field(default=2, ge=1)
    contested_conflict: int = Field(default=2500, ge=0, le=10_000)
    contested_clear: int = Field(default=7000, ge=0, le=10_000)
    """From here on belief or disbelief is clear in spite of conflict."""
    accepted_belief: int = Field(default=7000, ge=0, le=10_000)
    accepted_groups: int = Field(default=2, ge=1)
    accepted_class: int = Field(default=7000, ge=0, le=10_000)
    accepted_disbelief: int = Field(default=5000, ge=0, le=10_000)
    deprecated_freshness: int = Field(default=2000, ge=0, le=10_000)
    provisional_belief: int = Field(default=4000, ge=0, le=10_000)


class Policy(_Section):
    """Memory's policy."""

    reliability: Reliability = Reliability()
    saturation: tuple[int, int, int] = (7000, 9000, 10_000)
    """For 1, 2 and 3 or more root observations of one group with distinct content."""
    half_life_h: HalfLife = HalfLife()
    cap: int = Field(default=9900, ge=0, le=10_000)
    """The most that any amount of evidence amounts to."""
    model_cap: int = Field(default=3000, ge=0, le=10_000)
    """The most that all model inference together adds."""
    states: Thresholds = Thresholds()
    promote_freshness: int = Field(default=3500, ge=0, le=10_000)
    consolidate_every: int = Field(default=25, gt=0)
    """Observations between two automatic consolidations."""
    due_at_once: int = Field(default=256, gt=0)
    """Aged propositions that an automatic consolidation reviews; a requested one reviews all."""
    carry_over: int = Field(default=20, ge=0)
    owners: tuple[str, ...] = ("owner", "local")
    """Source ids that are the owner."""
    agent_ceiling: SourceClass = "tool_external"
    """The best class that an agent's own report can have. It is below a document: no agent alone makes a fact.

    Raised to the class that acceptance requires, agents are believed about their sources, and so about their number.
    """
    future_s: int = Field(default=300, ge=0)
    """How far `observed_at` may be ahead of the log: clocks differ."""
    owner_about_self: bool = True
    """What the owner says of the owner is accepted, and no clock makes it too old."""
    predicates: dict[str, PredicateRule] = Field(default_factory=dict)
    off: frozenset[str] = frozenset()
    """Of `SWITCHES`; only for benchmarks."""

    @cached_property
    def digest(self) -> str:
        """SHA-256 of all numbers."""
        plain = self.model_dump(mode="json")
        plain["off"] = sorted(plain["off"])
        plain["ontology"] = default_ontology().digest
        return sha256(canonical(plain)).hexdigest()

    @cached_property
    def reliability_of(self) -> Mapping[str, int]:
        """Class → reliability."""
        return self.reliability.model_dump()

    @cached_property
    def agents_are_one_source(self) -> bool:
        """Whether everything that one agent reports is in one independence group."""
        return "agent_ceiling" not in self.off and self.reliability_of[self.agent_ceiling] < self.states.accepted_class

    @cached_property
    def half_life_s(self) -> Mapping[str, int | None]:
        """Volatility → half-life in seconds; None: it never ages."""
        hours = {} if "decay" in self.off else self.half_life_h.model_dump()
        return {name: hours[name] * HOUR if name in hours else None for name in ("static", "low", "medium", "high")}

    def predicate(self, name: str) -> PredicateRule:
        """Return the policy for a predicate: as configured, else as the ontology has its attribute."""
        configured = self.predicates.get(name) or self.predicates.get(name.split(":", 1)[0])
        if configured is not None:
            return configured
        return _rule_of(name)

    @cached_property
    def _owner_keys(self) -> tuple[tuple[str, str], ...]:
        return tuple((name_key(name), name_key(possessed(name, ""))) for name in self.owners)

    def is_owners(self, subject: str, predicate: str) -> bool:
        """Return whether the owner's own statement suffices: by the predicate, or because it is about the owner."""
        if self.predicate(predicate).owner:
            return True
        key = name_key(subject)
        return self.owner_about_self and any(key == name or key.startswith(own) for name, own in self._owner_keys)

    def without(self, *rules: str) -> "Policy":
        """Return the same policy with some rules turned off, for benchmarks."""
        unknown = set(rules) - SWITCHES
        if unknown:
            raise ValueError(f"no such rule: {', '.join(sorted(unknown))}")
        return Policy(**{**self.model_dump(), "off": frozenset(rules)})


_UNDECLARED = PredicateRule()


@lru_cache(maxsize=4_096)
def _rule_of(name: str) -> PredicateRule:
    """Return the policy for a predicate as the ontology has its attribute."""
    attribute = default_ontology().get(name)
    if attribute is None:
        return _UNDECLARED
    single = attribute.one or (attribute.one_a_kind and ":" in name)
    return PredicateRule(functional=single, owner=attribute.owner, volatility=attribute.volatility)


class MemorySettings(Policy):
    """`[rooms.memory]`: the policy without the switches that only benchmarks may use."""

    @model_validator(mode="before")
    @classmethod
    def _keep_every_rule(cls, given: Any) -> Any:
        if isinstance(given, Mapping) and "off" in given:
            raise ValueError("'off': no rule can be turned off")
        return given

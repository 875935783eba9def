"""The tier of an agent with a model: raised by verified work at the caps, lowered by failures.

    result                      completes the count             move
    verified at the cap         no                              count it
    verified at the cap         yes (5 of them)                 up
    verified below the cap      -                               stay
    neutral (abstained, …)      -                               stay
    failed                      no                              clamp: x 0.8 for the next 3 tasks
    failed                      yes (2 in the last 10)          down
    critical                    -                               down

Up and down reset all counts. A failure resets the count of runs at the cap. A clamped run is not at the tier's own cap,
so it does not count. At the first tier, down becomes clamp.
"""

from dataclasses import asdict, replace
from enum import StrEnum
from functools import cache
from typing import Any, Self

from tallystick.agents.caps import Caps, Curve
from tallystick.agents.problem import Problem, misfit
from tallystick.gate.admit.schema import CompiledSchema, compile_schema
from tallystick.records import record

FIRST_TIER = 1


class Result(StrEnum):
    """The result of a task, as it counts for the tier."""

    AT_CAP = "verified_at_cap"
    VERIFIED = "verified"
    NEUTRAL = "neutral"
    FAILED = "failed"
    CRITICAL = "critical"


class Move(StrEnum):
    """The effect of a result on a tier."""

    COUNT = "count"
    UP = "up"
    STAY = "stay"
    CLAMP = "clamp"
    DOWN = "down"


MOVES: dict[tuple[Result, bool], Move] = {
    (Result.AT_CAP, False): Move.COUNT,
    (Result.AT_CAP, True): Move.UP,
    (Result.VERIFIED, False): Move.STAY,
    (Result.NEUTRAL, False): Move.STAY,
    (Result.FAILED, False): Move.CLAMP,
    (Result.FAILED, True): Move.DOWN,
    (Result.CRITICAL, False): Move.DOWN,
}
"""(Result, whether it completes its count) → move."""


@record
class TierPolicy:
    """The parameters of the table above."""

    steps: Curve = Curve(offset=2, mult=3.0, growth=1.45, ceiling=40)
    active_issues: Curve = Curve(offset=1, mult=1.7, growth=1.35, ceiling=14)
    output_tokens: Curve = Curve(offset=0, mult=600, growth=1.60, ceiling=12_000)
    tool_actions: Curve = Curve(offset=2, mult=1.4, growth=1.50, ceiling=20)
    top_tier: int = 8
    """With the default curves every cap reaches its ceiling here, so a higher tier would change nothing."""
    promote_after: int = 5
    clamp_factor: float = 0.8
    clamp_tasks: int = 3
    failures_down: int = 2
    failure_window: int = 10

    def caps(self, tier: int) -> Caps:
        """Return the caps of a tier."""
        return Caps(
            steps=self.steps.at(tier),
            active_issues=self.active_issues.at(tier),
            output_tokens=self.output_tokens.at(tier),
            tool_actions=self.tool_actions.at(tier),
        )

    def as_dict(self) -> dict[str, Any]:
        """The wire form."""
        return asdict(self)

    @classmethod
    def from_dict(cls, value: Any) -> Self | Problem:
        """Read the wire form; missing fields have their defaults."""
        problem = misfit(_policy_schema(), value, code="tier_policy_invalid", what="The policy cannot be taken")
        if problem is not None:
            return problem
        given: dict[str, Any] = {}
        for name, part in value.items():
            given[name] = Curve(**part) if isinstance(part, dict) else part
        return cls(**given)


@record
class Standing:
    """The tier and counts of an agent with a model."""

    agent_id: str
    model: str
    tier: int = FIRST_TIER
    at_cap: int = 0
    """Verified runs at the cap since the tier changed or the last failure."""
    clamp_left: int = 0
    """Number of further tasks under the clamp."""
    recent: tuple[bool, ...] = ()
    """The last results at this tier, oldest first; true: failed."""
    tasks: int = 0
    """Total number of tasks."""

    def caps(self, policy: TierPolicy) -> Caps:
        """Return the caps of the next task, clamped if a clamp is active."""
        caps = policy.caps(min(self.tier, policy.top_tier))
        return caps.clamped(policy.clamp_factor) if self.clamp_left else caps

    def after(self, result: Result, policy: TierPolicy) -> tuple["Standing", Move]:
        """Return the standing after one more task, and the move that led to it."""
        counted = Result.VERIFIED if result is Result.AT_CAP and self.clamp_left else result
        seen = (*self.recent, counted in {Result.FAILED, Result.CRITICAL})[-policy.failure_window :]
        move = MOVES[counted, self._completes(counted, seen, policy)]
        if (move is Move.DOWN and self.tier == FIRST_TIER) or (move is Move.UP and self.tier >= policy.top_tier):
            move = Move.CLAMP if move is Move.DOWN else Move.STAY
        after = replace(self, recent=seen, tasks=self.tasks + 1, clamp_left=max(0, self.clamp_left - 1))
        return _APPLIED[move](after, policy), move

    def as_dict(self) -> dict[str, Any]:
        """The wire form."""
        return {**asdict(self), "recent": list(self.recent)}

    @classmethod
    def from_dict(cls, value: Any) -> Self | Problem:
        """Read the wire form."""
        problem = misfit(_standing_schema(), value, code="tiers_damaged", what="A standing cannot be read")
        return problem or cls(**{**value, "recent": tuple(value["recent"])})

    def _completes(self, result: Result, seen: tuple[bool, ...], policy: TierPolicy) -> bool:
        if result is Result.AT_CAP:
            return self.at_cap + 1 >= policy.promote_after
        return result is Result.FAILED and sum(seen) >= policy.failures_down


@record
class Ladder:
    """The tier policy, and the tier of each agent with each model."""

    policy: TierPolicy = TierPolicy()
    standings: tuple[Standing, ...] = ()

    def standing(self, agent_id: str, model: str) -> Standing:
        """Return the standing of an agent with a model; a new one at the first tier if nothing was counted."""
        met = (each for each in self.standings if (each.agent_id, each.model) == (agent_id, model))
        return next(met, Standing(agent_id=agent_id, model=model))

    def caps(self, agent_id: str, model: str) -> Caps:
        """Return the caps of the next task."""
        return self.standing(agent_id, model).caps(self.policy)

    def with_standing(self, standing: Standing) -> "Ladder":
        """Return a copy with one standing replaced."""
        key = (standing.agent_id, standing.model)
        others = tuple(each for each in self.standings if (each.agent_id, each.model) != key)
        return Ladder(policy=self.policy, standings=(*others, standing))


def _count(standing: Standing, _policy: TierPolicy) -> Standing:
    return replace(standing, at_cap=standing.at_cap + 1)


def _up(standing: Standing, _policy: TierPolicy) -> Standing:
    return replace(standing, tier=standing.tier + 1, at_cap=0, clamp_left=0, recent=())


def _stay(standing: Standing, _policy: TierPolicy) -> Standing:
    return standing


def _clamp(standing: Standing, policy: TierPolicy) -> Standing:
    return replace(standing, at_cap=0, clamp_left=policy.clamp_tasks)


def _down(standing: Standing, policy: TierPolicy) -> Standing:
    tier = max(FIRST_TIER, min(standing.tier, policy.top_tier) - 1)
    return replace(standing, tier=tier, at_cap=0, clamp_left=0, recent=())


_APPLIED = {Move.COUNT: _count, Move.UP: _up, Move.STAY: _stay, Move.CLAMP: _clamp, Move.DOWN: _down}


@cache
def _policy_schema() -> CompiledSchema:
    return compile_schema(POLICY_SCHEMA, closed=True)


@cache
def _standing_schema() -> CompiledSchema:
    return compile_schema(_STANDING_SCHEMA, closed=True)


_CURVE = {
    "type": "object",
    "additionalProperties": False,
    "required": ["offset", "mult", "growth", "ceiling"],
    "properties": {
        "offset": {"type": "number", "minimum": 0, "maximum": 1_000_000},
        "mult": {"type": "number", "minimum": 0.5, "maximum": 1_000_000},
        # With a falling curve a promotion would lower the caps.
        "growth": {"type": "number", "minimum": 1, "maximum": 10},
        "ceiling": {"type": "integer", "minimum": 1, "maximum": 10_000_000},
    },
}
POLICY_SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "steps": _CURVE,
        "active_issues": _CURVE,
        "output_tokens": _CURVE,
        "tool_actions": _CURVE,
        "top_tier": {"type": "integer", "minimum": 1, "maximum": 50},
        "promote_after": {"type": "integer", "minimum": 1, "maximum": 1000},
        "clamp_factor": {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
        "clamp_tasks": {"type": "integer", "minimum": 0, "maximum": 100},
        "failures_down": {"type": "integer", "minimum": 1, "maximum": 100},
        "failure_window": {"type": "integer", "minimum": 1, "maximum": 1000},
    },
}
_STANDING_SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["agent_id", "model", "tier", "at_cap", "clamp_left", "recent", "tasks"],
    "properties": {
        "agent_id": {"type": "string", "minLength": 1},
        "model": {"type": "string"},
        "tier": {"type": "integer", "minimum": FIRST_TIER},
        "at_cap": {"type": "integer", "minimum": 0},
        "clamp_left": {"type": "integer", "minimum": 0},
        "recent": {"type": "array", "items": {"type": "boolean"}},
        "tasks": {"type": "integer", "minimum": 0},
    },
}

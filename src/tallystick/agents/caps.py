"""The caps of an agent at its tier: four growth curves, and the clamp that reduces them."""

from math import floor
from typing import Any

from tallystick.records import record

_EDGE = 1e-9
"""Tolerance for float rounding: 0.29 · 100 is 28.999999999999996 and must count as 29."""


@record
class Curve:
    """`min(round(offset + mult · growth^(tier - 1)), ceiling)`, rounding halves up."""

    offset: float
    mult: float
    growth: float
    ceiling: int

    def at(self, tier: int) -> int:
        """Return the cap at a tier; tiers start at 1."""
        return min(floor(self.offset + self.mult * self.growth ** (tier - 1) + 0.5 + _EDGE), self.ceiling)


@record
class Caps:
    """The caps of one task."""

    steps: int
    active_issues: int
    output_tokens: int
    tool_actions: int

    def clamped(self, factor: float) -> "Caps":
        """Scale the caps by `factor`, but never to zero: an agent without any allowance could never recover."""
        return Caps(
            steps=_part(self.steps, factor),
            active_issues=_part(self.active_issues, factor),
            output_tokens=_part(self.output_tokens, factor),
            tool_actions=_part(self.tool_actions, factor),
        )

    def reached(self, *, steps: int = 0, output_tokens: int = 0, tool_actions: int = 0) -> bool:
        """Return whether a run reached one of the caps: only then is there evidence that higher caps would be used."""
        return steps >= self.steps or output_tokens >= self.output_tokens or tool_actions >= self.tool_actions

    def as_dict(self) -> dict[str, Any]:
        """The wire form."""
        return {
            "steps": self.steps,
            "active_issues": self.active_issues,
            "output_tokens": self.output_tokens,
            "tool_actions": self.tool_actions,
        }


def _part(cap: int, factor: float) -> int:
    return max(1, floor(cap * factor + _EDGE))

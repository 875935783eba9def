"""How much an agent may do at its tier: four curves, and what a clamp leaves of them."""

from math import floor
from typing import Any

from tallystick.records import record

_EDGE = 1e-9
"""0.29 · 100 is 28.999999999999996: a hair below a whole number counts as the number."""


@record
class Curve:
    """`min(round(offset + mult · growth^(tier - 1)), ceiling)`, halves up."""

    offset: float
    mult: float
    growth: float
    ceiling: int

    def at(self, tier: int) -> int:
        """The cap at a tier; the first is 1."""
        return min(floor(self.offset + self.mult * self.growth ** (tier - 1) + 0.5 + _EDGE), self.ceiling)


@record
class Caps:
    """What one task may use."""

    steps: int
    active_issues: int
    output_tokens: int
    tool_actions: int

    def clamped(self, factor: float) -> "Caps":
        """A part of it, but never nothing: an agent that may do nothing can never show that it does better."""
        return Caps(
            steps=_part(self.steps, factor),
            active_issues=_part(self.active_issues, factor),
            output_tokens=_part(self.output_tokens, factor),
            tool_actions=_part(self.tool_actions, factor),
        )

    def reached(self, *, steps: int = 0, output_tokens: int = 0, tool_actions: int = 0) -> bool:
        """Whether a run used all that one of the caps allows: only such a run shows that more would be used well."""
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

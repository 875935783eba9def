"""Limits of a turn: steps by tier, bytes by kind of turn, tokens and cost by configuration.

This module only computes the limits; the gate counts and enforces them (`gate.decide.budgets`).
"""

from dataclasses import replace

from tallystick.gate.decide.budgets import narrowed
from tallystick.gate.decide.verdict import UNLIMITED, Limits
from tallystick.records import record

MAX_TOOL_STEPS = 6
"""Tool calls per turn for an agent without a tier."""
CONFERENCE_STEPS = 6
"""Minimum tool calls of a conference's tool phase, which collects data for all agents."""
STEP_BYTES, TURN_BYTES = 8_000, 16_000
"""Bytes of tool output shown to a model, per result and per turn: two full results, or several short ones."""
CONFERENCE_STEP_BYTES, CONFERENCE_TURN_BYTES = 12_000, 48_000


@record
class Budget:
    """The limits with which a turn starts."""

    limits: Limits
    step_bytes: int

    @property
    def steps(self) -> int:
        """The value for `Request.max_steps`."""
        return MAX_TOOL_STEPS if self.limits.steps is None else self.limits.steps


def budget_for(
    configured: Limits,
    step_bytes: int = STEP_BYTES,
    *,
    tool_actions: int | None = None,
    conference: bool = False,
    asked: Limits = UNLIMITED,
) -> Budget:
    """Compute the budget of a turn.

    Args:
        configured: The configured limits (`gate.decide.budgets.limits_from`).
        step_bytes: The configured maximum bytes per result.
        tool_actions: The step limit of the agent's tier; it replaces the configured steps.
        conference: Whether the turn belongs to a conference.
        asked: Limits from the request; they can only lower the budget.
    """
    steps = configured.steps if tool_actions is None else tool_actions
    most = TURN_BYTES if configured.bytes is None else configured.bytes
    if conference:
        steps = max(CONFERENCE_STEPS, MAX_TOOL_STEPS if steps is None else steps)
        # A configured limit above the conference default applies to conferences too.
        step_bytes, most = max(step_bytes, CONFERENCE_STEP_BYTES), max(most, CONFERENCE_TURN_BYTES)
    given = replace(configured, steps=MAX_TOOL_STEPS if steps is None else steps, bytes=most)
    return Budget(limits=narrowed(given, asked), step_bytes=step_bytes)

"""How much a turn may do: steps by tier, bytes by kind of turn, tokens and cost by configuration.

The gate counts and cuts (`gate.decide.budgets`); here is only how much it is told to allow.
"""

from dataclasses import replace

from tallystick.gate.decide.budgets import narrowed
from tallystick.gate.decide.verdict import UNLIMITED, Limits
from tallystick.records import record

MAX_TOOL_STEPS = 6
"""Tool calls of a turn whose agent has no tier."""
CONFERENCE_STEPS = 6
"""A conference's tool phase gathers for everyone, so it gets at least this many."""
STEP_BYTES, TURN_BYTES = 8_000, 16_000
"""Of tool output that a model is shown: two full results, or several short ones."""
CONFERENCE_STEP_BYTES, CONFERENCE_TURN_BYTES = 12_000, 48_000


@record
class Budget:
    """What a turn is begun with."""

    limits: Limits
    step_bytes: int

    @property
    def steps(self) -> int:
        """For `Request.max_steps`."""
        return MAX_TOOL_STEPS if self.limits.steps is None else self.limits.steps


def budget_for(
    configured: Limits,
    step_bytes: int = STEP_BYTES,
    *,
    tool_actions: int | None = None,
    conference: bool = False,
    asked: Limits = UNLIMITED,
) -> Budget:
    """What a turn may spend.

    Args:
        configured: The configuration's limits (`gate.decide.budgets.limits_from`).
        step_bytes: The configuration's bytes of one result.
        tool_actions: The cap of the agent's tier; it stands in place of the configured steps.
        conference: Whether the turn belongs to a conference.
        asked: What the request wants to stay under; it can only narrow.
    """
    steps = configured.steps if tool_actions is None else tool_actions
    most = TURN_BYTES if configured.bytes is None else configured.bytes
    if conference:
        steps = max(CONFERENCE_STEPS, MAX_TOOL_STEPS if steps is None else steps)
        # Somebody who configured more than a conference has by default meant it for conferences too.
        step_bytes, most = max(step_bytes, CONFERENCE_STEP_BYTES), max(most, CONFERENCE_TURN_BYTES)
    given = replace(configured, steps=MAX_TOOL_STEPS if steps is None else steps, bytes=most)
    return Budget(limits=narrowed(given, asked), step_bytes=step_bytes)

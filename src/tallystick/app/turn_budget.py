"""The budget of a turn: the configured limits, narrowed, or a budget that replaces them."""

from tallystick.gate.decide.budgets import limits_from, narrowed
from tallystick.gate.decide.verdict import UNLIMITED, Limits
from tallystick.settings import LimitSettings
from tallystick.turns.limits import Budget


def budget_of(configured: LimitSettings, limits: Limits | Budget | None, step_bytes: int | None) -> Budget:
    """Compute the budget of a new turn.

    Args:
        configured: The configured limits.
        limits: Narrower limits; or a budget (of a tier or a conference) that already respects the configuration.
        step_bytes: The maximum bytes of one output shown to the model; overrides the budget or configuration.
    """
    if isinstance(limits, Budget):
        return Budget(limits=limits.limits, step_bytes=step_bytes or limits.step_bytes)
    return Budget(
        limits=narrowed(limits_from(configured), limits or UNLIMITED),
        step_bytes=step_bytes or configured.bytes_per_step,
    )

"""What a turn may spend: the configuration's limits, narrowed, or a budget in their place."""

from tallystick.gate.decide.budgets import limits_from, narrowed
from tallystick.gate.decide.verdict import UNLIMITED, Limits
from tallystick.settings import LimitSettings
from tallystick.turns.limits import Budget


def budget_of(configured: LimitSettings, limits: Limits | Budget | None, step_bytes: int | None) -> Budget:
    """What a turn is begun with.

    Args:
        configured: The configuration's.
        limits: Narrower ones; or a budget (a tier's, a conference's), which was already held against the configuration.
        step_bytes: How much of one output the model is shown, if not as usual.
    """
    if isinstance(limits, Budget):
        return Budget(limits=limits.limits, step_bytes=step_bytes or limits.step_bytes)
    return Budget(
        limits=narrowed(limits_from(configured), limits or UNLIMITED),
        step_bytes=step_bytes or configured.bytes_per_step,
    )

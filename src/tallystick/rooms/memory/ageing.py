"""When to look again at what age alone may change.

To weigh every fact anew a few times per half-life costs more than to take it in. So a fact is only looked at when its
status may be another: age lowers belief and freshness by known steps, and how many of them its status surely bears is
worked out here. Reading computes the present status in any case.
"""

from tallystick.rooms.memory.nouns import FULL, Figures, Status
from tallystick.rooms.memory.policy import Policy

LOOKS = 8
"""Looks per half-life where nothing better is known."""
ROUNDING = 10
"""What the roundings of one weighing may come to, in basis points."""
_MOST = 4 * LOOKS


def look_again_in(status: Status, figures: Figures, policy: Policy, half_life: int | None) -> int | None:
    """Seconds after which age may have changed a status; None: it cannot, until somebody says something new."""
    if half_life is None:
        return None
    stale = figures.freshness < policy.states.deprecated_freshness
    if stale and not figures.contradiction:
        return None  # deprecated or tentative, and stays so
    return max(half_life * _steps(status, figures, policy) // LOOKS, 1)


def _steps(status: Status, figures: Figures, policy: Policy) -> int:
    """How many eighths of a half-life it stays what it is, at least."""
    # What is contradicted may go up as well as down, and what is accepted or rejected hangs on more than two figures.
    if figures.contradiction or figures.failed_test or status not in {"provisional", "tentative"}:
        return 1
    steps = _bears(figures.freshness, policy.states.deprecated_freshness + ROUNDING)
    if status == "provisional":
        # Of several groups, those that count as independent may be others when some have aged more.
        single = figures.support_groups <= 1
        steps = min(steps, _bears(figures.belief, policy.states.provisional_belief + ROUNDING) if single else 1)
    return max(steps, 1)


def _bears(value: int, least: int) -> int:
    """For how many steps a figure that age lowers stays at least what it has to be."""
    steps = 0
    while steps < _MOST and value * _LOWERED[steps + 1] // FULL >= least:
        steps += 1
    return steps


def lowered(steps: int) -> int:
    """What is left of 10,000 after some steps, at least: freshness falls in straight lines from half to half."""
    halvings, rest = divmod(steps, LOOKS)
    return (FULL * LOOKS // (LOOKS + rest)) >> halvings


_LOWERED = tuple(map(lowered, range(_MOST + 1)))

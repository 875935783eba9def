"""How interest in an issue wanes: counted in activations of the agent, not in days.

An agent that is asked once a month should not have forgotten everything by then, and one that is asked a hundred times
a day should not keep everything in mind. So what counts is how often the agent has been at work since it last had to
do with the issue.
"""

from collections.abc import Iterable, Mapping

LOWEST, HIGHEST = 1, 5
STEPS: tuple[tuple[int, int], ...] = ((30, 4), (60, 3), (120, 2), (200, 1))
"""After so many activations without touching the issue, interest is at most this."""
DEFAULT_FLOORS: Mapping[str, int] = {"pinned": 5, "blocker": 4, "canon": 3, "decision": 3, "continuity": 2}
"""Tag → what interest does not fall below."""


def interest_after(interest: int, activations: int, *, floor: int = LOWEST) -> int:
    """What interest has come to.

    Args:
        interest: When the issue was last touched, 1 to 5.
        activations: Of the agent since then.
        floor: What it does not fall below by itself; less interest than that was somebody's wish, and stays.
    """
    most = min((level for after, level in STEPS if activations >= after), default=HIGHEST)
    return min(interest, max(floor, most))


def floor_of(tags: Iterable[str], floors: Mapping[str, int] = DEFAULT_FLOORS) -> int:
    """The highest floor that one of the tags gives."""
    return max((floors[tag] for tag in tags if tag in floors), default=LOWEST)

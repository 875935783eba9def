"""Convert rooms' problems to problem payloads: the code determines the status and starts the hint."""

from collections.abc import Mapping
from typing import TypeVar

from tallystick.agents.problem import Problem
from tallystick.doors.http.problems import Refused
from tallystick.gate.codes import Category

T = TypeVar("T")


def granted(value: T | Problem, statuses: Mapping[str, int]) -> T:
    """Return the value unless it is a problem.

    Args:
        value: A room's result.
        statuses: Code → status, for codes whose status is not 400.

    Raises:
        Refused: The value is a problem.
    """
    if not isinstance(value, Problem):
        return value
    status = statuses.get(value.code, 400)
    category = _CATEGORIES.get(status, Category.DOWNSTREAM_ERROR)
    raise Refused(status, category, value.message, hint=" ".join(filter(None, (value.code, value.pointer))))


_CATEGORIES = {
    400: Category.VALIDATION_ERROR, 403: Category.RBAC_DENIED, 429: Category.BUDGET_EXCEEDED,
}  # fmt: skip

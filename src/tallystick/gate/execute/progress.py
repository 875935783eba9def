"""Progress reports of a running tool; the interface of the call (HTTP, MCP, command line) may use or ignore them."""

from collections.abc import Callable
from contextvars import ContextVar
from math import isfinite

from tallystick.records import record


@record
class Progress:
    """One progress report."""

    done: float
    total: float | None = None
    message: str | None = None


LISTENER: ContextVar[Callable[[Progress], None] | None] = ContextVar("tallystick_progress", default=None)
"""Set by the interface for one call. It may be called on the tool's thread, and must neither block nor raise."""


def report_progress(done: float, total: float | None = None, message: str | None = None) -> None:
    """Report the progress of the running tool; does nothing without a listener or in a separate process.

    Args:
        done: How much is done; should increase with each report.
        total: The total amount, if known.
        message: The current activity.
    """
    listener = LISTENER.get()
    # JSON has no NaN or infinity.
    if listener is not None and isfinite(done) and (total is None or isfinite(total)):
        listener(Progress(done=done, total=total, message=message))

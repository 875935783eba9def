"""How a running tool says how far it is; whoever made the call decides whether anybody hears it."""

from collections.abc import Callable
from contextvars import ContextVar
from math import isfinite

from tallystick.records import record


@record
class Progress:
    """One report."""

    done: float
    total: float | None = None
    message: str | None = None


LISTENER: ContextVar[Callable[[Progress], None] | None] = ContextVar("tallystick_progress", default=None)
"""Set by a door around a call. It may be called on a tool's own thread, and must neither wait nor raise."""


def report_progress(done: float, total: float | None = None, message: str | None = None) -> None:
    """Say how far the running tool is; without a listener, and in a process of its own, this does nothing.

    Args:
        done: How much is done; each report should say more than the one before.
        total: How much there is, where that is known.
        message: What is being done.
    """
    listener = LISTENER.get()
    # What is not a number would not survive JSON.
    if listener is not None and isfinite(done) and (total is None or isfinite(total)):
        listener(Progress(done=done, total=total, message=message))

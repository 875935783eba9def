"""Bound request bodies in size and time, and detect truncated ones.

The application reads through `Body.receive`. A fault is raised inside the application, so that it never mistakes a
partial body for a complete one. The fault is also stored, so that the guard answers it however the application handles
the exception.
"""

import asyncio
from enum import Enum
from time import monotonic
from typing import Any

from tallystick.doors.http.asgi import Message, Receive


class BodyFault(Enum):
    """Faults of a body, with their status."""

    TOO_LARGE = 413
    TOO_SLOW = 408
    CUT_OFF = 499
    """The client disconnected before the end: nobody reads the response, but metrics count it."""


class BodyRefused(Exception):  # noqa: N818 - the name states the condition
    """Raised in the application when the rest of the body will not arrive."""


class Body:
    """The body of one request."""

    __slots__ = ("_deadlines", "_left", "_receive", "_task", "_unread", "fault")

    def __init__(self, receive: Receive, *, limit: int, deadlines: "Deadlines") -> None:
        self._receive = receive
        self._left = limit
        self._deadlines = deadlines
        self._task: asyncio.Task[Any] | None = None
        """The task that is waiting for more of the body."""
        self._unread = True
        self.fault: BodyFault | None = None
        deadlines.start(self)

    async def receive(self) -> Message:
        """Receive the next message; raise `BodyRefused` if the body exceeds its limits."""
        if not self._unread:
            return await self._receive()
        if self.fault is not None:
            raise BodyRefused(self.fault.name)
        self._task = asyncio.current_task()
        try:
            message = await self._receive()
        except asyncio.CancelledError:
            if not self._own_cancellation():
                raise
            raise BodyRefused(BodyFault.TOO_SLOW.name) from None
        finally:
            self._task = None
        if message["type"] != "http.request":
            raise self._refused(BodyFault.CUT_OFF)
        self._left -= len(message.get("body", b""))
        if self._left < 0:
            raise self._refused(BodyFault.TOO_LARGE)
        if not message.get("more_body"):
            self.close()
        return message

    def close(self) -> None:
        """Stop supervising the body; further messages only tell whether the client disconnects."""
        self._unread = False
        self._deadlines.stop(self)

    def expire(self) -> None:
        """Time out: cancel the task that waits for more of the body; a running tool is not interrupted."""
        self.fault = self.fault or BodyFault.TOO_SLOW
        if self._task is not None:
            self._task.cancel()

    def _own_cancellation(self) -> bool:
        """Return whether the cancellation came only from `expire`."""
        return self.fault is not None and self._task is not None and self._task.uncancel() == 0

    def _refused(self, fault: BodyFault) -> BodyRefused:
        self.fault = fault
        return BodyRefused(fault.name)


class Deadlines:
    """One timer for all bodies in progress: a timer per request would cost more than the rest of the guard."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._due: dict[Body, float] = {}
        """Body → deadline; in order of time, since all have the same timeout."""
        self._timer: asyncio.TimerHandle | None = None

    def start(self, body: Body) -> None:
        """Start the timeout of a body."""
        self._due[body] = monotonic() + self._seconds
        if self._timer is None:
            self._arm(self._seconds)

    def stop(self, body: Body) -> None:
        """Stop the timeout of a body."""
        self._due.pop(body, None)

    def _arm(self, delay: float) -> None:
        self._timer = asyncio.get_running_loop().call_later(delay, self._sweep)

    def _sweep(self) -> None:
        self._timer = None
        now = monotonic()
        for body, due in list(self._due.items()):
            if due > now:
                self._arm(due - now)
                return
            self.stop(body)
            body.expire()

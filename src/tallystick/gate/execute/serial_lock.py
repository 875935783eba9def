"""A lock that lets one call at a time decide and run, whichever event loops the callers use.

An `asyncio.Lock` belongs to one loop; a gate is called from several (the server's, the caller's, the one behind
`call_sync`). Calls that a running tool makes itself wait for each other, but not for the call that makes them.
"""

import asyncio
import os
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

Waiter = tuple[asyncio.AbstractEventLoop, "asyncio.Future[None]"]


class SerialLock:
    """A first-come, first-served lock for the calls of one process."""

    def __init__(self) -> None:
        self._taken = False
        self._start()

    async def acquire(self) -> None:
        """Wait until all earlier calls have released the lock. A cancelled wait leaves the queue."""
        if self._pid != os.getpid():
            self._start()  # the holder did not survive the fork
        loop = asyncio.get_running_loop()
        waiter = (loop, loop.create_future())
        with self._guard:
            if not self._taken:
                self._taken = True
                return
            self._waiting.append(waiter)
        try:
            await waiter[1]
        except asyncio.CancelledError:
            if not self._leave(waiter):
                self.release()  # it was handed over at the same moment
            raise

    def release(self) -> None:
        """Hand the lock to the next waiter whose loop still runs."""
        with self._guard:
            while self._waiting:
                loop, turn = self._waiting.popleft()
                try:
                    loop.call_soon_threadsafe(_settle, turn)
                except RuntimeError:  # its loop is closed
                    continue
                return
            self._taken = False

    def _leave(self, waiter: Waiter) -> bool:
        with self._guard:
            if waiter not in self._waiting:
                return False
            self._waiting.remove(waiter)
            return True

    def _start(self) -> None:
        self._pid = os.getpid()
        self._guard = threading.Lock()
        self._waiting: deque[Waiter] = deque()
        self._taken = False


_INNER: ContextVar[Mapping[SerialLock, SerialLock]] = ContextVar("tallystick_inner_locks", default={})  # noqa: B039
"""For each lock that a surrounding call holds: the lock that the calls inside it use instead."""


def lock_here(lock: SerialLock) -> SerialLock:
    """Return the lock to acquire in this context: `lock`, or an inner one if a surrounding call holds it."""
    inner = _INNER.get()
    while lock in inner:
        lock = inner[lock]
    return lock


@contextmanager
def released_after(lock: SerialLock) -> Iterator[None]:
    """Give the calls inside this block an inner lock, and release an acquired lock at the end of the block."""
    before = _INNER.get()
    _INNER.set({**before, lock: SerialLock()})
    try:
        yield
    finally:
        _INNER.set(before)
        lock.release()


def _settle(turn: "asyncio.Future[None]") -> None:
    if not turn.done():
        turn.set_result(None)

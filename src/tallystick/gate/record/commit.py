"""Group commit: calls that run together share one fsync.

Whoever has a record puts it in the queue and waits. One thread takes everything that is queued, stores it with one
write and one fsync, and wakes all who waited: the coroutines of a loop with a single call into it. A waiter that is
cancelled takes nothing back: its record is stored all the same.
"""

import asyncio
import os
from collections import defaultdict
from collections.abc import Callable, Sequence
from threading import Condition, Event, Thread
from typing import Any

from tallystick.errors import LedgerError
from tallystick.gate.record.journal import Seal, Sealed

_End = Sealed | BaseException


class _Waiter:
    """Somebody who waits in a thread."""

    __slots__ = ("done", "outcome", "seal")

    def __init__(self, seal: Seal) -> None:
        self.seal = seal
        self.done = Event()
        self.outcome: _End | None = None


class _AsyncWaiter:
    """Somebody who waits in an event loop."""

    __slots__ = ("future", "loop", "seal")

    def __init__(self, seal: Seal) -> None:
        self.seal = seal
        self.loop = asyncio.get_running_loop()
        self.future: asyncio.Future[Sealed] = self.loop.create_future()


class GroupCommit:
    """The queue and its one thread."""

    def __init__(
        self, append: Callable[[Sequence[Seal]], list[Sealed]], *, idle: Callable[[], None], idle_s: float
    ) -> None:
        self._append = append
        self._idle = idle
        self._idle_s = idle_s
        self._thread: Thread | None = None
        self._start()

    def store(self, seal: Seal) -> Sealed:
        """Store a record and wait in this thread until it is durable."""
        waiter = _Waiter(seal)
        self._put(waiter)
        waiter.done.wait()
        if isinstance(waiter.outcome, Sealed):
            return waiter.outcome
        raise waiter.outcome or LedgerError("The ledger is closed.", code="ledger_closed")

    async def store_async(self, seal: Seal) -> Sealed:
        """Store a record and wait in this loop until it is durable."""
        waiter = _AsyncWaiter(seal)
        self._put(waiter)
        return await waiter.future

    def close(self) -> None:
        """Store what is queued, then stop."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _start(self) -> None:
        self._pid = os.getpid()
        self._changed = Condition()
        self._queue: list[_Waiter | _AsyncWaiter] = []
        self._closed = False
        self._thread = None

    def _put(self, waiter: _Waiter | _AsyncWaiter) -> None:
        if os.getpid() != self._pid:
            self._start()  # a forked child has the queue but not the thread
        with self._changed:
            if self._closed:
                raise LedgerError("The ledger is closed.", code="ledger_closed")
            if self._thread is None:
                self._thread = Thread(target=self._run, name="tally-commit", daemon=True)
                self._thread.start()
            self._queue.append(waiter)
            self._changed.notify()

    def _run(self) -> None:
        changed, idle = self._changed, True
        while True:
            with changed:
                if not self._queue and not self._closed:
                    changed.wait(None if idle else self._idle_s)
                batch, self._queue = self._queue, []
                closed = self._closed
            if batch:
                idle = False
                _tell(batch, self._store([waiter.seal for waiter in batch]))
            elif closed:
                return
            else:
                idle = True
                self._idle()

    def _store(self, seals: Sequence[Seal]) -> Sequence[_End]:
        try:
            return self._append(seals)
        except LedgerError as error:
            return [error] * len(seals)
        except BaseException as error:  # noqa: BLE001 - goes to whoever waits; the thread must live on
            if len(seals) == 1:
                return [error]
        # One of them cannot be sealed, and nothing was stored: each on its own, so that the others do not suffer.
        return [self._store([seal])[0] for seal in seals]


def _tell(batch: Sequence[_Waiter | _AsyncWaiter], outcomes: Sequence[_End]) -> None:
    loops: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[Any], _End]]] = defaultdict(list)
    for waiter, outcome in zip(batch, outcomes, strict=True):
        if isinstance(waiter, _Waiter):
            waiter.outcome = outcome
            waiter.done.set()
        else:
            loops[waiter.loop].append((waiter.future, outcome))
    for loop, settled in loops.items():
        try:
            loop.call_soon_threadsafe(_settle, settled)
        except RuntimeError:
            continue  # the loop was closed while it waited; the records are stored all the same


def _settle(settled: Sequence[tuple["asyncio.Future[Any]", _End]]) -> None:
    for future, outcome in settled:
        if future.done():
            continue
        if isinstance(outcome, Sealed):
            future.set_result(outcome)
        else:
            future.set_exception(outcome)

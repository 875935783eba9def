"""Group commit: concurrent calls share one fsync.

Callers queue their records and wait. One thread takes the whole queue, stores it with one write and one fsync, and
wakes all waiters; the coroutines of one event loop are woken by a single call into it. Cancelling a waiter does not
withdraw its record: it is stored anyway.
"""

import asyncio
import contextlib
import os
from collections import deque
from collections.abc import Callable, Sequence
from itertools import islice
from threading import Event, Lock, Thread
from time import monotonic
from typing import Any
from weakref import WeakSet

from tallystick.errors import LedgerError
from tallystick.gate.record.journal import Seal, SignedRecord
from tallystick.gate.record.storing import End, Round, Storing

IDLE_S = 10.0
"""Idle time after the last record until a checkpoint is written, at most."""
QUICK_S = 0.002
"""Longest commit that may block the event loop of a single caller; waking a thread costs a good part of that."""

COMPANY_LASTS = 256
"""Records to batch after concurrent callers were seen, before inline storing is tried again.

Several rounds for many callers, so that the retry costs them little; a very short time for a single caller.
"""

MOST_IN_A_ROW = 16
"""Records that one task stores inline per iteration of the event loop; a check for other tasks costs one record."""


class GroupCommit:
    """The commit queue and its single writer thread."""

    _just_stored: asyncio.Task[Any] | None
    """The task that stored inline in this iteration of the event loop."""
    _company: int
    """Records still to be batched before inline storing is tried again."""

    def __init__(
        self,
        append: Callable[[Sequence[Seal]], list[SignedRecord]],
        append_one: Callable[[Seal], SignedRecord],
        *,
        idle: Callable[[], None],
        idle_s: float = IDLE_S,
    ) -> None:
        self._append, self._append_one, self._append_alone = append, append_one, append_one
        self._settle: Callable[[], None] | None = None
        self._idle = idle
        self._idle_s = idle_s
        self._thread: Thread | None = None
        self._start()
        _GROUPS.add(self)

    def tell_early(self, append: Callable[[Seal], SignedRecord], settle: Callable[[], None]) -> None:
        """Acknowledge inline stores as soon as `append` returns; run `settle` in the loop's next iteration."""
        self._append_alone, self._settle = append, settle

    def store(self, seal: Seal) -> SignedRecord:
        """Store a record and block this thread until it is durable."""
        alone = Round()
        storing = alone.take(seal)
        if self._thread is None or self._closed:
            self._begin()
        self._queue.append(alone)
        self._call()
        if alone.done is not None:
            alone.done.wait()
        return storing.end()

    def store_at_once(self, seal: Seal) -> SignedRecord | None:
        """Store a record inline if no other caller would share its fsync and the disk is fast.

        Returns:
            The stored record; None: use `store_async`.
        """
        if not self._alone(asyncio.get_running_loop()):
            return None
        began = monotonic()
        try:
            return self._append_alone(seal)
        finally:
            self._quick = monotonic() - began < QUICK_S

    def store_async(self, seal: Seal) -> Storing:
        """Queue a record to share one fsync with others; await the result until it is durable."""
        loop = asyncio.get_running_loop()
        with self._handing:
            if self._thread is None or self._closed:
                self._begin()
            gathered = self._gathered.get(loop)
            if gathered is None:
                # Deferred, so that other tasks ready in this iteration of the loop share the fsync, and the writer
                # thread does not compete with them for the GIL.
                gathered = self._gathered[loop] = Round(loop)
                loop.call_soon(self._hand_over, loop)
            return gathered.take(seal)

    def _alone(self, loop: asyncio.AbstractEventLoop) -> bool:
        """Return whether to store inline, because no other caller would share the fsync and the disk is fast.

        Two storing tasks in one iteration of the loop count as concurrent; the next `COMPANY_LASTS` records are then
        batched. A lone writer never yields; make it yield after every `MOST_IN_A_ROW` records, so that other tasks run.
        """
        if not (self._asleep and self._quick) or self._queue or self._gathered or self._closed:
            return False
        if self._company:
            self._company -= 1
            return False
        task = asyncio.current_task(loop)
        if self._just_stored is None:
            self._in_a_row = 0
            loop.call_soon(self._next_round)
        elif self._just_stored is not task:
            self._company = COMPANY_LASTS
            return False
        self._just_stored, self._unnoted = task, True
        self._in_a_row += 1
        return self._in_a_row <= MOST_IN_A_ROW

    def _next_round(self) -> None:
        self._just_stored = None
        if self._settle is not None:
            self._settle()

    def close(self) -> None:
        """Store all queued records, then stop the thread."""
        with self._starting:
            self._closed = True
        self._take_over()
        self._called.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def forget_thread(self) -> None:
        """Reset after a fork: the child inherits the queue but not the thread."""
        self._start()

    def _start(self) -> None:
        self._starting, self._handing = Lock(), Lock()
        self._called = Event()
        self._asleep = False
        self._gathered: dict[asyncio.AbstractEventLoop, Round] = {}
        """Records that each loop hands to the thread at the end of its current iteration."""
        self._queue: deque[Round] = deque()
        self._closed = False
        self._quick = False
        """Whether the last commit took less than `QUICK_S`."""
        self._unnoted = False
        """Whether a record was stored since the last call of `idle`."""
        self._just_stored = None
        self._in_a_row = 0
        self._company = 0
        self._thread = None

    def _hand_over(self, loop: asyncio.AbstractEventLoop) -> None:
        """Hand the records of a finished loop iteration to the thread."""
        with self._handing:
            gathered = self._gathered.pop(loop, None)
        if gathered is None:
            return
        if len(gathered.seals) > 1:
            self._company = COMPANY_LASTS
        self._queue.append(gathered)
        self._call()

    def _call(self) -> None:
        """Wake the thread unless it is awake already."""
        if self._asleep:
            self._asleep = False
            self._called.set()

    def _begin(self) -> None:
        with self._starting:
            if self._closed:
                raise LedgerError("The ledger is closed.", code="ledger_closed")
            if self._thread is None:
                self._thread = Thread(target=self._run, name="tally-commit", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        queue = self._queue
        while True:
            batch = _all_of(queue)
            if batch:
                self._unnoted = True
                self._end(batch)
                continue
            if self._closed:
                return
            self._called.clear()
            self._asleep = True
            # Check the queue again: a record may have arrived between the last check and setting `_asleep`.
            if not queue and not self._closed and not self._called.wait(self._idle_s):
                self._take_over()
                if self._unnoted:
                    self._unnoted = False
                    self._idle()
            self._asleep = False

    def _take_over(self) -> None:
        """Queue the records that a blocked or stopped loop has not handed over, so that they are stored anyway."""
        with self._handing:
            self._queue.extend(self._gathered.values())
            self._gathered.clear()

    def _end(self, rounds: Sequence[Round]) -> None:
        """Store all records of several rounds and wake their waiters."""
        ends = iter(self._store([seal for one in rounds for seal in one.seals]))
        for one in rounds:
            one.ends = list(islice(ends, len(one.seals)))
            one.tell()

    def _store(self, seals: Sequence[Seal]) -> Sequence[End]:
        began = monotonic()
        try:
            return [self._append_one(seals[0])] if len(seals) == 1 else self._append(seals)
        except LedgerError as error:
            return [error] * len(seals)
        except BaseException as error:  # noqa: BLE001 - passed to the waiter; the thread must survive
            if len(seals) == 1:
                return [error]
        finally:
            self._quick = monotonic() - began < QUICK_S
        # One record cannot be sealed, and nothing was stored: retry each alone, so that the others succeed.
        return [self._store([seal])[0] for seal in seals]


def _all_of(queue: deque[Round]) -> list[Round]:
    """Take everything now in the queue; another thread may pop from it at the same time."""
    batch: list[Round] = []
    with contextlib.suppress(IndexError):
        batch.extend(queue.popleft() for _ in range(len(queue)))
    return batch


_GROUPS: WeakSet[GroupCommit] = WeakSet()


def _after_fork() -> None:
    for group in _GROUPS:
        group.forget_thread()


os.register_at_fork(after_in_child=_after_fork)

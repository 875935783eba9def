"""Group commit: calls that run together share one fsync.

Whoever has a record puts it in the queue and waits. One thread takes everything that is queued, stores it with one
write and one fsync, and wakes all who waited: the coroutines of a loop with a single call into it. A waiter that is
cancelled takes nothing back: its record is stored all the same.
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
from tallystick.gate.record.journal import Seal, Sealed
from tallystick.gate.record.storing import End, Round, Storing

IDLE_S = 10.0
"""A checkpoint follows on the last record after this long at most."""
QUICK_S = 0.002
"""A loop with a single caller can be held up for this long: other threads' wakes would cost it a good part of that."""

COMPANY_LASTS = 256
"""Records: some rounds of many callers, so that trying costs them nothing, and a blink of a single one."""

MOST_IN_A_ROW = 16
"""Records that one task stores at once in one round of the loop: looking whether others wait costs as much as one."""


class GroupCommit:
    """The queue and its one thread."""

    _just_stored: asyncio.Task[Any] | None
    """Who stored in this round of the loop without waiting for others."""
    _company: int
    """Records to gather before one is stored without waiting for others again."""

    def __init__(
        self,
        append: Callable[[Sequence[Seal]], list[Sealed]],
        append_one: Callable[[Seal], Sealed],
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

    def tell_early(self, append: Callable[[Seal], Sealed], settle: Callable[[], None]) -> None:
        """From now on whoever stores alone goes on as soon as `append` is done; `settle` follows in the next round."""
        self._append_alone, self._settle = append, settle

    def store(self, seal: Seal) -> Sealed:
        """Store a record and wait in this thread until it is durable."""
        alone = Round()
        storing = alone.take(seal)
        if self._thread is None or self._closed:
            self._begin()
        self._queue.append(alone)
        self._call()
        if alone.done is not None:
            alone.done.wait()
        return storing.end()

    def store_at_once(self, seal: Seal) -> Sealed | None:
        """Store a record in this loop, if nobody would share its fsync and the disk is quick; None: `store_async`."""
        if not self._alone(asyncio.get_running_loop()):
            return None
        began = monotonic()
        try:
            return self._append_alone(seal)
        finally:
            self._quick = monotonic() - began < QUICK_S

    def store_async(self, seal: Seal) -> Storing:
        """Store a record with others under one fsync; what to wait for in this loop until it is durable."""
        loop = asyncio.get_running_loop()
        with self._handing:
            if self._thread is None or self._closed:
                self._begin()
            gathered = self._gathered.get(loop)
            if gathered is None:
                # Not at once: whoever else is ready in this round of the loop comes along, under the same fsync, and
                # the thread does not fight with them for the interpreter.
                gathered = self._gathered[loop] = Round(loop)
                loop.call_soon(self._hand_over, loop)
            return gathered.take(seal)

    def _alone(self, loop: asyncio.AbstractEventLoop) -> bool:
        """Whether to store at once, since nobody would share the fsync and the disk is quick.

        Two tasks in one round of the loop are company: then records are gathered until for a while nobody else came.
        Who stores all at once never waits, so nobody else gets a turn: now and then he waits, to see whether they are.
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
        """Store what is queued, then stop."""
        with self._starting:
            self._closed = True
        self._take_over()
        self._called.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def forget_thread(self) -> None:
        """A forked child has the queue but not the thread."""
        self._start()

    def _start(self) -> None:
        self._starting, self._handing = Lock(), Lock()
        self._called = Event()
        self._asleep = False
        self._gathered: dict[asyncio.AbstractEventLoop, Round] = {}
        """What each loop will hand over at the end of its present round."""
        self._queue: deque[Round] = deque()
        self._closed = False
        self._quick = False
        """The last commit took no time worth speaking of."""
        self._unnoted = False
        """Something was stored since the last rest."""
        self._just_stored = None
        self._in_a_row = 0
        self._company = 0
        self._thread = None

    def _hand_over(self, loop: asyncio.AbstractEventLoop) -> None:
        """Give the thread the records of a round that is over."""
        with self._handing:
            gathered = self._gathered.pop(loop, None)
        if gathered is None:
            return
        if len(gathered.seals) > 1:
            self._company = COMPANY_LASTS
        self._queue.append(gathered)
        self._call()

    def _call(self) -> None:
        """Wake the thread, unless somebody did."""
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
            # Looked at again: somebody may have come between the last look and falling asleep.
            if not queue and not self._closed and not self._called.wait(self._idle_s):
                self._take_over()
                if self._unnoted:
                    self._unnoted = False
                    self._idle()
            self._asleep = False

    def _take_over(self) -> None:
        """What a loop that stood still or ended has not handed over is stored all the same."""
        with self._handing:
            self._queue.extend(self._gathered.values())
            self._gathered.clear()

    def _end(self, rounds: Sequence[Round]) -> None:
        """Store all records of several rounds, and tell who waits for them."""
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
        except BaseException as error:  # noqa: BLE001 - goes to whoever waits; the thread must live on
            if len(seals) == 1:
                return [error]
        finally:
            self._quick = monotonic() - began < QUICK_S
        # One of them cannot be sealed, and nothing was stored: each on its own, so that the others do not suffer.
        return [self._store([seal])[0] for seal in seals]


def _all_of(queue: deque[Round]) -> list[Round]:
    """Everything that waits now; the loop may take some of it at the same time."""
    batch: list[Round] = []
    with contextlib.suppress(IndexError):
        batch.extend(queue.popleft() for _ in range(len(queue)))
    return batch


_GROUPS: WeakSet[GroupCommit] = WeakSet()


def _after_fork() -> None:
    for group in _GROUPS:
        group.forget_thread()


os.register_at_fork(after_in_child=_after_fork)

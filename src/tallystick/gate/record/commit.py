"""Queue records, so that concurrent calls share one fsync (group commit); then lock, sign and write them.

These are steps 3 (queue), 4 (lock), 5 (sign) and 6 (write) of the list in the package docstring,
`gate/record/__init__.py`.

Callers queue their records and wait. One thread takes the whole queue, stores it with one write and one fsync, and
wakes all waiters; the coroutines of one event loop are woken by a single call into it. Cancelling a waiter does not
withdraw its record: it is stored anyway.
"""

import asyncio
import contextlib
import os
from collections import deque
from collections.abc import Callable, Generator, Sequence
from itertools import islice
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from time import monotonic
from typing import Any
from weakref import WeakSet

from tallystick.errors import LedgerError
from tallystick.gate.execute.cancellation import UncancellableFuture
from tallystick.gate.record.journal import Journal, RecordFactory, SignedRecord

IDLE_S = 10.0
"""A checkpoint is written at the latest this many seconds after the last record."""
FAST_COMMIT_S = 0.002
"""If the last commit took less than this, the next record of a lone caller is stored on the event loop itself: waking
the writer thread would cost a large part of that time."""

BATCHED_AFTER_CONCURRENCY = 256
"""Records to batch after concurrent callers were seen, before inline storing is tried again.

With many callers this is several batches, so retrying costs little; a single caller gets through them quickly.
"""

MAX_INLINE = 16
"""Records that one task stores inline per iteration of the event loop; the next is queued, so other tasks can run."""

BROKEN_OFF = LedgerError(
    "The journal's writer broke off, so it is not known whether this was recorded. Check the memory; then look it up.",
    code="ledger_broken_off",
)


def append(journal: Journal, factories: Sequence[RecordFactory]) -> list[SignedRecord]:
    """Lock, sign and write (steps 4 to 6) several records: all are stored, or none."""
    place = journal.lock()  # 4 lock
    try:
        records: list[SignedRecord] = []
        for factory in factories:
            record = factory(place)  # 5 sign
            records.append(record)
            place = place[0] + 1, record.leaf
        journal.write(records)  # 6 write
    finally:
        journal.unlock()
    return records


def append_one(journal: Journal, factory: RecordFactory, *, early: bool = False) -> SignedRecord:
    """Lock, sign and write (steps 4 to 6) one record.

    With `early` this returns once the record itself is durable; what can be rebuilt from the log, such as session
    files, is written later by the journal's `settle`.
    """
    place = journal.lock(early=early)  # 4 lock
    try:
        record = factory(place)  # 5 sign
        journal.write((record,), early=early)  # 6 write
    finally:
        journal.unlock()
    return record


Result = SignedRecord | BaseException
"""A stored record, or the error that prevented storing it."""


class Batch:
    """Records stored together, and their waiters: one thread, or the tasks of one iteration of an event loop.

    The tasks share one future, which costs far less than one future per task.
    """

    __slots__ = ("done", "factories", "failed", "future", "loop", "results")

    def __init__(self, loop: asyncio.AbstractEventLoop | None = None) -> None:
        self.factories: list[RecordFactory] = []
        self.results: Sequence[Result] = ()
        self.loop = loop
        self.future: UncancellableFuture[None] | None = None if loop is None else UncancellableFuture(loop=loop)
        self.failed: LedgerError | None = None
        """Set if the writer broke off: nobody knows whether the records were stored."""
        # A bare lock, held until all is done: an Event that runs out of memory keeps its own lock, and blocks for ever.
        self.done = Lock() if loop is None else None
        if self.done is not None:
            self.done.acquire()

    def add(self, factory: RecordFactory) -> "PendingRecord":
        """Add a record; awaiting the returned object waits until the record is durable."""
        self.factories.append(factory)
        return PendingRecord(self, len(self.factories) - 1)

    def notify(self) -> None:
        """Wake the waiters; may be called from any thread."""
        if self.loop is None or self.future is None:
            if self.done is not None and self.done.locked():
                self.done.release()
            return
        # A loop that was closed meanwhile cannot be notified; its records are stored anyway.
        with contextlib.suppress(RuntimeError):
            self.loop.call_soon_threadsafe(self.notify_here)

    def notify_here(self) -> None:
        """Wake the waiters in this loop."""
        if self.future is not None and not self.future.done():
            self.future.set_result(None)


class PendingRecord:
    """Awaitable for one queued record; done when the record is durable."""

    __slots__ = ("_batch", "_index")

    def __init__(self, batch: Batch, index: int) -> None:
        self._batch, self._index = batch, index

    def __await__(self) -> Generator[Any, None, SignedRecord]:
        """Wait for the stored record.

        Raises:
            LedgerError: It was not stored.
        """
        if self._batch.future is not None and not self._batch.future.done():
            yield from self._batch.future
        return self.result()

    def result(self) -> SignedRecord:
        """Return the stored record after the batch is stored; raise the error if storing failed."""
        if self._batch.failed is not None:
            raise self._batch.failed
        result = self._batch.results[self._index]
        if isinstance(result, SignedRecord):
            return result
        raise result


class GroupCommit:
    """The commit queue and its single writer thread."""

    _storing_task: asyncio.Task[Any] | None
    """The task that stored inline in this iteration of the event loop."""
    _batched_left: int
    """Records still to be batched before inline storing is tried again."""

    def __init__(
        self,
        append: Callable[[Sequence[RecordFactory]], list[SignedRecord]],
        append_one: Callable[[RecordFactory], SignedRecord],
        *,
        idle: Callable[[], None],
        idle_s: float = IDLE_S,
        inline: bool = True,
    ) -> None:
        self._inline = inline
        self._append, self._append_one, self._append_inline = append, append_one, append_one
        self._settle: Callable[[], None] | None = None
        self._idle = idle
        self._idle_s = idle_s
        self._thread: Thread | None = None
        self._reset()
        _GROUPS.add(self)

    def ack_after_fsync(self, append: Callable[[RecordFactory], SignedRecord], settle: Callable[[], None]) -> None:
        """Store inline with `append`, which returns once the record is durable.

        `settle`, which writes what is derived from the record, runs in the loop's next iteration.
        """
        self._append_inline, self._settle = append, settle

    def store(self, factory: RecordFactory) -> SignedRecord:
        """Store a record and block this thread until it is durable."""
        batch = Batch()
        pending = batch.add(factory)
        if self._thread is None or self._closed:
            self._ensure_thread()
        self._queue.append(batch)
        self._wake_thread()
        if batch.done is not None:
            batch.done.acquire()
        return pending.result()

    def store_inline(self, factory: RecordFactory) -> SignedRecord | None:
        """Store a record inline if no other caller would share its fsync and the disk is fast.

        Returns:
            The stored record; None: use `store_async`.
        """
        if not self._may_store_inline(asyncio.get_running_loop()):
            return None
        began = monotonic()
        try:
            return self._append_inline(factory)
        finally:
            self._disk_is_fast = monotonic() - began < FAST_COMMIT_S

    def store_async(self, factory: RecordFactory) -> PendingRecord:
        """Queue a record to share one fsync with others; awaiting the returned object waits until it is durable."""
        loop = asyncio.get_running_loop()
        with self._gather_lock:
            if self._thread is None or self._closed:
                self._ensure_thread()
            gathered = self._gathered.get(loop)
            if gathered is None:
                # Deferred, so that other tasks ready in this iteration of the loop share the fsync, and the writer
                # thread does not compete with them for the GIL.
                gathered = self._gathered[loop] = Batch(loop)
                loop.call_soon(self._submit, loop)
            return gathered.add(factory)

    def _may_store_inline(self, loop: asyncio.AbstractEventLoop) -> bool:
        """Return whether to store inline, because no other caller would share the fsync and the disk is fast.

        Two storing tasks in one iteration of the loop count as concurrent; the next `BATCHED_AFTER_CONCURRENCY` records
        are then batched. A lone writer never yields; make it yield after every `MAX_INLINE` records.
        """
        if not (self._inline and self._waiting and self._disk_is_fast) or self._queue or self._gathered or self._closed:
            return False
        if self._batched_left:
            self._batched_left -= 1
            return False
        task = asyncio.current_task(loop)
        if self._storing_task is None:
            self._inline_count = 0
            loop.call_soon(self._end_iteration)
        elif self._storing_task is not task:
            self._batched_left = BATCHED_AFTER_CONCURRENCY
            return False
        self._storing_task, self._unreported = task, True
        self._inline_count += 1
        return self._inline_count <= MAX_INLINE

    def _end_iteration(self) -> None:
        self._storing_task = None
        if self._settle is not None:
            self._settle()

    def close(self) -> None:
        """Store all queued records, then stop the thread."""
        with self._start_lock:
            self._closed = True
        self._collect()
        self._wake.put(None)
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def reset_after_fork(self) -> None:
        """Discard queue and thread in a forked child: the parent stores the queued records."""
        self._reset()

    def _reset(self) -> None:
        self._start_lock, self._gather_lock = Lock(), Lock()
        self._wake: SimpleQueue[None] = SimpleQueue()
        self._waiting = False
        self._taken: list[Batch] = []
        """What the writer thread has taken from the queue and not finished."""
        self._gathered: dict[asyncio.AbstractEventLoop, Batch] = {}
        """Records that each loop submits to the thread at the end of its current iteration."""
        self._queue: deque[Batch] = deque()
        self._closed = False
        self._disk_is_fast = False
        """Whether the last commit took less than `FAST_COMMIT_S`."""
        self._unreported = False
        """Whether a record was stored since the last call of `idle`."""
        self._storing_task = None
        self._inline_count = 0
        self._batched_left = 0
        self._thread = None

    def _submit(self, loop: asyncio.AbstractEventLoop) -> None:
        """Submit the records of a finished loop iteration to the thread."""
        with self._gather_lock:
            gathered = self._gathered.pop(loop, None)
        if gathered is None:
            return
        if len(gathered.factories) > 1:
            self._batched_left = BATCHED_AFTER_CONCURRENCY
        self._queue.append(gathered)
        self._wake_thread()

    def _wake_thread(self) -> None:
        """Wake the thread unless it is awake already."""
        if self._waiting:
            self._waiting = False
            self._wake.put(None)

    def _ensure_thread(self) -> None:
        with self._start_lock:
            if self._closed:
                raise LedgerError("The ledger is closed.", code="ledger_closed")
            if self._thread is None:
                self._thread = Thread(target=self._run, name="tally-commit", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        """Serve the queue. What breaks it off, such as a lack of memory, fails the records in hand, not the thread."""
        while True:
            with contextlib.suppress(Exception):
                self._fail_taken()
                self._serve()
                return

    def _serve(self) -> None:
        queue = self._queue
        while True:
            while queue:
                self._taken.append(queue[0])
                queue.popleft()
            if self._taken:
                self._unreported = True
                self._commit(self._taken)
                self._taken.clear()
                continue
            if self._closed:
                return
            self._waiting = True
            # Check the queue again: a record may have arrived between the last check and setting `_waiting`.
            if not queue and not self._closed and not self._woken():
                self._collect()
                if self._unreported:
                    self._unreported = False
                    self._idle()
            self._waiting = False

    def _woken(self) -> bool:
        try:
            self._wake.get(timeout=self._idle_s)
        except Empty:
            return False
        return True

    def _fail_taken(self) -> None:
        """Tell the waiters of what was in hand when the writer broke off."""
        for batch in self._taken:
            if not batch.results:
                batch.failed = BROKEN_OFF
            batch.notify()
        self._taken.clear()

    def _collect(self) -> None:
        """Queue the records that a blocked or stopped loop has not submitted, so that they are stored anyway."""
        with self._gather_lock:
            self._queue.extend(self._gathered.values())
            self._gathered.clear()

    def _commit(self, batches: Sequence[Batch]) -> None:
        """Store all records of several batches and wake their waiters."""
        results = iter(self._store([factory for one in batches for factory in one.factories]))
        for one in batches:
            one.results = list(islice(results, len(one.factories)))
            one.notify()

    def _store(self, factories: Sequence[RecordFactory]) -> Sequence[Result]:
        began = monotonic()
        try:
            return [self._append_one(factories[0])] if len(factories) == 1 else self._append(factories)
        except LedgerError as error:
            return [error] * len(factories)
        except BaseException as error:  # noqa: BLE001 - passed to the waiter; the thread must survive
            if len(factories) == 1:
                return [error]
        finally:
            self._disk_is_fast = monotonic() - began < FAST_COMMIT_S
        # One record cannot be signed, and nothing was stored: retry each alone, so that the others succeed.
        return [self._store([factory])[0] for factory in factories]


_GROUPS: WeakSet[GroupCommit] = WeakSet()


def _after_fork() -> None:
    for group in _GROUPS:
        group.reset_after_fork()


os.register_at_fork(after_in_child=_after_fork)

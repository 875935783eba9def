"""FIFO queue that runs agent turns one at a time per endpoint; a waiting turn may leave the queue at any time.

    async with gates.enter(endpoint.key) as place:
        ...                                     # place.position went 2, 1, 0 while waiting

A local model serves one prompt at a time, so two tool loops on one endpoint would block each other invisibly. They
queue here instead, where the position can be shown. Turns on different event loops and threads share one queue.

The head of a queue owns the slot; the wake-up event only announces it. So the slot cannot be lost, no matter when a
waiter is cancelled.
"""

import asyncio
from collections.abc import Callable
from threading import Lock
from types import TracebackType
from typing import Self

Moved = Callable[[int], None]


class AgentTurnGate:
    """The queues, one per endpoint key; empty queues are removed."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._queues: dict[str, list[QueuePlace]] = {}

    def enter(self, key: str, *, moved: Moved | None = None) -> "QueuePlace":
        """Return a place in the queue: `async with` waits for the slot and releases it at the end.

        Args:
            key: The endpoint (`Endpoint.key`).
            moved: Callback for the position in the queue when it changes: 2, 1, 0. It runs on the waiter's event loop.
        """
        return QueuePlace(self, key, moved)

    def length(self, key: str) -> int:
        """Return the length of an endpoint's queue, including the running turn."""
        with self._lock:
            return len(self._queues.get(key, ()))

    def position(self, place: "QueuePlace") -> int | None:
        """Return how many turns are ahead of this one; 0: it owns the slot; None: it is not in the queue."""
        with self._lock:
            return next((at for at, other in enumerate(self._queues.get(place.key, ())) if other is place), None)

    def join(self, place: "QueuePlace") -> int:
        """Append a place to its queue; return how many are ahead of it."""
        with self._lock:
            queue = self._queues.setdefault(place.key, [])
            queue.append(place)
            return len(queue) - 1

    def leave(self, place: "QueuePlace") -> None:
        """Remove a place and move the others up."""
        with self._lock:
            queue = [other for other in self._queues.get(place.key, ()) if other is not place]
            # A waiter whose event loop is closed cannot run and must not block the others.
            while queue and not queue[0].move(0):
                del queue[0]
            for at, other in enumerate(queue[1:], 1):
                other.move(at)
            if queue:
                self._queues[place.key] = queue
            else:
                self._queues.pop(place.key, None)


class QueuePlace:
    """One turn's place in a queue; single use."""

    _loop: asyncio.AbstractEventLoop
    """The waiter's event loop; set when it joins the queue."""

    def __init__(self, gate: AgentTurnGate, key: str, moved: Moved | None) -> None:
        self.key = key
        self._gate = gate
        self._moved = moved
        self._told = -1
        self._woken = asyncio.Event()

    @property
    def position(self) -> int | None:
        """How many turns are ahead of this one; 0: it owns the slot; None: not in the queue."""
        return self._gate.position(self)

    async def __aenter__(self) -> Self:
        """Wait for the slot; cancellation leaves the queue."""
        self._loop = asyncio.get_running_loop()
        before = self._gate.join(self)
        try:
            self._tell(before)
            if before > 0:
                await self._woken.wait()
        except BaseException:
            self._gate.leave(self)
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Release the slot to the next in the queue."""
        self._gate.leave(self)

    def move(self, position: int) -> bool:
        """Report the new position on the waiter's event loop; False: its loop is closed."""
        try:
            self._loop.call_soon_threadsafe(self._tell, position)
        except RuntimeError:
            return False
        return True

    def _tell(self, position: int) -> None:
        if position == 0:
            self._woken.set()
        if position == self._told:
            return
        self._told = position
        if self._moved is not None:
            self._moved(position)

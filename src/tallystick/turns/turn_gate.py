"""Agent turns one at a time per endpoint: whoever came first goes first, and anyone may leave the queue.

    async with gates.enter(endpoint.key) as place:
        ...                                     # place.position was 2, 1, 0 on the way here

A local model serves one prompt at a time, and two tool loops on one endpoint would wait for each other in ways nobody
sees. So they wait here, where the place in the queue can be shown. Turns on different event loops and threads queue
together.

Who is at the head of a queue has the turn: being woken only says so. Hence nobody can lose it on the way, whenever he
is cancelled.
"""

import asyncio
from collections.abc import Callable
from threading import Lock
from types import TracebackType
from typing import Self

Moved = Callable[[int], None]


class AgentTurnGate:
    """The queues, one per endpoint key; a queue that is empty takes no memory."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._queues: dict[str, list[Place]] = {}

    def enter(self, key: str, *, moved: Moved | None = None) -> "Place":
        """Queue up: `async with` waits for the turn and gives it up at the end.

        Args:
            key: The endpoint (`Endpoint.key`).
            moved: Is told the place in the queue when it changes: 2, 1, 0. It is called on the waiter's own loop.
        """
        return Place(self, key, moved)

    def length(self, key: str) -> int:
        """How many are in the queue of an endpoint, the one at work included."""
        with self._lock:
            return len(self._queues.get(key, ()))

    def position(self, place: "Place") -> int | None:
        """How many are before this one; 0: it has the turn; None: it is not in the queue."""
        with self._lock:
            return next((at for at, other in enumerate(self._queues.get(place.key, ())) if other is place), None)

    def join(self, place: "Place") -> int:
        """Put a place at the end of its queue; gives how many are before it."""
        with self._lock:
            queue = self._queues.setdefault(place.key, [])
            queue.append(place)
            return len(queue) - 1

    def leave(self, place: "Place") -> None:
        """Take a place out and let the others move up."""
        with self._lock:
            queue = [other for other in self._queues.get(place.key, ()) if other is not place]
            # Whose event loop is gone cannot go on, and must not keep the others waiting.
            while queue and not queue[0].move(0):
                del queue[0]
            for at, other in enumerate(queue[1:], 1):
                other.move(at)
            if queue:
                self._queues[place.key] = queue
            else:
                self._queues.pop(place.key, None)


class Place:
    """One turn's place in a queue, used once."""

    _loop: asyncio.AbstractEventLoop
    """Whose turn it is goes on here; known from when it queues up."""

    def __init__(self, gate: AgentTurnGate, key: str, moved: Moved | None) -> None:
        self.key = key
        self._gate = gate
        self._moved = moved
        self._told = -1
        self._woken = asyncio.Event()

    @property
    def position(self) -> int | None:
        """How many are before this one; 0: it has the turn; None: not in the queue."""
        return self._gate.position(self)

    async def __aenter__(self) -> Self:
        """Wait for the turn; cancelling leaves the queue."""
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
        """Give the turn to the next."""
        self._gate.leave(self)

    def move(self, position: int) -> bool:
        """Say on the waiter's own loop how many are before it now; False: its loop is gone."""
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

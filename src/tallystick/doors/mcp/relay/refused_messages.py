"""Messages that were refused before there was a call, on their way to the ledger.

The client is told at once; the receipt follows, one after the other in the order in which they came. Only so many may
wait: then the client's next messages stay in the pipe, so that a flood of garbage fills neither memory nor the log
faster than it can be written.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

from tallystick.doors.mcp.relay.messages import Keeper
from tallystick.errors import TallyError

WAITING = 64
KEPT = 64 * 1024
"""Bytes of a refused message that are recorded: enough to see what it was."""

AMBIGUOUS = "not one JSON message with each key once"
CANCELLED_EARLY = "cancelled before it was decided"
BATCH = "a batch that holds a call"
ANSWER_WITHIN = "an answer to the relay that is no message of its own"
NO_ID = "a call without an id"
ID_IN_USE = "a call with an id that is in use"
TOO_LONG = "the message is too large"


class Refusals:
    """What still has to be recorded."""

    def __init__(
        self, keeper: Callable[[], Awaitable[Keeper]], *, on_room: Callable[[], None], note: Callable[[str], None]
    ) -> None:
        """Name whoever is concerned.

        Args:
            keeper: Gives the gate's side; it may have to be opened first.
            on_room: Called when all is recorded.
            note: Says something to whoever reads the log.
        """
        self._keeper = keeper
        self._on_room = on_room
        self._note = note
        self._waiting: deque[tuple[bytes, str]] = deque()
        self._task: asyncio.Task[None] | None = None

    def full(self) -> bool:
        """Whether no more should be said for a while."""
        return len(self._waiting) >= WAITING

    def add(self, text: bytes, reason: str) -> None:
        """Record this when its turn comes."""
        self._waiting.append((text[:KEPT], reason))
        if self._task is None or self._task.done():
            self._task = asyncio.ensure_future(self._record())

    async def finish(self, timeout_s: float) -> None:
        """Wait until all is recorded, but not longer than this."""
        if self._task is not None and not self._task.done():
            await asyncio.wait([self._task], timeout=timeout_s)
            self._task.cancel()

    async def _record(self) -> None:
        while self._waiting:
            text, reason = self._waiting[0]
            try:
                await (await self._keeper()).refused(text, reason)
            except TallyError as error:
                self._note(f"a refused message could not be recorded: {error.code}: {error}")
            except Exception as error:  # noqa: BLE001 - one message must not keep the others from the ledger
                self._note(f"a bug in the relay: {type(error).__name__}: {error}")
            self._waiting.popleft()
        self._on_room()

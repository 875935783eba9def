"""Queue of refused messages that still need a receipt.

The client gets its error at once; the receipts follow in the order of the messages. The queue is limited: when it is
full, the client's next messages stay in the pipe, so that a flood of garbage fills neither memory nor the log faster
than receipts can be written.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

from tallystick.doors.mcp.relay.messages import Keeper
from tallystick.errors import TallyError

WAITING = 64
KEPT = 64 * 1024
"""Maximum bytes of a refused message that are recorded: enough to identify it."""

AMBIGUOUS = "not one JSON message with each key once"
CANCELLED_EARLY = "cancelled before it was decided"
BATCH = "a batch that holds a call"
ANSWER_WITHIN = "an answer to the relay that is no message of its own"
NO_ID = "a call without an id"
ID_IN_USE = "a call with an id that is in use"
TOO_LONG = "the message is too large"


class Refusals:
    """The refusals that are not recorded yet."""

    def __init__(
        self, keeper: Callable[[], Awaitable[Keeper]], *, on_room: Callable[[], None], note: Callable[[str], None]
    ) -> None:
        """Set the gate side and the callbacks.

        Args:
            keeper: Returns the gate side, opening it first if necessary.
            on_room: Called when everything is recorded.
            note: Writes to the log.
        """
        self._keeper = keeper
        self._on_room = on_room
        self._note = note
        self._waiting: deque[tuple[bytes, str]] = deque()
        self._task: asyncio.Task[None] | None = None

    def full(self) -> bool:
        """Return whether to stop reading the client for a while."""
        return len(self._waiting) >= WAITING

    def add(self, text: bytes, reason: str) -> None:
        """Add a refused message to the queue."""
        self._waiting.append((text[:KEPT], reason))
        if self._task is None or self._task.done():
            self._task = asyncio.ensure_future(self._record())

    async def finish(self, timeout_s: float) -> None:
        """Wait until everything is recorded, but at most this many seconds."""
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
            except Exception as error:  # noqa: BLE001 - one message must not block the recording of the others
                self._note(f"a bug in the relay: {type(error).__name__}: {error}")
            self._waiting.popleft()
        self._on_room()

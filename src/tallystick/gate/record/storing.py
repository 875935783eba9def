"""Records queued for the journal, and their waiters."""

import asyncio
import contextlib
from collections.abc import Generator, Sequence
from threading import Event
from typing import Any

from tallystick.gate.execute.stepping import UncancellableFuture
from tallystick.gate.record.journal import Seal, SignedRecord

End = SignedRecord | BaseException


class Round:
    """Records stored together, and their waiters: one thread, or the tasks of one iteration of an event loop.

    The tasks share one future, which costs far less than one future per task.
    """

    __slots__ = ("done", "ends", "future", "loop", "seals")

    def __init__(self, loop: asyncio.AbstractEventLoop | None = None) -> None:
        self.seals: list[Seal] = []
        self.ends: Sequence[End] = ()
        self.loop = loop
        self.future: UncancellableFuture[None] | None = None if loop is None else UncancellableFuture(loop=loop)
        self.done = Event() if loop is None else None

    def take(self, seal: Seal) -> "Storing":
        """Add a record; await the result until it is durable."""
        self.seals.append(seal)
        return Storing(self, len(self.seals) - 1)

    def tell(self) -> None:
        """Wake the waiters; may be called from any thread."""
        if self.loop is None or self.future is None:
            if self.done is not None:
                self.done.set()
            return
        # A loop that was closed meanwhile cannot be notified; its records are stored anyway.
        with contextlib.suppress(RuntimeError):
            self.loop.call_soon_threadsafe(self.tell_here)

    def tell_here(self) -> None:
        """Wake the waiters in this loop."""
        if self.future is not None and not self.future.done():
            self.future.set_result(None)


class Storing:
    """Awaitable for one queued record; done when the record is durable."""

    __slots__ = ("_place", "_round")

    def __init__(self, round_: Round, place: int) -> None:
        self._round, self._place = round_, place

    def __await__(self) -> Generator[Any, None, SignedRecord]:
        """Wait for the stored record.

        Raises:
            LedgerError: It was not stored.
        """
        if self._round.future is not None and not self._round.future.done():
            yield from self._round.future
        return self.end()

    def end(self) -> SignedRecord:
        """Return the stored record after the round is done; raise the error if storing failed."""
        end = self._round.ends[self._place]
        if isinstance(end, SignedRecord):
            return end
        raise end

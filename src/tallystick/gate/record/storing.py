"""Records on their way into the journal, and who waits for them."""

import asyncio
import contextlib
from collections.abc import Generator, Sequence
from threading import Event
from typing import Any

from tallystick.gate.execute.stepping import UncancellableFuture
from tallystick.gate.record.journal import Seal, Sealed

End = Sealed | BaseException


class Round:
    """Records that are stored together, and who waits for them: a thread, or all of a loop who came in one round of it.

    To wait for one future together costs far less than one for each.
    """

    __slots__ = ("done", "ends", "future", "loop", "seals")

    def __init__(self, loop: asyncio.AbstractEventLoop | None = None) -> None:
        self.seals: list[Seal] = []
        self.ends: Sequence[End] = ()
        self.loop = loop
        self.future: UncancellableFuture[None] | None = None if loop is None else UncancellableFuture(loop=loop)
        self.done = Event() if loop is None else None

    def take(self, seal: Seal) -> "Storing":
        """One more record, and what to wait for until it is durable."""
        self.seals.append(seal)
        return Storing(self, len(self.seals) - 1)

    def tell(self) -> None:
        """Wake who waits, from any thread."""
        if self.loop is None or self.future is None:
            if self.done is not None:
                self.done.set()
            return
        # A loop that was closed while it waited learns nothing; the records are stored all the same.
        with contextlib.suppress(RuntimeError):
            self.loop.call_soon_threadsafe(self.tell_here)

    def tell_here(self) -> None:
        """Wake who waits in this loop."""
        if self.future is not None and not self.future.done():
            self.future.set_result(None)


class Storing:
    """A record on its way: what to wait for until it is durable."""

    __slots__ = ("_place", "_round")

    def __init__(self, round_: Round, place: int) -> None:
        self._round, self._place = round_, place

    def __await__(self) -> Generator[Any, None, Sealed]:
        """The record as it was stored.

        Raises:
            LedgerError: It was not.
        """
        if self._round.future is not None and not self._round.future.done():
            yield from self._round.future
        return self.end()

    def end(self) -> Sealed:
        """What came of it, when the round is over; raises what went wrong."""
        end = self._round.ends[self._place]
        if isinstance(end, Sealed):
            return end
        raise end

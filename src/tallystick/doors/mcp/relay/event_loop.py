"""An event loop that stays awake for a moment.

A server's answer usually comes within a millisecond. A process that goes to sleep for so short a time is woken late,
with its caches cold; that costs a call more than the whole gate. So the loop looks again and again for a moment before
it sleeps, and sleeps at once where others want to run.
"""

import asyncio
import os
import selectors
import time

AWAKE_S = 0.0015
"""After the last thing that happened."""
CROWDED_S = 0.001
"""Somebody else ran while we stepped aside: there is no core to spare, and staying awake would only be in the way."""
REST_S = 0.1

_let_others = getattr(os, "sched_yield", None) or (lambda: time.sleep(0))


def wakeful_loop() -> asyncio.AbstractEventLoop:
    """For pipes and sockets, where the system can say which are ready."""
    if os.name != "posix":
        return asyncio.new_event_loop()
    return asyncio.SelectorEventLoop(WakefulSelector())


class WakefulSelector(selectors.DefaultSelector):
    """Tells what is ready as the system's own does, only sooner."""

    _rests_until = 0.0
    _seen = False
    """The last look found something."""

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """What is ready; waits so long for it, or for ever."""
        if timeout is not None and timeout <= 0 and self._seen:
            # The loop has something to do: what came of the last look is done before the next one.
            self._seen = False
            return []
        now = time.perf_counter()
        end = now + (AWAKE_S if timeout is None else min(AWAKE_S, timeout))
        while self._rests_until < now < end:
            if ready := super().select(0):
                self._seen = True
                return ready
            _let_others()
            before, now = now, time.perf_counter()
            if now - before > CROWDED_S:
                self._rests_until = now + REST_S
        ready = super().select(timeout)
        self._seen = bool(ready)
        return ready

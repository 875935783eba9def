"""An event loop that polls briefly before it sleeps.

A server usually responds within a millisecond. A process that sleeps for so short a time wakes up late and with cold
caches, which costs a call more than the whole gate. So the loop polls for a short time before it sleeps, and sleeps at
once if other processes need the core.
"""

import asyncio
import os
import selectors
import time

AWAKE_S = 0.0015
"""Seconds to poll after the last event."""
CROWDED_S = 0.001
"""A yield that takes longer than this shows that another process needs the core; polling would only slow it down."""
REST_S = 0.1

_let_others = getattr(os, "sched_yield", None) or (lambda: time.sleep(0))


def wakeful_loop() -> asyncio.AbstractEventLoop:
    """Create the loop; the polling variant only on POSIX, where pipes and sockets can be polled."""
    if os.name != "posix":
        return asyncio.new_event_loop()
    return asyncio.SelectorEventLoop(WakefulSelector())


class WakefulSelector(selectors.DefaultSelector):
    """The default selector with a short polling phase before it blocks."""

    _rests_until = 0.0
    _seen = False
    """Whether the last poll found events."""

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Return the ready events, waiting at most `timeout` seconds, or without limit if it is None."""
        if timeout is not None and timeout <= 0 and self._seen:
            # The loop has callbacks to run: handle the events of the last poll before polling again.
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

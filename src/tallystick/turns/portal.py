"""A loop of our own, so that scripts and notebooks can call the gate without `await`."""

import asyncio
import os
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class Portal:
    """Runs coroutines on a background loop; works inside another running loop too (Jupyter)."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._pid = 0

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run to the end and give the result; must not be called from the background loop itself."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._running_loop()).result()

    def close(self) -> None:
        """Stop the loop, if it was ever started."""
        with self._lock:
            if self._loop is not None and self._pid == os.getpid():
                self._loop.call_soon_threadsafe(self._loop.stop)
            self._loop = None

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            # Threads do not survive a fork: the child needs a loop of its own.
            if self._loop is None or self._pid != os.getpid():
                self._loop = asyncio.new_event_loop()
                self._pid = os.getpid()
                threading.Thread(target=_serve, args=(self._loop,), name="tally-portal", daemon=True).start()
            return self._loop


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        loop.close()

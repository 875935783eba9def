"""A background event loop, so that scripts and notebooks can call the gate without `await`."""

import asyncio
import os
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

PATIENCE_S = 5
"""Seconds to wait on close for tools that do not respond to cancellation."""


class Portal:
    """Runs coroutines on a background event loop; also works inside another running loop (Jupyter)."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._pid = 0

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine to completion and return its result.

        Raises:
            RuntimeError: Called on the background loop itself, e.g. by an `async def` tool: it would deadlock.
        """
        loop = self._running_loop()
        if self._thread is threading.current_thread():
            coroutine.close()
            raise RuntimeError("a coroutine cannot wait here for itself; await the coroutine instead")
        return asyncio.run_coroutine_threadsafe(coroutine, loop).result()

    def close(self) -> None:
        """Stop the loop, if it was started; tasks still running are cancelled and leave their receipts."""
        with self._lock:
            loop, thread, self._loop = self._loop, self._thread, None
        if loop is None or thread is None or self._pid != os.getpid():
            return
        loop.call_soon_threadsafe(loop.stop)
        if thread is not threading.current_thread():
            thread.join(PATIENCE_S)

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            # Threads do not survive a fork, so the child process needs its own loop.
            if self._loop is None or self._pid != os.getpid():
                self._loop = asyncio.new_event_loop()
                self._pid = os.getpid()
                self._thread = threading.Thread(target=_serve, args=(self._loop,), name="tally-portal", daemon=True)
                self._thread.start()
            return self._loop


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        if left:
            loop.run_until_complete(asyncio.wait(left, timeout=PATIENCE_S))
        # Close connections held by async generators now rather than at garbage collection.
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        loop.close()

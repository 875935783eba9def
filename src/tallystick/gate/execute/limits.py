"""Run one call so that it cannot hang the gate.

Four ways, chosen by the card: on the loop (`inline`), as a coroutine (`async`), on a daemon thread (`thread`), or in a
process of its own that can be killed (`process`, see `child.py`). A coroutine that never waits needs no timer, so the
timer is set only when it first waits: that is most of the cost of a small call.
"""

import asyncio
import contextvars
import os
from collections.abc import Callable, Coroutine, Generator
from functools import partial
from types import coroutine
from typing import Any

from tallystick.gate.execute.threads import Threads

Handler = Callable[..., Any]


async def run_async(handler: Handler, args: dict[str, Any], timeout_s: float) -> Any:
    """Run an `async def` tool; `TimeoutError` when it takes too long."""
    started: Coroutine[Any, Any, Any] = handler(**args)
    try:
        waiting_for = started.send(None)
    except StopIteration as finished:
        return finished.value
    async with asyncio.timeout(timeout_s):
        return await _carry_on(started, waiting_for)


def run_inline(handler: Handler, args: dict[str, Any]) -> Any:
    """Run a plain `def` on the loop. Only for tools that cannot block: nothing can stop them."""
    here = os.getpid()
    value = handler(**args)
    _leave_if_forked(here)
    return value


async def run_in_thread(threads: Threads, handler: Handler, args: dict[str, Any], timeout_s: float) -> Any:
    """Run a plain `def` on a worker thread.

    A thread cannot be killed: after a timeout the call is over for the caller, and the thread is given up.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()
    context = contextvars.copy_context()
    here = os.getpid()

    def done(value: Any, error: BaseException | None) -> None:
        _leave_if_forked(here)
        # The loop may be gone (the program is ending, or the call was abandoned long ago).
        if not loop.is_closed():
            loop.call_soon_threadsafe(_settle, future, value, error)

    threads.run(partial(context.run, handler, **args), done)
    try:
        async with asyncio.timeout(timeout_s):
            return await future
    except (TimeoutError, asyncio.CancelledError):
        if not future.done() or future.cancelled():
            threads.give_up_one()
        raise


@coroutine
def _carry_on(started: Coroutine[Any, Any, Any], waiting_for: Any) -> Generator[Any, Any, Any]:
    """Go on with a coroutine that has already been started, as `await` would."""
    try:
        while True:
            try:
                sent = yield waiting_for
            except GeneratorExit:
                started.close()
                raise
            except BaseException as error:  # noqa: BLE001 - cancellation and timeouts belong to the tool first
                waiting_for = started.throw(error)
            else:
                waiting_for = started.send(sent)
    except StopIteration as finished:
        return finished.value


def _settle(future: asyncio.Future[Any], value: Any, error: BaseException | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(value)
    elif isinstance(error, StopIteration | SystemExit | KeyboardInterrupt):
        # A future cannot carry the first; the others would stop the loop.
        future.set_exception(RuntimeError(type(error).__name__))
    else:
        future.set_exception(error)


def _leave_if_forked(here: int) -> None:
    """A tool that forked comes back twice; the copy must not go on as a second gate."""
    if os.getpid() != here:
        os._exit(0)

"""Run one call so that it cannot hang the gate.

Four ways, chosen by the card: on the loop (`inline`), as a coroutine (`async`), on a daemon thread (`thread`), or in a
process of its own that can be killed (`process`, see `child.py`).
"""

import asyncio
import contextlib
import contextvars
import os
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any

from tallystick.gate.execute.stepping import resumed
from tallystick.gate.execute.threads import Threads

Handler = Callable[..., Any]


class OutOfTimeError(Exception):
    """Our own limit was reached. A `TimeoutError` that a tool raises is the tool's, and means something else."""


async def run_async(handler: Handler, args: dict[str, Any], timeout_s: float) -> Any:
    """Run an `async def` on the loop, with a time limit that starts at its first wait: before, no timer could fire."""
    check_fork = partial(_leave_if_forked, _forks)
    work: Coroutine[Any, Any, Any] = handler(**args)
    try:
        waiting_for = work.send(None)
    except StopIteration as finished:
        return finished.value
    finally:
        check_fork()
    return await within(resumed(work, waiting_for, check_fork), timeout_s)


def run_inline(handler: Handler, args: dict[str, Any]) -> Any:
    """Run a plain `def` on the loop. Only for tools that cannot block: nothing can stop them."""
    here = _forks
    try:
        return handler(**args)
    finally:
        if here != _forks:
            _leave()


async def run_in_thread(threads: Threads, handler: Handler, args: dict[str, Any], timeout_s: float) -> Any:
    """Run a plain `def` on a worker thread.

    A thread cannot be killed: after a timeout the call is over for the caller, and the thread is given up.
    """
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[tuple[Any, BaseException | None]] = loop.create_future()
    context = contextvars.copy_context()
    here = _forks

    def done(value: Any, error: BaseException | None) -> None:
        _leave_if_forked(here)
        # The loop may be gone: the program is ending, or the call was given up long ago.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(_settle, ended, (value, error))

    job = threads.run(partial(context.run, handler, **args), done)
    try:
        value, error = await within(ended, timeout_s)
    except (OutOfTimeError, asyncio.CancelledError):
        threads.give_up(job)
        raise
    # Raised here and not by the future: that cannot carry StopIteration, and SystemExit would stop the loop.
    if error is not None:
        raise error
    return value


async def within(work: Awaitable[Any], timeout_s: float) -> Any:
    """Wait for something, but not longer than this."""
    try:
        async with asyncio.timeout(timeout_s) as limit:
            return await work
    except TimeoutError:
        if limit.expired():
            raise OutOfTimeError from None
        raise


def _settle(ended: "asyncio.Future[tuple[Any, BaseException | None]]", how: tuple[Any, BaseException | None]) -> None:
    if not ended.done():
        ended.set_result(how)


_forks = 0
"""How often this process is a copy of a copy; asking the system for its number would cost a system call."""


def _count_fork() -> None:
    global _forks  # noqa: PLW0603 - one process has one number
    _forks += 1


os.register_at_fork(after_in_child=_count_fork)


def _leave_if_forked(here: int) -> None:
    if here != _forks:
        _leave()


def _leave() -> None:
    """A tool that forked comes back twice; the copy must not go on as a second gate."""
    os._exit(0)

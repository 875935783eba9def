"""Run one call so that it cannot hang the gate.

The tool's definition (card) names one of four ways: on the event loop (`inline`), as a coroutine (`async`), on a
daemon thread (`thread`), or in a separate process that can be killed (`process`, see `child.py`).
"""

import asyncio
import contextlib
import contextvars
import os
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any

from tallystick.gate.execute.cancellation import resumed
from tallystick.gate.execute.threads import Threads

Handler = Callable[..., Any]


class OutOfTimeError(Exception):
    """The gate's timeout expired; distinct from a `TimeoutError` raised by the tool itself."""


async def run_async(handler: Handler, args: dict[str, Any], timeout_s: float) -> Any:
    """Run an `async def` on the event loop; the timeout starts when it first suspends, as no timer can fire before."""
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
    """Run a plain `def` on the event loop. Only for tools that cannot block, since nothing can interrupt them."""
    here = _forks
    try:
        return handler(**args)
    finally:
        if here != _forks:
            _leave()


async def run_in_thread(threads: Threads, handler: Handler, args: dict[str, Any], timeout_s: float) -> Any:
    """Run a plain `def` on a worker thread.

    A thread cannot be killed: after a timeout the caller gets an error and the thread is abandoned.
    """
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[tuple[Any, BaseException | None]] = loop.create_future()
    context = contextvars.copy_context()
    here = _forks

    def done(value: Any, error: BaseException | None) -> None:
        _leave_if_forked(here)
        # The loop may be closed: the program is exiting, or the call was abandoned long ago.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(_settle, ended, (value, error))

    job = threads.run(partial(context.run, handler, **args), done)
    try:
        value, error = await within(ended, timeout_s)
    except (OutOfTimeError, asyncio.CancelledError):
        threads.give_up(job)
        raise
    # Raised here and not through the future, which cannot hold StopIteration; SystemExit would stop the loop.
    if error is not None:
        raise error
    return value


async def within(work: Awaitable[Any], timeout_s: float) -> Any:
    """Await something with a timeout.

    Raises:
        OutOfTimeError: The timeout expired.
    """
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
"""Fork depth of this process, to detect forks without the system call of `os.getpid()`."""


def _count_fork() -> None:
    global _forks  # noqa: PLW0603 - one counter per process
    _forks += 1


os.register_at_fork(after_in_child=_count_fork)


def _leave_if_forked(here: int) -> None:
    if here != _forks:
        _leave()


def _leave() -> None:
    """Exit the forked process: a tool that forked returns in both, and the copy must not continue as a second gate."""
    os._exit(0)

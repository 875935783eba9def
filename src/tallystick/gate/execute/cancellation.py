"""Await work that must not be interrupted, and resume a coroutine that was already started."""

import asyncio
from collections.abc import Callable, Coroutine, Generator
from types import coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class UncancellableFuture(asyncio.Future[T]):
    """A future that ignores cancellation: a task cancelled while awaiting it is cancelled when the future is done.

    For work that completes in any case and whose outcome must be known.
    """

    def cancel(self, msg: Any = None) -> bool:
        """Ignore the cancellation; the awaiting task remembers the request."""
        del msg
        return False


async def shielded(work: Coroutine[Any, Any, T]) -> tuple[T, asyncio.CancelledError | None]:
    """Await work to completion, even if the caller is cancelled meanwhile.

    Returns:
        The result, and the caller's first cancellation, if any. The caller re-raises that exception object once the
        result is recorded, because a cancel scope recognises only its own cancellation.
    """
    task = asyncio.ensure_future(work)
    left: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait((task,))
        except asyncio.CancelledError as cancelled:
            left = left or cancelled
    return task.result(), left


@coroutine
def resumed(work: Coroutine[Any, Any, T], waiting_for: Any, after_step: Callable[[], None]) -> Generator[Any, Any, T]:
    """Resume a started coroutine, as `await` does, and call `after_step` whenever it suspends or ends."""
    try:
        while True:
            try:
                sent = yield waiting_for
            except GeneratorExit:
                work.close()
                raise
            except BaseException as error:  # noqa: BLE001 - the coroutine handles cancellation and timeouts first
                waiting_for = work.throw(error)
            else:
                waiting_for = work.send(sent)
            after_step()
    except StopIteration as finished:
        result: T = finished.value
        return result
    finally:
        after_step()

"""Waiting for work that must not be left half done, and going on with a coroutine that was started."""

import asyncio
from collections.abc import Callable, Coroutine, Generator
from types import coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class UncancellableFuture(asyncio.Future[T]):
    """A future that cannot be cancelled: a task cancelled while it waits learns of it when the future is done.

    For work that happens in any case and whose outcome must be known.
    """

    def cancel(self, msg: Any = None) -> bool:
        """Refuse the cancellation; the waiting task remembers that it was asked for."""
        del msg
        return False


async def shielded(work: Coroutine[Any, Any, T]) -> tuple[T, asyncio.CancelledError | None]:
    """Wait for work to its end, even if the caller is cancelled meanwhile.

    Returns:
        The result, and the caller's first cancellation, if there was one. The caller raises it once the result has
        been recorded: a cancel scope knows its own cancellation only.
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
    """Go on with a coroutine that was started, as `await` does, and call `after_step` whenever it waits or ends."""
    try:
        while True:
            try:
                sent = yield waiting_for
            except GeneratorExit:
                work.close()
                raise
            except BaseException as error:  # noqa: BLE001 - cancellation and timeouts belong to the coroutine first
                waiting_for = work.throw(error)
            else:
                waiting_for = work.send(sent)
            after_step()
    except StopIteration as finished:
        result: T = finished.value
        return result
    finally:
        after_step()

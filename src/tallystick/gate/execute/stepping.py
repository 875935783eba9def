"""Going on with coroutines that were already begun, and waiting for them to their end.

Most coroutines here never wait. They are stepped once; only one that does wait pays for a timer or a task of its own.
"""

import asyncio
from collections.abc import Callable, Coroutine, Generator, Iterable
from types import coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class Unstoppable(asyncio.Future[T]):
    """A future that nobody's leaving cancels: a task that is cancelled while it waits learns of it when this is done.

    For what happens in any case, and of which the outcome must be known.
    """

    def cancel(self, msg: Any = None) -> bool:
        """Say that this cannot be cancelled; the task then remembers that it was."""
        del msg
        return False


async def to_the_end(work: Coroutine[Any, Any, T]) -> tuple[T, asyncio.CancelledError | None]:
    """Wait for something that must not be left half done.

    Returns:
        What came of it, and the cancellation of the caller, if there was one meanwhile. Who asked for this must then
        raise it, once what is known has been recorded: a cancel scope knows its own cancellation only.
    """
    left: asyncio.CancelledError | None = None
    try:
        while True:
            left = await _settled(_taken(work.send(None))) or left
    except StopIteration as finished:
        return finished.value, left


def _taken(waiting_for: "asyncio.Future[Any] | None") -> "asyncio.Future[Any]":
    """What a coroutine waits for, to be waited for by somebody else: who awaits a future says so in it."""
    if waiting_for is None:
        return asyncio.ensure_future(asyncio.sleep(0))
    waiting_for._asyncio_future_blocking = False  # noqa: SLF001
    return waiting_for


async def _settled(waiting_for: "asyncio.Future[Any]") -> asyncio.CancelledError | None:
    """Wait for what a coroutine waits for, whatever comes of it; gives the caller's cancellation, if there was one.

    A task of its own would do as well, and cost several times as much.
    """
    left: asyncio.CancelledError | None = None
    unstoppable = type(waiting_for) is Unstoppable
    while not waiting_for.done():
        try:
            await (waiting_for if unstoppable else asyncio.shield(waiting_for))
        except asyncio.CancelledError as cancelled:
            left = left or (None if waiting_for.cancelled() else cancelled)
        except GeneratorExit:
            raise  # the loop is gone, and nobody will ever be told
        except BaseException:  # noqa: BLE001, S110 - the coroutine gets it from the future
            pass
    return left


async def together(works: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Go on with several coroutines by turns, each until it waits, until all have ended; what came of each, in order.

    As tasks would, at less than half the cost. Who is cancelled meanwhile cancels all that have not ended, and leaves
    when they have; an error of one of them is raised when the others have ended.
    """
    ended: dict[int, T] = {}
    errors: list[BaseException] = []
    left: asyncio.CancelledError | None = None
    cancelled: asyncio.CancelledError | None = None
    going = list(enumerate(works))
    while going:
        waiting: list[tuple[int, Coroutine[Any, Any, T], Any]] = []
        for place, work in going:
            try:
                step = work.send(None) if left is None else work.throw(asyncio.CancelledError(*left.args))
                waiting.append((place, work, _taken(step)))
            except StopIteration as finished:
                ended[place] = finished.value
            except BaseException as error:  # noqa: BLE001 - raised below
                errors.append(error)
        left = None
        # Most wait for the same.
        for waiting_for in {id(step): step for _, _, step in waiting}.values():
            left = await _settled(waiting_for) or left
        cancelled = cancelled or left
        going = [(place, work) for place, work, _ in waiting]
    if errors:
        raise errors[0]
    if cancelled is not None:
        raise cancelled
    return [ended[place] for place in sorted(ended)]


@coroutine
def carry_on(
    started: Coroutine[Any, Any, Any], waiting_for: Any, after_step: Callable[[], None] = lambda: None
) -> Generator[Any, Any, Any]:
    """Go on with a coroutine that has already been started, as `await` would."""
    try:
        while True:
            try:
                sent = yield waiting_for
            except GeneratorExit:
                started.close()
                raise
            except BaseException as error:  # noqa: BLE001 - cancellation and timeouts belong to the coroutine first
                waiting_for = started.throw(error)
            else:
                waiting_for = started.send(sent)
            after_step()
    except StopIteration as finished:
        return finished.value
    finally:
        after_step()

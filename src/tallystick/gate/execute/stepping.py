"""Going on with a coroutine that was already begun, and waiting for one to its end.

Most coroutines here never wait. They are stepped once; only one that does wait pays for a timer or a task of its own.
"""

import asyncio
from collections.abc import Callable, Coroutine, Generator
from types import coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def to_the_end(work: Coroutine[Any, Any, T]) -> tuple[T, bool]:
    """Wait for something that must not be left half done.

    Returns:
        What came of it, and whether the caller was cancelled meanwhile. Who asked for this must then leave, once what
        is known has been recorded.
    """
    try:
        waiting_for = work.send(None)
    except StopIteration as finished:
        return finished.value, False
    task: asyncio.Task[T] = asyncio.ensure_future(_rest(work, waiting_for))
    left = False
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            left = True
        except BaseException:  # noqa: BLE001 - the result below raises it
            break
    return task.result(), left


async def _rest(work: Coroutine[Any, Any, T], waiting_for: Any) -> T:
    result: T = await carry_on(work, waiting_for)
    return result


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

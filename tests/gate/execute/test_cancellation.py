"""Waiting to the end, whoever leaves meanwhile."""

import asyncio
from typing import Any

import pytest

from tallystick.gate.execute.cancellation import shielded


async def at_once(value: Any) -> Any:
    return value


async def fails(*, after_a_wait: bool) -> None:
    if after_a_wait:
        await asyncio.sleep(0)
    raise LookupError


def test_the_result_is_given_with_no_cancellation() -> None:
    assert asyncio.run(shielded(at_once(7))) == (7, None)


def test_an_error_is_raised_as_it_is() -> None:
    for after_a_wait in (False, True):
        with pytest.raises(LookupError):
            asyncio.run(shielded(fails(after_a_wait=after_a_wait)))


@pytest.mark.parametrize("times", [1, 3])
def test_work_is_finished_although_its_caller_was_cancelled_and_that_is_told(times: int) -> None:
    async def main() -> tuple[str, asyncio.CancelledError | None]:
        begun, go_on = asyncio.Event(), asyncio.Event()

        async def work() -> str:
            begun.set()
            await go_on.wait()
            return "finished"

        waiting = asyncio.ensure_future(shielded(work()))
        await begun.wait()
        for _ in range(times):
            waiting.cancel("of the caller")
            await asyncio.sleep(0)
        assert not waiting.done()
        go_on.set()
        return await waiting

    finished, cancelled = asyncio.run(main())
    assert finished == "finished"
    assert cancelled is not None
    assert cancelled.args == ("of the caller",)


def test_a_wait_that_is_itself_cancelled_is_the_works_affair_and_nobody_left() -> None:
    async def main() -> tuple[str, asyncio.CancelledError | None]:
        never: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        async def work() -> str:
            try:
                await never
            except asyncio.CancelledError:
                await asyncio.sleep(0)
                return "went on"
            return "never"

        asyncio.get_running_loop().call_soon(never.cancel)
        return await shielded(work())

    assert asyncio.run(main()) == ("went on", None)

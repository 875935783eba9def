"""Waiting to the end, whoever leaves meanwhile."""

import asyncio
from typing import Any

import pytest

from tallystick.gate.execute.stepping import Unstoppable, to_the_end, together


async def at_once(value: Any) -> Any:
    return value


async def fails(*, after_a_wait: bool) -> None:
    if after_a_wait:
        await asyncio.sleep(0)
    raise LookupError


def test_work_that_never_waits_is_done_without_giving_way() -> None:
    assert asyncio.run(to_the_end(at_once(7))) == (7, None)


def test_an_error_is_raised_as_it_is() -> None:
    for after_a_wait in (False, True):
        with pytest.raises(LookupError):
            asyncio.run(to_the_end(fails(after_a_wait=after_a_wait)))


@pytest.mark.parametrize("times", [1, 3])
def test_work_is_finished_although_its_caller_was_cancelled_and_that_is_told(times: int) -> None:
    async def main() -> tuple[str, asyncio.CancelledError | None]:
        begun, go_on = asyncio.Event(), asyncio.Event()

        async def work() -> str:
            begun.set()
            await go_on.wait()
            return "finished"

        waiting = asyncio.ensure_future(to_the_end(work()))
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
        return await to_the_end(work())

    assert asyncio.run(main()) == ("went on", None)


def test_work_whose_loop_ends_is_let_go_of() -> None:
    async def work() -> None:
        await asyncio.get_running_loop().create_future()

    waiting = to_the_end(work())
    loop = asyncio.new_event_loop()
    loop.call_soon(loop.stop)
    task = loop.create_task(waiting)
    loop.run_forever()
    waiting.close()
    task._log_destroy_pending = False
    loop.close()


def test_several_go_on_by_turns_and_give_what_came_of_each_in_order() -> None:
    steps: list[tuple[str, int]] = []

    async def work(name: str, times: int) -> str:
        for at in range(times):
            steps.append((name, at))
            await asyncio.sleep(0)
        return name

    names = asyncio.run(together([work("a", 2), work("b", 0), work("c", 3)]))
    assert names == ["a", "b", "c"]
    assert steps == [("a", 0), ("c", 0), ("a", 1), ("c", 1), ("c", 2)]


def test_an_error_of_one_is_raised_when_the_others_have_ended() -> None:
    ended: list[str] = []

    async def work() -> None:
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        ended.append("work")

    with pytest.raises(LookupError):
        asyncio.run(together([fails(after_a_wait=True), work(), fails(after_a_wait=False)]))
    assert ended == ["work"]


def test_whoever_leaves_cancels_all_that_go_on_and_leaves_when_they_have_ended() -> None:
    seen: list[str] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()
        stored: Unstoppable[str] = Unstoppable(loop=loop)

        async def work(name: str) -> None:
            try:
                await stored
            except asyncio.CancelledError:
                await asyncio.sleep(0)
                seen.append(f"{name} was told")
                raise

        waiting = asyncio.ensure_future(together([work("a"), work("b")]))
        await asyncio.sleep(0)
        waiting.cancel("of the caller")
        await asyncio.sleep(0)
        assert not waiting.done()
        stored.set_result("stored")
        with pytest.raises(asyncio.CancelledError, match="of the caller"):
            await waiting

    asyncio.run(main())
    assert seen == ["a was told", "b was told"]

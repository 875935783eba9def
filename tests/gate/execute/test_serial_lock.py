"""The lock of calls that decide on data that changes."""

import asyncio
import threading

from tallystick.gate.execute.serial_lock import SerialLock, lock_here, released_after


async def inside(lock: SerialLock, seen: list[str], name: str) -> None:
    await lock.acquire()
    with released_after(lock):
        seen.append(f"+{name}")
        await asyncio.sleep(0)
        seen.append(f"-{name}")


def test_calls_take_the_lock_in_the_order_they_came() -> None:
    seen: list[str] = []

    async def several() -> None:
        lock = SerialLock()
        await asyncio.gather(*(inside(lock, seen, name) for name in "abc"))

    asyncio.run(several())
    assert seen == ["+a", "-a", "+b", "-b", "+c", "-c"]


def test_threads_with_loops_of_their_own_exclude_each_other() -> None:
    lock, seen = SerialLock(), list[str]()

    async def several(name: str) -> None:
        for _ in range(50):
            await inside(lock, seen, name)

    threads = [threading.Thread(target=asyncio.run, args=(several(name),)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 400
    assert all(seen[at][1:] == seen[at + 1][1:] for at in range(0, 400, 2))


def test_a_waiter_whose_loop_is_gone_does_not_keep_the_lock() -> None:
    lock = SerialLock()
    asyncio.run(lock.acquire())
    gone = asyncio.new_event_loop()
    waiting = gone.create_task(lock.acquire())
    gone.run_until_complete(asyncio.sleep(0))
    waiting._log_destroy_pending = False  # it is left behind on purpose
    gone.close()
    lock.release()
    asyncio.run(asyncio.wait_for(lock.acquire(), 5))


def test_a_waiter_that_is_cancelled_when_its_turn_comes_passes_the_lock_on() -> None:
    async def three() -> None:
        lock = SerialLock()
        await lock.acquire()
        second, third = asyncio.ensure_future(lock.acquire()), asyncio.ensure_future(lock.acquire())
        await asyncio.sleep(0)
        lock.release()
        second.cancel()
        await asyncio.wait_for(third, 5)
        assert second.cancelled()

    asyncio.run(three())


def test_calls_inside_the_holder_use_an_inner_lock_until_it_is_done() -> None:
    async def nested() -> None:
        lock = SerialLock()
        await lock.acquire()
        with released_after(lock):
            inner = lock_here(lock)
            assert inner is not lock
            await inner.acquire()
            with released_after(inner):
                assert lock_here(lock) not in {lock, inner}
        assert lock_here(lock) is lock
        await asyncio.wait_for(lock.acquire(), 5)

    asyncio.run(nested())

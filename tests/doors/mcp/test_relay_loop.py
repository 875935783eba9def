"""The loop that stays awake for a moment: sooner than the system's own, and otherwise the same."""

import asyncio
import os
import selectors
import time
from collections.abc import Iterator

import pytest

from tallystick.doors.mcp.relay import session as relay_loop
from tallystick.doors.mcp.relay.session import WakefulSelector, wakeful_loop


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    read, write = os.pipe()
    yield read, write
    os.close(read)
    os.close(write)


@pytest.mark.promise("relay.awake")
@pytest.mark.parametrize("timeout", [None, 0, 0.001, 30.0])
def test_what_is_ready_is_told_at_once(pipe: tuple[int, int], timeout: float | None) -> None:
    with WakefulSelector() as selector:
        selector.register(pipe[0], selectors.EVENT_READ)
        os.write(pipe[1], b"x")
        ((key, events),) = selector.select(timeout)
        assert (key.fd, events) == (pipe[0], selectors.EVENT_READ)


@pytest.mark.promise("relay.awake")
@pytest.mark.parametrize("timeout", [0, 0.0005, 0.05])
def test_when_nothing_comes_the_time_is_kept(pipe: tuple[int, int], timeout: float) -> None:
    with WakefulSelector() as selector:
        selector.register(pipe[0], selectors.EVENT_READ)
        began = time.perf_counter()
        assert selector.select(timeout) == []
        assert time.perf_counter() - began >= timeout


@pytest.mark.promise("relay.awake")
def test_it_sleeps_soon_and_at_once_where_others_want_to_run(
    pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    stepped: list[float] = []
    with WakefulSelector() as selector:
        selector.register(pipe[0], selectors.EVENT_READ)
        monkeypatch.setattr(relay_loop, "_let_others", lambda: stepped.append(time.perf_counter()))
        before = time.process_time()
        selector.select(1.0)
        assert stepped[-1] - stepped[0] < 100 * relay_loop.AWAKE_S
        assert time.process_time() - before < 0.5
        monkeypatch.setattr(relay_loop, "_let_others", lambda: (stepped.append(0.0), time.sleep(0.005)))
        monkeypatch.setattr(relay_loop, "REST_S", 60.0)
        stepped.clear()
        for _ in range(5):
            selector.select(0.01)
        assert len(stepped) == 1


@pytest.mark.promise("relay.awake")
def test_a_loop_of_it_runs_tasks_timers_threads_and_children() -> None:
    async def everything() -> list[object]:
        child = await asyncio.create_subprocess_exec("true")
        slept, threaded = await asyncio.gather(asyncio.sleep(0.01, "slept"), asyncio.to_thread(str, 1))
        return [slept, threaded, await child.wait()]

    with asyncio.Runner(loop_factory=wakeful_loop) as runner:
        assert runner.run(everything()) == ["slept", "1", 0]

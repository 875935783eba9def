"""Calling the gate without `await`: from scripts, threads, notebooks, and after a fork."""

import asyncio
import os
import threading
from concurrent.futures import CancelledError

import pytest

from tallystick.turns.portal import Portal


async def seven() -> int:
    await asyncio.sleep(0)
    return 7


async def fails() -> None:
    raise LookupError


@pytest.mark.promise("house.sync")
def test_a_coroutine_runs_to_its_end() -> None:
    portal = Portal()
    assert portal.run(seven()) == 7
    with pytest.raises(LookupError):
        portal.run(fails())
    portal.close()


@pytest.mark.promise("house.sync")
def test_it_works_inside_a_running_loop() -> None:
    async def in_a_notebook() -> int:
        return portal.run(seven())

    portal = Portal()
    assert asyncio.run(in_a_notebook()) == 7
    portal.close()


@pytest.mark.promise("house.sync")
def test_many_threads_may_use_it_at_once() -> None:
    portal, results = Portal(), list[int]()
    threads = [threading.Thread(target=lambda: results.append(portal.run(seven()))) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [7] * 20
    portal.close()


def test_a_coroutine_on_the_portal_cannot_wait_for_itself() -> None:
    async def waits_for_itself() -> int:
        return portal.run(seven())

    portal = Portal()
    with pytest.raises(RuntimeError):
        portal.run(waits_for_itself())
    assert portal.run(seven()) == 7
    portal.close()


def test_closing_cancels_what_still_runs_and_nobody_waits_for_ever() -> None:
    begun, cancelled = threading.Event(), threading.Event()

    async def waits() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    def caller() -> None:
        with pytest.raises(CancelledError):
            portal.run(waits())

    portal = Portal()
    waiting = threading.Thread(target=caller)
    waiting.start()
    begun.wait()
    portal.close()
    waiting.join()
    assert cancelled.is_set()


def test_a_closed_portal_opens_again_when_it_is_needed() -> None:
    portal = Portal()
    portal.close()
    assert portal.run(seven()) == 7
    portal.close()
    portal.close()
    assert portal.run(seven()) == 7
    portal.close()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_copy_of_the_process_has_a_loop_of_its_own() -> None:
    portal = Portal()
    assert portal.run(seven()) == 7
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            status = 0 if portal.run(seven()) == 7 else 1
            portal.close()
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    portal.close()

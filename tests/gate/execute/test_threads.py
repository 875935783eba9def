"""Worker threads: none waits behind one that hangs, and none is lost."""

import os
import threading
from queue import SimpleQueue
from typing import Any

import pytest

from tallystick.gate.execute.threads import Job, Threads

Results = SimpleQueue[tuple[Any, BaseException | None]]
PATIENCE_S = 120


def run(threads: Threads, function: Any) -> tuple[Job, Results]:
    results: Results = SimpleQueue()
    return threads.run(function, lambda value, error: results.put((value, error))), results


def value(results: Results) -> Any:
    return results.get(timeout=PATIENCE_S)[0]


@pytest.mark.promise("execute.hung-thread")
def test_a_thousand_jobs_are_served_while_one_hangs() -> None:
    threads, stuck = Threads(limit=2), threading.Event()
    run(threads, stuck.wait)
    for number in range(1000):
        assert value(run(threads, lambda number=number: number)[1]) == number
    stuck.set()
    threads.close()


@pytest.mark.promise("execute.hung-thread")
def test_jobs_are_served_after_every_thread_hung_and_was_given_up() -> None:
    threads, stuck, begun = Threads(limit=4), threading.Event(), threading.Semaphore(0)

    def hangs() -> None:
        begun.release()
        stuck.wait()

    for _ in range(5):
        jobs = [run(threads, hangs)[0] for _ in range(4)]
        for job in jobs:
            assert begun.acquire(timeout=PATIENCE_S)
            threads.give_up(job)
    assert value(run(threads, lambda: "served")[1]) == "served"
    stuck.set()
    threads.close()


@pytest.mark.promise("execute.hung-thread")
def test_a_job_nobody_waits_for_any_more_is_not_begun() -> None:
    threads, stuck, ran = Threads(limit=1), threading.Event(), []
    _, first = run(threads, stuck.wait)
    late, _ = run(threads, lambda: ran.append("late"))
    threads.give_up(late)
    stuck.set()
    assert value(first) is True
    assert value(run(threads, lambda: "next")[1]) == "next"
    assert ran == []
    threads.close()


def test_a_thread_that_comes_back_makes_its_stand_in_unnecessary() -> None:
    threads = Threads(limit=1)
    for _ in range(20):
        stuck, begun = threading.Event(), threading.Event()

        def hangs(stuck: threading.Event = stuck, begun: threading.Event = begun) -> None:
            begun.set()
            stuck.wait()

        job, results = run(threads, hangs)
        begun.wait(PATIENCE_S)
        threads.give_up(job)
        threads.give_up(job)
        stuck.set()
        value(results)
    assert threads._limit == 1
    assert threads._unfinished == 0
    threads.close()


def test_jobs_of_many_threads_at_once_each_get_one_of_their_own() -> None:
    threads, together = Threads(limit=16), threading.Barrier(16)
    waiting = [run(threads, lambda: together.wait(PATIENCE_S))[1] for _ in range(16)]
    # Had any two shared a thread, none would ever have been let through.
    assert sorted(value(results) for results in waiting) == list(range(16))
    threads.close()


def test_when_the_system_gives_no_thread_the_call_fails_and_the_next_one_may_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    threads = Threads()
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", _no_more_threads)
        with pytest.raises(RuntimeError):
            run(threads, lambda: 1)
    assert value(run(threads, lambda: 2)[1]) == 2
    threads.close()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_copy_of_the_process_has_threads_of_its_own() -> None:
    threads = Threads()
    assert value(run(threads, lambda: 1)[1]) == 1
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            status = 0 if value(run(threads, lambda: 2)[1]) == 2 else 1
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    threads.close()


def _no_more_threads(_thread: threading.Thread) -> None:
    raise RuntimeError("can't start new thread")

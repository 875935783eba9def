"""Async, inline and thread tools: what they return, raise, and how long they may take."""

import asyncio
import contextlib
import logging
import os
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick import Tool, ToolError, current_call, note_file, tool
from tallystick.errors import RegistrationError
from tallystick.gate.execute.runner import Runner
from tallystick.gate.tool import Card
from tests.gate.execute.running import SESSION, a_call, fault_of, run, run_sync, value_of

LONG_S = 600
PATIENCE_S = 60
WAYS = ["async", "inline", "thread"]

RAISED: list[BaseException] = [
    ValueError("the password is hunter2"),
    SystemExit(3),
    KeyboardInterrupt(),
    asyncio.CancelledError(),
    TimeoutError("the other side is slow"),
    StopIteration(1),
    StopAsyncIteration(),
    RecursionError(),
    MemoryError(),
    BaseExceptionGroup("several", [ValueError(), SystemExit()]),
]


def a_tool(way: str, does: Callable[[], Any], **card: Any) -> Tool:
    """The same behaviour as a coroutine, on the loop, or in a thread; anything may come back."""

    async def as_async() -> Any:
        return does()

    async def after_a_wait() -> Any:
        await asyncio.sleep(0)
        return does()

    def plain() -> Any:
        return does()

    function = {"async": as_async, "waits": after_a_wait}.get(way, plain)
    return tool(effect="read", name="t", inline=way == "inline", **card)(function)


def raising(error: BaseException) -> Callable[[], Any]:
    def does() -> Any:
        raise error

    return does


@pytest.mark.promise("execute.ways")
@pytest.mark.parametrize("way", [*WAYS, "waits"])
def test_every_way_to_run_gives_the_result(way: str) -> None:
    assert value_of(run_sync(a_tool(way, lambda: {"words": 3}))) == {"words": 3}


@pytest.mark.promise("execute.ways")
def test_a_plain_function_runs_in_a_thread_unless_it_is_inline() -> None:
    here = threading.get_ident()
    assert value_of(run_sync(a_tool("thread", threading.get_ident))) != here
    assert value_of(run_sync(a_tool("inline", threading.get_ident))) == here


@pytest.mark.promise("execute.ways")
def test_a_coroutine_function_runs_as_one_whatever_the_card_says() -> None:
    async def late() -> int:
        await asyncio.sleep(0)
        return 7

    for how in ("thread", "inline", "async"):
        made = Tool(card=Card(name="t", description="", input_schema={"type": "object"}, how=how), handler=late)
        assert value_of(run_sync(made)) == 7


def test_a_plain_function_cannot_be_registered_as_a_coroutine() -> None:
    card = Card(name="t", description="", input_schema={"type": "object"}, how="async")
    with pytest.raises(RegistrationError) as caught:
        Runner().add(card, lambda: 1)
    assert caught.value.code == "handler_not_async"


@pytest.mark.promise("execute.failures")
@pytest.mark.parametrize("way", [*WAYS, "waits"])
@pytest.mark.parametrize("error", RAISED, ids=lambda error: type(error).__name__)
def test_whatever_a_tool_raises_is_a_failure_with_a_clean_message(way: str, error: BaseException) -> None:
    ran = run_sync(a_tool(way, raising(error)))
    assert fault_of(ran) == "tool_failed"
    assert ran.output is None
    assert ran.failure is not None
    assert "hunter2" not in ran.failure.message


@pytest.mark.promise("execute.failures")
@pytest.mark.parametrize("way", WAYS)
def test_the_stack_goes_to_the_log_and_not_to_the_caller(way: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR, "tallystick.execute"):
        ran = run_sync(a_tool(way, raising(ValueError("in the cellar"))))
    assert ran.failure is not None
    assert "cellar" not in ran.failure.message
    assert "in the cellar" in caplog.text
    assert "Traceback" in caplog.text


@pytest.mark.promise("execute.tool-error")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("error", "fault", "http"),
    [
        (ToolError("no such book", status=404, hint="look elsewhere"), "tool_failed", 404),
        (ToolError("somebody was faster", status=409), "tool_failed", 409),
        (ToolError("teapot", status=418), "tool_failed", 502),
        (ToolError("no table", status=400, hint="give another"), "bad_input", 400),
        (ToolError("no more", status=429), "spent", 429),
        (ToolError("broken"), "tool_failed", 502),
        (ToolError("numpy is missing", unavailable=True, hint="pip install it"), "part_missing", 422),
        (ToolError("missing", unavailable=True, status=404), "part_missing", 422),
    ],
)
def test_what_a_tool_says_on_purpose_reaches_the_caller(way: str, error: ToolError, fault: str, http: int) -> None:
    ran = run_sync(a_tool(way, raising(error)))
    assert fault_of(ran) == fault
    assert ran.failure is not None
    assert (ran.failure.message, ran.failure.hint, ran.failure.http) == (str(error), error.hint, http)


@pytest.mark.promise("execute.timeout")
@pytest.mark.parametrize("way", ["async", "thread"])
def test_a_tool_that_hangs_is_over_after_its_time(way: str) -> None:
    stuck = threading.Event()

    async def waits() -> None:
        await asyncio.sleep(LONG_S)

    def blocks() -> None:
        stuck.wait(LONG_S)

    made = tool(effect="read", name="t", timeout_s=0.05)(waits if way == "async" else blocks)
    started = time.monotonic()
    ran = run_sync(made)
    stuck.set()
    assert fault_of(ran) == "timeout"
    assert time.monotonic() - started < LONG_S / 10


@pytest.mark.promise("execute.timeout")
def test_the_time_limit_reaches_into_what_an_async_tool_waits_for() -> None:
    ended = []

    async def waits() -> None:
        try:
            await asyncio.gather(asyncio.sleep(LONG_S), asyncio.sleep(LONG_S))
        finally:
            ended.append("cleaned up")

    assert fault_of(run_sync(tool(effect="read", name="t", timeout_s=0.05)(waits))) == "timeout"
    assert ended == ["cleaned up"]


@pytest.mark.promise("execute.timeout")
def test_a_tools_own_timeout_inside_it_is_its_own() -> None:
    async def tries() -> str:
        try:
            async with asyncio.timeout(0.01):
                await asyncio.sleep(LONG_S)
        except TimeoutError:
            return "gave up"
        return "done"

    assert value_of(run_sync(tool(effect="read", name="t", timeout_s=LONG_S)(tries))) == "gave up"


@pytest.mark.promise("execute.cancel")
def test_a_call_that_is_cancelled_ends_as_cancelled_and_not_as_failed() -> None:
    async def cancelled(function: Callable[..., Any]) -> bool:
        task = asyncio.ensure_future(run(tool(effect="read", name="t")(function)))
        await asyncio.to_thread(begun.wait, PATIENCE_S)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        return task.cancelled()

    begun, stuck = threading.Event(), threading.Event()

    async def waits() -> None:
        begun.set()
        await asyncio.sleep(LONG_S)

    def blocks() -> None:
        begun.set()
        stuck.wait(LONG_S)

    assert asyncio.run(cancelled(waits))
    begun.clear()
    assert asyncio.run(cancelled(blocks))
    stuck.set()


@pytest.mark.promise("execute.output-check")
@pytest.mark.parametrize("way", [*WAYS, "waits"])
@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), -float("inf"), [1, {"x": float("nan")}], object(), b"bytes", 1 + 2j, "\ud800"],
    ids=lambda value: type(value).__name__,
)
def test_a_result_that_is_not_json_is_refused(way: str, value: Any) -> None:
    assert fault_of(run_sync(a_tool(way, lambda: value))) == "bad_result"


@pytest.mark.promise("execute.output-check")
@pytest.mark.parametrize("way", WAYS)
def test_a_result_of_the_wrong_shape_is_refused_and_not_shown(way: str) -> None:
    schema = {"type": "object", "properties": {"words": {"type": "integer"}}, "required": ["words"]}
    ran = run_sync(a_tool(way, lambda: {"words": "hunter2"}, output_schema=schema, input_schema={"type": "object"}))
    assert fault_of(ran) == "bad_result"
    assert ran.output is None
    assert ran.failure is not None
    assert "/words" in ran.failure.message
    assert "hunter2" not in ran.failure.message


@pytest.mark.promise("execute.output-check")
def test_the_annotation_of_the_result_is_what_is_checked() -> None:
    @tool(effect="read")
    async def counts() -> int:
        return "seven"  # type: ignore[return-value]

    assert fault_of(run_sync(counts)) == "bad_result"


@pytest.mark.promise("execute.output-size")
@pytest.mark.parametrize("way", WAYS)
def test_a_result_over_its_size_is_refused_and_one_byte_less_is_not(way: str) -> None:
    assert fault_of(run_sync(a_tool(way, lambda: "x" * 999, max_output_bytes=1000))) == "tool_failed"
    assert value_of(run_sync(a_tool(way, lambda: "x" * 998, max_output_bytes=1000))) == "x" * 998


@pytest.mark.promise("execute.current-call")
@pytest.mark.parametrize("way", [*WAYS, "waits"])
def test_a_tool_knows_its_call_and_nobody_else_does(way: str) -> None:
    def looks() -> str:
        call = current_call()
        assert call is not None
        assert (call.session, call.tool, call.dry_run, call.started_id) == (SESSION, "t", True, "rcpt_1")
        return "seen"

    async def both() -> None:
        made = a_tool(way, looks)
        assert value_of(await run(made, a_call(made, dry_run=True, started_id="rcpt_1"))) == "seen"
        assert current_call() is None

    asyncio.run(both())


@pytest.mark.promise("execute.current-call")
def test_after_a_call_within_a_call_the_outer_one_is_current_again() -> None:
    inner = a_tool("async", lambda: note_file("inner.md", "aa"))

    @tool(effect="read", name="outer")
    async def outer() -> str:
        await run(inner)
        note_file("outer.md", "bb")
        call = current_call()
        assert call is not None
        return call.tool

    call = a_call(outer)
    assert value_of(run_sync(outer, call)) == "outer"
    assert [ref["path"] for ref in call.file_refs] == ["outer.md"]


@pytest.mark.promise("execute.file-refs")
@pytest.mark.parametrize("way", [*WAYS, "waits"])
def test_files_a_tool_used_are_noted_with_its_call(way: str) -> None:
    def reads() -> None:
        note_file("Story/one.md", "ab" * 32)
        note_file("Story/two.md", "cd" * 32, lines=(3, 5), excerpt_sha256="ef" * 32)

    made = a_tool(way, reads)
    call = a_call(made)
    run_sync(made, call)
    assert call.sound_file_refs() == (
        {"path": "Story/one.md", "sha256": "ab" * 32},
        {"path": "Story/two.md", "sha256": "cd" * 32, "lines": [3, 5], "excerpt_sha256": "ef" * 32},
    )


@pytest.mark.promise("execute.file-refs")
@pytest.mark.parametrize(
    "wrong",
    [
        None, "path", {}, {"path": "a"}, {"path": "a", "sha256": 1.5}, {"path": "\ud800", "sha256": "a"},
        {"path": "a", "sha256": "b", "lines": [1.0, 2]}, {"path": "a", "sha256": "b", "lines": [1]},
        {"path": "a", "sha256": "b", "more": 1}, {"path": "a", "sha256": "b", "excerpt_sha256": None},
    ],
)  # fmt: skip
def test_a_reference_that_no_receipt_can_hold_is_left_out(wrong: Any) -> None:
    call = a_call(a_tool("inline", lambda: None))
    call.file_refs.append(wrong)
    call.file_refs.append({"path": "line\nbreak.md", "sha256": "ab"})
    assert [ref["path"] for ref in call.sound_file_refs()] == ["line\nbreak.md"]


def test_noting_a_file_outside_a_tool_does_nothing() -> None:
    note_file("Story/one.md", "ab" * 32)
    assert current_call() is None


def in_a_process(program: Callable[[], None]) -> int:
    """Run a program in a copy of this process, so that what it forks cannot reach the test."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            program()
            status = 0
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.promise("execute.forks")
@pytest.mark.parametrize("way", [*WAYS, "waits"])
@pytest.mark.parametrize("then", ["returns", "raises", "exits"])
def test_a_tool_that_forks_comes_back_once(way: str, then: str) -> None:
    read_end, write_end = os.pipe()

    def forks() -> str:
        if os.fork() == 0 and then != "returns":
            raise ValueError if then == "raises" else SystemExit(0)
        return "back"

    def program() -> None:
        ran = run_sync(a_tool(way, forks))
        os.write(write_end, f"{fault_of(ran)} ".encode())

    assert in_a_process(program) == 0
    os.close(write_end)
    with os.fdopen(read_end) as pipe:
        # Read to the end: every copy that is still alive holds the pipe open.
        assert pipe.read() == "None "


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text() | st.integers(), st.lists))
def test_any_value_comes_out_as_json_or_as_a_failure(value: Any) -> None:
    assert fault_of(run_sync(a_tool("async", lambda: value))) in {None, "bad_result"}

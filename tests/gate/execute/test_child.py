"""Tools in a process of their own: they cannot hang, flood, fork or kill the gate."""

import asyncio
import contextlib
import io
import logging
import os
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import orjson
import pytest

from tallystick import Tool
from tallystick.errors import RegistrationError
from tallystick.gate.execute import child
from tallystick.gate.execute.call import SERVED
from tallystick.gate.execute.child import handler_path
from tests.gate.execute import isolated
from tests.gate.execute.running import a_call, fault_of, run, run_sync, value_of


@pytest.mark.promise("execute.ways")
def test_a_tool_in_its_own_process_gives_its_result() -> None:
    assert value_of(run_sync(isolated.add, a=2, b=3)) == 5
    assert value_of(run_sync(isolated.add_async, a=2, b=3)) == 5


@pytest.mark.promise("execute.timeout")
@pytest.mark.parametrize("hung", [isolated.hangs, isolated.hangs_while_holding_the_interpreter])
def test_a_tool_that_hangs_is_killed(hung: Tool) -> None:
    started = time.monotonic()
    assert fault_of(run_sync(hung)) == "timeout"
    assert time.monotonic() - started < isolated.LONG_S / 10


@pytest.mark.promise("execute.isolated")
def test_what_a_tool_prints_goes_nowhere_and_cannot_pass_for_its_result(capfd: pytest.CaptureFixture[str]) -> None:
    assert value_of(run_sync(isolated.prints_a_lot, megabytes=16)) == "true"
    assert capfd.readouterr() == ("", "")


@pytest.mark.promise("execute.failures")
@pytest.mark.parametrize("kind", ["ValueError", "SystemExit", "KeyboardInterrupt", "CancelledError", "TimeoutError"])
def test_what_it_raises_is_a_failure_with_its_stack_in_the_log(kind: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR, "tallystick.execute"):
        ran = run_sync(isolated.raises, kind=kind)
    assert fault_of(ran) == "tool_failed"
    assert ran.failure is not None
    assert kind in ran.failure.message
    assert "hunter2" not in ran.failure.message
    assert "Traceback" in caplog.text


@pytest.mark.promise("execute.tool-error")
@pytest.mark.parametrize(
    ("status", "unavailable", "http"), [(404, False, 404), (409, False, 409), (418, False, 502), (None, True, 422)]
)
def test_what_it_says_on_purpose_reaches_the_caller(status: int | None, http: int, *, unavailable: bool) -> None:
    ran = run_sync(isolated.fails_on_purpose, status=status, unavailable=unavailable)
    assert ran.failure is not None
    assert (ran.failure.message, ran.failure.hint) == ("there is no such book", "look elsewhere")
    assert ran.failure.http == http


@pytest.mark.promise("execute.output-check")
@pytest.mark.parametrize("what", ["nan", "inside", "object", "surrogate"])
def test_a_result_that_is_not_json_is_refused(what: str) -> None:
    assert fault_of(run_sync(isolated.returns, what=what)) == "bad_result"


@pytest.mark.promise("execute.output-size")
def test_a_result_over_its_size_is_not_even_read_to_the_end() -> None:
    assert value_of(run_sync(isolated.returns_much, size=9_000)) == "x" * 9_000
    assert fault_of(run_sync(isolated.returns_much, size=50_000_000)) == "tool_failed"


@pytest.mark.promise("execute.isolated")
@pytest.mark.parametrize("ends", [isolated.dies, isolated.leaves_at_once])
def test_a_process_that_ends_without_an_answer_is_a_failure(ends: Tool) -> None:
    assert fault_of(run_sync(ends)) == "tool_failed"


@pytest.mark.promise("execute.forks")
def test_a_tool_that_forks_gives_one_answer_and_it_is_the_originals() -> None:
    assert {value_of(run_sync(isolated.forks)) for _ in range(5)} == {"original"}


@pytest.mark.promise("execute.forks")
@pytest.mark.parametrize("leaves", [isolated.leaves_a_child_running, isolated.starts_a_program])
def test_what_a_tool_leaves_running_is_killed_with_it(leaves: Tool) -> None:
    started = time.monotonic()
    pid = value_of(run_sync(leaves))
    assert time.monotonic() - started < isolated.LONG_S / 10
    assert gone(pid)


@pytest.mark.promise("execute.cancel")
def test_a_cancelled_call_kills_its_process() -> None:
    async def cancel() -> None:
        # Other tests of this process may have started a database or the like.
        before = set(children_of(os.getpid()))
        task = asyncio.ensure_future(run(isolated.hangs))
        while not ((children := set(children_of(os.getpid())) - before) or task.done()):  # noqa: ASYNC110 - no event
            await asyncio.sleep(0)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        assert task.cancelled()
        assert all(gone(pid) for pid in children)

    asyncio.run(cancel())


@pytest.mark.promise("execute.current-call")
def test_it_knows_its_call() -> None:
    call = a_call(isolated.who, dry_run=True, started_id="rcpt_1")
    assert value_of(run_sync(isolated.who, call)) == {
        "session": "s1",
        "agent": "critic",
        "subject": "ann",
        "roles": ["reader"],
        "tool": "who",
        "dry_run": True,
        "started": "rcpt_1",
    }


@pytest.mark.promise("execute.file-refs")
def test_files_it_used_are_noted_with_its_call() -> None:
    call = a_call(isolated.reads_a_file)
    run_sync(isolated.reads_a_file, call, path="Story/one.md")
    assert call.sound_file_refs() == (
        {"path": "Story/one.md", "sha256": "ab" * 32, "lines": [1, 3], "excerpt_sha256": "cd" * 32},
    )
    nonsense = a_call(isolated.notes_nonsense)
    assert value_of(run_sync(isolated.notes_nonsense, nonsense)) == "done"
    assert nonsense.sound_file_refs() == ()


@pytest.mark.promise("execute.isolated")
def test_nothing_of_our_environment_reaches_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TALLY_AUTH__JWT_SECRET", "x" * 32)
    assert set(value_of(run_sync(isolated.environment))) <= {"PATH", "PYTHONPATH", "LC_CTYPE"}


def test_a_function_that_another_process_cannot_import_is_refused_at_registration() -> None:
    def local() -> int:
        return 1

    for handler in (local, lambda: 1):
        with pytest.raises(RegistrationError) as caught:
            handler_path(handler)
        assert caught.value.code == "handler_not_importable"


def children_of(pid: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(FileNotFoundError):  # a thread that ended meanwhile
            found += map(int, (task / "children").read_text().split())
    return found


def gone(pid: int) -> bool:
    """Whether a process has ended; one that waits to be reaped by init has."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state in {"Z", "X"}:
            return True
    return False


# -- the child's own side, here in this process ------------------------------------------------------------------------


def answered(monkeypatch: pytest.MonkeyPatch, address: child.HandlerPath, **args: Any) -> dict[str, Any]:
    """What the child writes to its pipe for one request."""
    request = {"address": address, "args": args, "call": a_call(isolated.add)}
    stdin = SimpleNamespace(buffer=io.BytesIO(orjson.dumps(request, default=sorted)))
    monkeypatch.setattr(sys, "stdin", stdin)
    read_end, write_end = os.pipe()
    child._serve_one(write_end)
    SERVED.set(None)
    with os.fdopen(read_end, "rb") as pipe:
        answer: dict[str, Any] = orjson.loads(pipe.read())
    return answer


def test_the_child_answers_with_the_value_and_the_files(monkeypatch: pytest.MonkeyPatch) -> None:
    address = handler_path(isolated.reads_a_file.handler)
    answer = answered(monkeypatch, address, path="x.md")
    assert answer["value"] == "x.md"
    assert answer["file_refs"][0]["path"] == "x.md"


@pytest.mark.parametrize(
    ("made", "args", "kind"),
    [
        (isolated.fails_on_purpose, {"status": 404, "unavailable": False}, "ToolError"),
        (isolated.returns, {"what": "nan"}, "not JSON"),
        (isolated.raises, {"kind": "SystemExit"}, "SystemExit"),
        (isolated.add, {"a": 1}, "TypeError"),
    ],
)
def test_the_child_answers_with_the_kind_of_error(
    monkeypatch: pytest.MonkeyPatch, made: Tool, args: dict[str, Any], kind: str
) -> None:
    assert answered(monkeypatch, handler_path(made.handler), **args)["error"]["kind"] == kind


def test_the_child_finds_a_tool_in_a_file_that_no_import_finds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tools.py").write_text("def double(n: int) -> int:\n    return 2 * n\n")
    found = child.HandlerPath(module="tally_test_tools", name="double", file=str(tmp_path / "tools.py"))
    assert answered(monkeypatch, found, n=4)["value"] == 8
    sys.modules.pop("tally_test_tools")
    nowhere = child.HandlerPath(module="tally_test_nowhere", name="double")
    assert answered(monkeypatch, nowhere, n=4)["error"]["kind"] == "ModuleNotFoundError"

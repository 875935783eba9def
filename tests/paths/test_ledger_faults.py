"""When the ledger cannot write, nothing runs, nothing is shown, and what was begun is never forgotten."""

import asyncio
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import tallystick
from tallystick import Outcome, tool
from tallystick.gate.session import Session
from tests.gates import kinds, open_gate, outcomes, receipts, said
from tests.verifying import verify

RUNS: list[str] = []
JOURNAL = ".control-room/audit/journal"


@tool(effect="read")
async def look(text: str = "") -> str:
    RUNS.append("look")
    return text


@tool(effect="write")
async def put(text: str) -> str:
    RUNS.append("put")
    return "put " + text


@pytest.fixture(autouse=True)
def _forget() -> None:
    RUNS.clear()


@contextmanager
def full_disk(limit: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def log_of(workspace: Path) -> Path:
    (segment,) = (workspace / JOURNAL).glob("*.log")
    return segment


def deleted(workspace: Path) -> None:
    log_of(workspace).unlink()


def replaced(workspace: Path) -> None:
    data = log_of(workspace).read_bytes()
    log_of(workspace).unlink()
    (workspace / JOURNAL / "000000.log").write_bytes(data)


def a_link(workspace: Path) -> None:
    segment = log_of(workspace)
    segment.rename(workspace / "elsewhere.log")
    segment.symlink_to(workspace / "elsewhere.log")


def cut(workspace: Path) -> None:
    os.truncate(log_of(workspace), 10)


def refused(outcome: Outcome) -> bool:
    return (outcome.status, outcome.http, outcome.receipt_id, outcome.result) == ("rejected", 503, "", None)


@pytest.mark.promise("record.nothing-unlogged")
@pytest.mark.parametrize("durability", ["os", "fsync"])
@pytest.mark.parametrize("change", [deleted, replaced, a_link, cut])
def test_k09_a_log_that_is_not_what_it_was_stops_every_tool(
    tmp_path: Path, change: Callable[[Path], None], durability: str
) -> None:
    gate = open_gate(tmp_path, look, put, ledger={"durability": durability})
    assert asyncio.run(gate.call("look")).ok
    RUNS.clear()
    change(tmp_path)
    turn = gate.turn(session="s1")
    assert refused(asyncio.run(gate.call("put", {"text": "x"})))
    assert refused(asyncio.run(gate.call("look")))
    assert refused(asyncio.run(gate.call("nowhere")))
    assert refused(asyncio.run(turn.submit(said("look", {}, turn.nonce))))
    assert not turn.open
    assert RUNS == []
    gate.close()


@pytest.mark.promise("record.nothing-unlogged")
@pytest.mark.parametrize("durability", ["os", "fsync"])
def test_on_a_full_disk_nothing_that_writes_runs_and_the_next_call_works(tmp_path: Path, durability: str) -> None:
    with open_gate(tmp_path, look, put, ledger={"durability": durability}) as gate:
        assert asyncio.run(gate.call("put", {"text": "first"})).ok
        RUNS.clear()
        with full_disk(len(log_of(tmp_path).read_bytes().rstrip(b"\0")) + 100):
            assert refused(asyncio.run(gate.call("put", {"text": "x"})))
            assert RUNS == []
            # A tool that only reads may have read; what it read is not shown, since it could not be recorded.
            assert refused(asyncio.run(gate.call("look", {"text": "secret"})))
        assert asyncio.run(gate.call("put", {"text": "again"})).result == "put again"
        assert kinds(gate) == ["started", "outcome"] * 2
    assert verify(tmp_path).ok


@pytest.mark.promise("record.nothing-unlogged", "record.unfinished")
def test_when_the_outcome_cannot_be_written_the_result_is_not_shown_and_the_end_is_recorded_as_unknown(
    tmp_path: Path,
) -> None:
    @tool(effect="write")
    async def fills_the_disk() -> str:
        limit.__enter__()
        RUNS.append("ran")
        return "done"

    gate = open_gate(tmp_path, fills_the_disk)
    # Room for the started entry, and for nothing after it.
    limit = full_disk(1)
    try:
        outcome = asyncio.run(gate.call("fills_the_disk"))
    finally:
        limit.__exit__(None, None, None)
    assert refused(outcome)
    assert RUNS == ["ran"]
    assert kinds(gate) == ["started"]
    gate.close()
    with open_gate(tmp_path, look) as again:
        started, ended = receipts(again)
        assert (ended.header["outcome"]["status"], ended.header["links"]) == (
            "unknown",
            {"started": started.receipt_id},
        )
        assert asyncio.run(again.call("look")).ok
    assert verify(tmp_path).ok


PROGRAM = """
import asyncio, sys, time
from pathlib import Path
from tallystick import tool
from tallystick.gate.session import Caller, Session
from tests.gates import open_gate

@tool(effect=sys.argv[2], roles={"clerk"})
def slow(text: str) -> str:
    print("running", flush=True)
    time.sleep(600)
    return text

gate = open_gate(Path(sys.argv[1]), slow, policy={"external": "allow"}, ledger={"durability": sys.argv[3]})
where = Session(session_id="s1", agent_id="chief", task_id="t7", caller=Caller(subject="ann", roles=frozenset({"clerk"})))
asyncio.run(gate.call("slow", {"text": "x"}, session=where))
"""


def killed_while_it_runs(workspace: Path, effect: str, durability: str) -> None:
    path = os.pathsep.join([str(Path(tallystick.__file__).parents[1]), str(Path(__file__).parents[2])])
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(workspace), effect, durability],
        stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "running\n"
    process.send_signal(signal.SIGKILL)
    process.communicate()


@pytest.mark.promise("record.unfinished")
@pytest.mark.parametrize("durability", ["os", "fsync"])
@pytest.mark.parametrize("effect", ["write", "external"])
def test_a_process_killed_while_a_tool_runs_leaves_an_end_that_is_unknown(
    tmp_path: Path, effect: str, durability: str
) -> None:
    killed_while_it_runs(tmp_path, effect, durability)
    with open_gate(tmp_path, look) as gate:
        started, ended = receipts(gate)
        assert (started.header["kind"], ended.header["kind"]) == ("started", "outcome")
        assert ended.header["outcome"]["status"] == "unknown"
        assert ended.header["links"] == {"started": started.receipt_id}
        same: dict[str, Any] = {"session_id": "s1", "agent_id": "chief", "task_id": "t7", "tool_id": "slow"}
        for header in (started.header, ended.header):
            assert {name: header[name] for name in same} == same
            assert header["caller"]["subject"] == "ann"
    with open_gate(tmp_path, look) as gate:
        # It is said once.
        assert gate.ledger.size() == 2
    assert verify(tmp_path).ok


@pytest.mark.promise("record.unfinished")
def test_a_call_that_only_read_leaves_nothing_when_its_process_is_killed(tmp_path: Path) -> None:
    killed_while_it_runs(tmp_path, "read", "os")
    with open_gate(tmp_path, look) as gate:
        assert gate.ledger.size() == 0
        assert asyncio.run(gate.call("look")).ok


@pytest.mark.promise("record.unfinished")
def test_a_call_under_way_in_a_living_process_is_not_taken_for_lost(tmp_path: Path) -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()

    @tool(effect="write")
    async def slow() -> str:
        begun.set()
        await go_on.wait()
        return "done"

    async def main() -> Outcome:
        call = asyncio.ensure_future(first.call("slow", session=Session(session_id="s1")))
        await begun.wait()
        with open_gate(tmp_path, look) as second:
            assert [receipt.header["kind"] for receipt in receipts(second)] == ["started"]
        go_on.set()
        return await call

    with open_gate(tmp_path, slow) as first:
        assert asyncio.run(main()).ok
        assert [receipt.header["outcome"]["status"] for receipt in outcomes(first)] == ["accepted"]

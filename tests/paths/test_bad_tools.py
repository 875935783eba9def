"""Tools that hang, fork or flood, under the whole gate: a fixed code, a receipt, and the gate goes on."""

import asyncio
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tallystick import Gate, Outcome, ToolError, tool
from tests.gate.execute import isolated
from tests.gate.execute.test_runner import in_a_process
from tests.gates import kinds, open_gate, outcomes
from tests.sizes import size
from tests.verifying import verify


@tool(effect="read")
async def look(n: int = 0) -> int:
    return n


@tool(effect="read")
def look_in_a_thread(n: int = 0) -> int:
    return n


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    with open_gate(tmp_path, look, look_in_a_thread) as opened:
        yield opened


def fault(outcome: Outcome) -> str | None:
    return None if outcome.fault is None else outcome.fault.name


@pytest.mark.promise("execute.hung-thread")
def test_a_thousand_calls_after_hung_threads_are_still_served(gate: Gate) -> None:
    stuck = threading.Event()

    @tool(effect="read", timeout_s=0.05)
    def hangs() -> None:
        stuck.wait()

    async def all_of_them() -> None:
        hung = await asyncio.gather(*(gate.call("hangs") for _ in range(70)))
        assert {fault(outcome) for outcome in hung} == {"timeout"}
        for number in range(1_000):
            assert (await gate.call("look_in_a_thread", {"n": number})).result == number

    gate.register(hangs)
    asyncio.run(all_of_them())
    stuck.set()
    assert len(outcomes(gate)) == 1_070


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.promise("execute.forks")
@pytest.mark.parametrize("way", ["async", "inline", "thread"])
@pytest.mark.parametrize("durability", ["os", "fsync"])
@pytest.mark.parametrize("then", ["returns", "raises"])
def test_a_tool_that_forks_leaves_one_receipt(tmp_path: Path, way: str, durability: str, then: str) -> None:
    def forks() -> str:
        if os.fork() == 0 and then == "raises":
            raise ValueError
        return "back"

    async def forks_async() -> str:
        return forks()

    def program() -> None:
        made = tool(effect="write", name="forks", inline=way == "inline")(forks_async if way == "async" else forks)
        with open_gate(tmp_path, made, look, ledger={"durability": durability}) as opened:
            assert asyncio.run(opened.call("forks")).result == "back"
            assert asyncio.run(opened.call("look", {"n": 1})).result == 1

    read_end, write_end = os.pipe()
    assert in_a_process(program) == 0
    os.close(write_end)
    with os.fdopen(read_end) as pipe:
        # Nothing that was forked is still there to write anything.
        assert pipe.read() == ""
    assert verify(tmp_path).ok
    with open_gate(tmp_path) as opened:
        assert kinds(opened) == ["started", "outcome", "outcome"]


@pytest.mark.promise("execute.isolated", "execute.forks", "execute.output-size")
def test_an_isolated_tool_can_do_the_gate_no_harm(gate: Gate) -> None:
    names = [
        "hangs",
        "prints_a_lot",
        "dies",
        "leaves_at_once",
        "forks",
        "leaves_a_child_running",
        "returns_much",
        "add",
    ]
    gate.register(*(getattr(isolated, name) for name in names))
    args: dict[str, dict[str, Any]] = {
        "prints_a_lot": {"megabytes": size(8, 512)}, "returns_much": {"size": 1_000_000}, "add": {"a": 1, "b": 2}
    }  # fmt: skip

    async def all_at_once() -> list[Outcome]:
        return await asyncio.gather(*(gate.call(name, args.get(name, {})) for name in names))

    results = dict(zip(names, asyncio.run(all_at_once()), strict=True))
    assert {name: fault(outcome) for name, outcome in results.items()} == {
        "hangs": "timeout",
        "prints_a_lot": None,
        "dies": "tool_failed",
        "leaves_at_once": "tool_failed",
        "forks": None,
        "leaves_a_child_running": None,
        "returns_much": "tool_failed",
        "add": None,
    }
    assert (results["prints_a_lot"].result, results["forks"].result) == ("true", "original")
    assert len(outcomes(gate)) == len(names)
    assert asyncio.run(gate.call("look", {"n": 7})).result == 7


@pytest.mark.promise("record.secrets", "execute.tool-error")
@pytest.mark.parametrize("secret", ["sk-AbCdEfGhIjKlMnOpQrStUv", "Bearer abcdefghijklmnop.qrst"])
def test_a_token_in_what_a_tool_says_is_masked_for_the_caller_and_in_the_receipt(gate: Gate, secret: str) -> None:
    @tool(effect="read")
    async def fails() -> None:
        raise ToolError(f"refused: {secret}", status=404, hint=f"renew {secret}")

    gate.register(fails)
    outcome = asyncio.run(gate.call("fails"))
    assert outcome.http == 404
    assert secret not in str(outcome)
    assert secret not in str(outcomes(gate)[0].flat())
    assert outcome.failure is not None
    assert (outcome.failure.message, outcome.failure.hint) == ("refused: [redacted]", "renew [redacted]")

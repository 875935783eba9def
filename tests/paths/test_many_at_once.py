"""Threads, tasks and processes that append to one session at once: one valid chain each time."""

import asyncio
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import tallystick
from tallystick import Gate, tool
from tests.gates import open_gate, outcomes
from tests.sizes import size
from tests.verifying import verify

EACH = size(100, 1_000)


@tool(effect="read")
async def note(who: int, number: int) -> int:
    return number


async def append(gate: Gate, who: int, many: int = EACH) -> None:
    for number in range(many):
        outcome = await gate.call("note", {"who": who, "number": number}, session="shared")
        assert outcome.result == number


def check(workspace: Path, writers: int) -> None:
    """Every call is there, each writer's in its own order, and the whole is one chain."""
    report = verify(workspace)
    assert report.ok, report.problems
    with open_gate(workspace, note) as gate:
        calls = [receipt.inputs["args"] for receipt in outcomes(gate)]
        assert len(calls) == writers * EACH
        for who in range(writers):
            assert [call["number"] for call in calls if call["who"] == who] == list(range(EACH))
        assert sum(1 for _ in gate.ledger.session("shared")) == writers * EACH


@pytest.mark.promise("record.one-chain")
@pytest.mark.parametrize("durability", ["os", "fsync"])
def test_four_threads(tmp_path: Path, durability: str) -> None:
    with open_gate(tmp_path, note, ledger={"durability": durability}) as gate:
        threads = [threading.Thread(target=lambda who=who: asyncio.run(append(gate, who))) for who in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    check(tmp_path, 4)


@pytest.mark.promise("record.one-chain")
@pytest.mark.parametrize("durability", ["os", "fsync"])
def test_sixty_four_tasks(tmp_path: Path, durability: str) -> None:
    async def all_of_them(gate: Gate) -> None:
        await asyncio.gather(*(append(gate, who) for who in range(64)))

    with open_gate(tmp_path, note, ledger={"durability": durability}) as gate:
        asyncio.run(all_of_them(gate))
    check(tmp_path, 64)


PROGRAM = """
import asyncio, sys
from pathlib import Path
from tests.gates import open_gate
from tests.paths.test_many_at_once import append, note
with open_gate(Path(sys.argv[1]), note, ledger={"durability": sys.argv[2]}) as gate:
    print("ready", flush=True)
    sys.stdin.readline()
    asyncio.run(append(gate, int(sys.argv[3])))
"""


@pytest.mark.promise("record.one-chain")
@pytest.mark.parametrize("durability", ["os", "fsync"])
def test_two_processes(tmp_path: Path, durability: str) -> None:
    root = Path(__file__).parents[2]
    path = os.pathsep.join([str(Path(tallystick.__file__).parents[1]), str(root)])
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(tmp_path), durability, str(who)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": path},
        )
        for who in range(2)
    ]  # fmt: skip
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        process.communicate()
        assert process.returncode == 0
    check(tmp_path, 2)

"""What a tool says of its progress: heard by whoever listens, and by nobody else."""

import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick import Gate, report_progress, tool
from tallystick.gate.execute.progress import LISTENER, Progress
from tallystick.settings import parse_settings


@tool(effect="read")
def on_a_thread() -> str:
    "Report from a thread."
    report_progress(1, 2, "half")
    return "done"


@tool(effect="read", inline=True)
def inline() -> str:
    "Report from the loop, and things that are no numbers."
    report_progress(1, 2, "half")
    report_progress(math.nan)
    report_progress(2, math.inf)
    return "done"


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    with Gate.open(tmp_path, settings=parse_settings({"ledger": {"durability": "os"}}), plugins=False) as opened:
        opened.register(on_a_thread, inline)
        yield opened


@pytest.mark.parametrize("name", ["on_a_thread", "inline"])
@pytest.mark.promise("mcp.progress")
def test_a_report_reaches_the_listener_of_its_own_call(gate: Gate, name: str) -> None:
    heard: list[Progress] = []

    async def call() -> None:
        LISTENER.set(heard.append)
        (await gate.call(name)).unwrap()

    gate._portal.run(call())
    gate.call_sync(name).unwrap()

    assert heard == [Progress(done=1, total=2, message="half")]


@pytest.mark.promise("mcp.list-changes")
def test_whoever_watches_is_told_when_a_tool_comes_or_goes_until_he_stops(gate: Gate) -> None:
    told: list[int] = []
    end = gate.watch_tools(lambda: told.append(len(gate.tools())))
    gate.unregister("inline")
    gate.unregister("inline")
    gate.register(inline)
    end()
    end()
    gate.unregister("inline")

    assert told == [1, 2]

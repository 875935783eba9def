"""Governed calls a second with 1, 2 and 4 gate processes on one ledger."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from tallystick import Gate

PROCESSES = (1, 2, 4)
WARM = 50
NODE = """
import asyncio, sys, time
from tallystick import Gate, tool
from tallystick.settings import Settings

@tool(effect="read", inline=True)
def echo(text: str, n: int) -> str:
    "Echo."
    return f"{text}:{n}"

async def main(folder, durability, name, callers, seconds, warm):
    settings = Settings.model_validate({"ledger": {"durability": durability}})
    with Gate.open(folder, settings=settings, plugins=False) as gate:
        gate.register(echo)
        for number in range(warm):
            await gate.call("echo", {"text": "warm", "n": number}, session=name)
        print("ready", flush=True)
        sys.stdin.readline()
        done, end = 0, time.perf_counter() + seconds

        async def caller(session):
            nonlocal done
            while time.perf_counter() < end:
                outcome = await gate.call("echo", {"text": "hello world", "n": done}, session=session)
                assert outcome.ok, outcome
                done += 1

        began = time.perf_counter()
        await asyncio.gather(*(caller(f"{name}-{number}") for number in range(callers)))
        print(done, time.perf_counter() - began, flush=True)

asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), float(sys.argv[5]), int(sys.argv[6])))
"""
"""One gate process: it says when it is ready, begins when it is told to, and says how many calls it made."""
CASES = (("os", 1), ("fsync", 1), ("fsync", 16))
"""How durable, and how many callers each process has."""


def run(folder: Path, *, full: bool) -> dict[str, Any]:
    seconds = 10.0 if full else 2.0
    (folder / "node.py").write_text(NODE)
    rows = [
        _measure(folder, durability, callers, processes, seconds)
        for durability, callers in CASES
        for processes in PROCESSES
    ]
    lines = [
        "| durability | callers a process | processes | calls | calls/s |",
        "|---|---:|---:|---:|---:|",
        *(
            f"| `{row['durability']}` | {row['callers']} | {row['processes']} | {row['calls']:,} | **{row['per_s']:,}** |"
            for row in rows
        ),
        "",
        "Each ledger was verified afterwards: one chain, a receipt for every call.",
    ]
    goal = "one chain and a receipt for every call, whatever the number of processes"
    return {"goal": goal, "markdown": "\n".join(lines), "rows": rows}


def _measure(folder: Path, durability: str, callers: int, processes: int, seconds: float) -> dict[str, Any]:
    workspace = folder / f"{durability}-{callers}-{processes}"
    workspace.mkdir()
    nodes = [
        subprocess.Popen(
            [sys.executable, str(folder / "node.py"), str(workspace), durability, f"p{number}", str(callers), str(seconds), str(WARM)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for number in range(processes)
    ]  # fmt: skip
    for node in nodes:
        assert node.stdout is not None
        assert node.stdout.readline().strip() == "ready"
    for node in nodes:
        assert node.stdin is not None
        node.stdin.write("go\n")
        node.stdin.flush()
    told = [node.communicate(timeout=seconds * 20 + 120)[0] for node in nodes]
    calls = sum(int(said.split()[0]) for said in told)
    longest = max(float(said.split()[1]) for said in told)
    report = Gate.verify(workspace)
    if not report.ok or report.size < calls + WARM * processes:
        raise RuntimeError(f"{report.problems}: {report}")
    return {
        "durability": durability, "callers": callers, "processes": processes, "calls": calls,
        "per_s": round(calls / longest),
    }  # fmt: skip

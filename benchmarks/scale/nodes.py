"""Governed calls a second with 1, 2 and 4 nodes on one PostgreSQL, each with a folder of its own, beside one node on files."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from tallystick import Gate
from tallystick.settings import Settings
from tallystick.storage.ledger import verify_workspace
from tests.own_postgres import OwnPostgres

NODES = (1, 2, 4)
TOOL_MS = (0, 5)
CALLERS = 4
WARM = 50
NODE = """
import asyncio, sys, time
from tallystick import Gate, tool
from tallystick.settings import Settings

wait_s = float(sys.argv[5])

@tool(effect="read")
async def look(text: str, n: int) -> str:
    "Look something up."
    if wait_s:
        await asyncio.sleep(wait_s)
    return f"{text}:{n}"

async def main(folder, settings, name, seconds):
    with Gate.open(folder, settings=Settings.model_validate_json(settings), plugins=False) as gate:
        gate.register(look)
        for number in range(int(sys.argv[7])):
            await gate.call("look", {"text": "warm", "n": number}, session=name)
        print("ready", flush=True)
        sys.stdin.readline()
        took, began = [], time.perf_counter()
        cpu, end = time.process_time(), began + seconds

        async def caller(session):
            while (at := time.perf_counter()) < end:
                outcome = await gate.call("look", {"text": "hello world", "n": len(took)}, session=session)
                assert outcome.ok, outcome
                took.append(time.perf_counter() - at)

        await asyncio.gather(*(caller(f"{name}-{number}") for number in range(int(sys.argv[6]))))
        wall = time.perf_counter() - began
        print(len(took), wall, time.process_time() - cpu, sorted(took)[int(len(took) * 0.99)], flush=True)

asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4])))
"""


def run(folder: Path, *, full: bool) -> dict[str, Any]:
    seconds = 10.0 if full else 3.0
    (folder / "node.py").write_text(NODE)
    server = OwnPostgres()
    try:
        rows = []
        for tool_ms in TOOL_MS:
            rows.append(_measure(folder, None, 1, tool_ms, seconds))
            rows += [_measure(folder, server, nodes, tool_ms, seconds) for nodes in NODES]
    finally:
        server.close()
    lines = [
        "| tool takes | journal | nodes | calls/s | p99 | CPU of a call, node | CPU of a call, database |",
        "|---:|---|---:|---:|---:|---:|---:|",
        *(
            f"| {row['tool_ms']} ms | {row['journal']} | {row['nodes']} | **{row['per_s']:,}** | {row['p99_ms']} ms"
            f" | {row['node_us']} µs | {row['database_us']} µs |"
            for row in rows
        ),
        "",
        f"{CALLERS} callers a node; every call waits for fsync. Each journal was verified afterwards: one chain.",
    ]
    goal = "two nodes at least 1.5 times one node's rate when the tool takes 5 ms"
    return {"goal": goal, "markdown": "\n".join(lines), "rows": rows}


def _measure(folder: Path, server: OwnPostgres | None, nodes: int, tool_ms: int, seconds: float) -> dict[str, Any]:
    place = folder / f"{'files' if server is None else 'postgres'}-{nodes}-{tool_ms}"
    storage = {} if server is None else {"journal": "postgres", "database_url": server.new_database()}
    folders = [place / f"n{number}" for number in range(nodes)]
    chosen = [
        Settings.model_validate({"storage": {**storage, "state_dir": str(one / "state")}}).model_dump_json()
        for one in folders
    ]
    for one, settings in zip(folders, chosen, strict=True):
        audit = one / ".control-room" / "audit"
        if one is folders[0]:
            one.mkdir(parents=True)
            Gate.open(one, settings=Settings.model_validate_json(settings), plugins=False).close()
        else:
            audit.mkdir(parents=True, mode=0o700)
            for key in ("secret.key", "log.key"):
                shutil.copy2(folders[0] / ".control-room" / "audit" / key, audit / key)
    started = [
        subprocess.Popen(
            [sys.executable, str(folder / "node.py"), str(one), settings, f"p{at}", str(seconds), str(tool_ms / 1000),
             str(CALLERS), str(WARM)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for at, (one, settings) in enumerate(zip(folders, chosen, strict=True))
    ]  # fmt: skip
    for node in started:
        assert node.stdout is not None
        assert node.stdout.readline().strip() == "ready"
    before = _cpu_of(server)
    for node in started:
        assert node.stdin is not None
        node.stdin.write("go\n")
        node.stdin.flush()
    told = [node.stdout.readline().split() for node in started if node.stdout is not None]
    database_s = _cpu_of(server) - before
    for node in started:
        node.wait(timeout=120)
    calls = sum(int(said[0]) for said in told)
    report = verify_workspace(folders[0], Settings.model_validate_json(chosen[0]))
    if not report.ok or report.size < calls:
        raise RuntimeError(f"{report.problems}: {report}")
    return {
        "tool_ms": tool_ms, "journal": "files" if server is None else "postgres", "nodes": nodes, "calls": calls,
        "per_s": round(calls / max(float(said[1]) for said in told)),
        "p99_ms": round(1000 * max(float(said[3]) for said in told), 1),
        "node_us": round(sum(float(said[2]) for said in told) / calls * 1_000_000),
        "database_us": round(database_s / calls * 1_000_000),
    }  # fmt: skip


def _cpu_of(server: OwnPostgres | None) -> float:
    """CPU seconds of the server and all its processes, those that have ended too."""
    if server is None or server.pid is None:
        return 0.0
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(stat.parent.name) == server.pid:
            ticks += sum(map(int, fields[11:15]))  # with its ended children
        elif int(fields[1]) == server.pid:
            ticks += sum(map(int, fields[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")

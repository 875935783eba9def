"""`POST /api/gate/call` beside a bare ASGI application that validates, signs and appends, under the same server."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import orjson

PROMISES = ("speed.http",)
FLOOR = "bare ASGI with receipt, uvicorn as it installs (h11)"
FASTER = "the same with httptools"
GATE = "POST /api/gate/call"
SECONDS = 2.0
CONNECTIONS = 16
OURS = orjson.dumps({"tool": "echo", "args": {"text": "hello world", "n": 7}, "session": "bench"})
BARE = orjson.dumps({"id": 1, "params": {"arguments": {"text": "hello world", "n": 7}}})


def run(folder: Path, *, full: bool) -> dict[str, Any]:
    workspace = folder / "ws"
    workspace.mkdir()
    (workspace / "tools.py").write_text(
        "from tallystick import tool\n\n@tool(effect='read')\nasync def echo(text: str, n: int) -> str:\n"
        "    'Echo.'\n    return f'{text}:{n}'\n"
    )
    (workspace / "tallystick.toml").write_text('[gate]\ntools = ["tools.py"]\n[ledger]\ndurability = "os"\n')
    ports = [_free_port() for _ in range(3)]
    serve = [sys.executable, "-m", "tallystick", "serve", "--workspace", str(workspace), "--port", str(ports[2]), "--no-worker"]  # fmt: skip
    servers = [
        subprocess.Popen([sys.executable, "-m", "benchmarks.bare_asgi", str(port), str(folder / f"{http}.jsonl"), http])
        for port, http in zip(ports, ("h11", "httptools"), strict=False)
    ] + [subprocess.Popen(serve, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)]
    try:
        rates: dict[str, list[float]] = {FLOOR: [], FASTER: [], GATE: []}
        cpu: dict[str, list[float]] = {name: [] for name in rates}
        targets = [
            (FLOOR, ports[0], "/receipt", BARE, servers[0].pid),
            (FASTER, ports[1], "/receipt", BARE, servers[1].pid),
            (GATE, ports[2], "/api/gate/call", OURS, servers[2].pid),
        ]
        for _, port, path, body, _ in targets:
            _wait(port)
            asyncio.run(_load(port, path, body, 0.5))
        for number in range(7 if full else 3):
            for name, port, path, body, pid in targets if number % 2 == 0 else targets[::-1]:
                before = _cpu_s(pid)
                rate, calls = asyncio.run(_load(port, path, body, SECONDS))
                rates[name].append(rate)
                cpu[name].append((_cpu_s(pid) - before) / calls * 1e6)
    finally:
        for server in servers:
            server.send_signal(signal.SIGTERM)
        for server in servers:
            server.wait(timeout=10)
    base, faster, ours = (statistics.median(rates[name]) for name in (FLOOR, FASTER, GATE))
    base_cpu, faster_cpu, ours_cpu = (statistics.median(cpu[name]) for name in (FLOOR, FASTER, GATE))
    lines = ["| server | requests/s | CPU µs a request |", "|---|---:|---:|"]
    lines += [
        f"| {name} | {statistics.median(rates[name]):,.0f} | {statistics.median(cpu[name]):.0f} |" for name in rates
    ]
    lines += [
        "",
        f"Rate: **{ours / base:.0%}** of the bare server's as uvicorn installs it ({base_cpu / ours_cpu:.0%} by CPU time); "
        f"{ours / faster:.0%} of the same with httptools ({faster_cpu / ours_cpu:.0%} by CPU time).",
    ]
    return {"markdown": "\n".join(lines), "share": round(ours / base, 3), "share_httptools": round(ours / faster, 3),
            "rows": {name: [round(rate) for rate in values] for name, values in rates.items()}, "goal": "≥ 60 % of the bare server's rate"}  # fmt: skip


async def _load(port: int, path: str, body: bytes, seconds: float) -> tuple[float, int]:
    request = (f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\ncontent-type: application/json\r\n"
               f"content-length: {len(body)}\r\n\r\n").encode() + body  # fmt: skip
    done = 0
    stop = time.perf_counter() + seconds

    async def connection() -> None:
        nonlocal done
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while time.perf_counter() < stop:
            writer.write(request)
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            answer = await reader.readexactly(int(head.split(b"content-length:")[1].split(b"\r\n")[0]))
            if b"hello world:7" not in answer:
                raise RuntimeError(answer)
            done += 1
        writer.close()

    began = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for _ in range(CONNECTIONS):
            group.create_task(connection())
    return done / (time.perf_counter() - began), done


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait(port: int) -> None:
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    message = f"no server on port {port}"
    raise RuntimeError(message)


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

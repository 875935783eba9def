"""Calls over HTTP through `tally mcp wrap --url`, eight under way, beside the same server without it.

The server is made with the official SDK (streamable HTTP as it comes). Alone it is asked by the HTTP client that the
relay has, so that both ways differ in the gate and the pipes only.
"""

from __future__ import annotations

import asyncio
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import orjson

from benchmarks.relay import HELLO, POLICY, SDK, Speaker
from tallystick.providers.net.connection_pool import ConnectionPool, ConnectionPoolError

PROMISES = ("relay.web-speed",)
GOAL = 500
UNDER_WAY = 8
START_S = 30.0
ACCEPTED = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


class Pipelined(Speaker):
    """A client that does not wait for one answer before it asks again."""

    def rate(self, calls: int) -> float:
        """Calls a second."""
        began = time.perf_counter()
        for number in range(UNDER_WAY):
            self._call(number)
        for number in range(UNDER_WAY, calls + UNDER_WAY):
            _check(self._out.readline())
            if number < calls:
                self._call(number)
        return calls / (time.perf_counter() - began)

    def _call(self, number: int) -> None:
        self._number += 1
        self._send(_call(self._number, number))


def run(folder: Path, *, full: bool) -> dict[str, Any]:
    calls, rounds = (1_000, 7) if full else (200, 3)
    port = _free_port()
    script = folder / "sdk_http.py"
    script.write_text(SDK.replace('run("stdio")', f'run("streamable-http", port={port})'))
    url = f"http://127.0.0.1:{port}/mcp"
    server = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    rates: dict[str, list[float]] = {"SDK server, direct": []}
    speakers: dict[str, Pipelined] = {}
    try:
        asyncio.run(_direct(url, UNDER_WAY))  # it is up
        for durability in ("os", "fsync"):
            speakers[f"SDK server, wrapped, {durability}"] = Pipelined([*_wrap(folder, durability), "--url", url])
        for _ in range(rounds):
            rates["SDK server, direct"].append(asyncio.run(_direct(url, calls)))
            for name, speaker in speakers.items():
                rates.setdefault(name, []).append(speaker.rate(calls))
    finally:
        for speaker in speakers.values():
            speaker.close()
        server.terminate()
        server.wait()
    return _told({name: statistics.median(found) for name, found in rates.items()})


async def _direct(url: str, calls: int) -> float:
    """Calls a second of the server alone."""
    server = ConnectionPool(url, [])
    hello = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": HELLO}
    reply, end = None, time.monotonic() + START_S
    while reply is None:
        try:
            reply = await server.ask("POST", ACCEPTED, orjson.dumps(hello))
        except ConnectionPoolError:
            if time.monotonic() > end:
                raise
            await asyncio.sleep(0.05)
    session = {"Mcp-Session-Id": reply.headers["mcp-session-id"], "Mcp-Protocol-Version": HELLO["protocolVersion"]}
    headers = {**ACCEPTED, **session}
    _ = [piece async for piece in reply.pieces()]
    server.done(reply)
    numbers = iter(range(calls))

    async def one_after_another() -> None:
        for number in numbers:
            reply = await server.ask("POST", headers, orjson.dumps(_call(number + 1, number)))
            _check(b"".join([piece async for piece in reply.pieces()]))
            server.done(reply)

    server.done(await server.ask("POST", headers, b'{"jsonrpc":"2.0","method":"notifications/initialized"}'))
    began = time.perf_counter()
    await asyncio.gather(*(one_after_another() for _ in range(UNDER_WAY)))
    took = time.perf_counter() - began
    server.done(await server.ask("DELETE", session))
    server.close()
    return calls / took


def _call(ident: int, number: int) -> dict[str, Any]:
    params = {"name": "echo", "arguments": {"text": "hello world", "n": number}}
    return {"jsonrpc": "2.0", "id": ident, "method": "tools/call", "params": params}


def _check(answer: bytes) -> None:
    if b"hello world:" not in answer:
        raise RuntimeError(answer)


def _wrap(folder: Path, durability: str) -> list[str]:
    workspace = folder / f"http-{durability}"
    workspace.mkdir(exist_ok=True)
    (workspace / "tallystick.toml").write_text(POLICY.format(durability=durability))
    return [sys.executable, "-m", "tallystick", "mcp", "wrap", "--workspace", str(workspace), "--name", "http"]


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


def _told(rates: dict[str, float]) -> dict[str, Any]:
    direct = rates["SDK server, direct"]
    lines = ["| way | calls/s | of the server alone |", "|---|---:|---:|"]
    lines += [f"| {name} | {rate:.0f} | {rate / direct:.2f} |" for name, rate in rates.items()]
    return {
        "goal": f"{GOAL} calls/s with `os`, or as many as the server alone, {UNDER_WAY} under way",
        "calls_a_second": rates,
        "markdown": "\n".join(lines),
    }

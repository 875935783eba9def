"""A call over stdio through `tally mcp gateway` with ten servers, beside one server through `tally mcp wrap`.

The same client and servers as in `relay`. Memory is the gateway's own, without its servers, with one, ten and twenty.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson

from benchmarks.relay import BARE, POLICY, SDK, STEADY, Speaker

PROMISES = ("gateway.memory",)
SERVERS = 10


def run(folder: Path, *, full: bool) -> dict[str, Any]:
    calls, times = (400, 9) if full else (150, 3)
    for name, text in (("sdk.py", SDK), ("steady.py", STEADY), ("bare.py", BARE)):
        (folder / name).write_text(text)
    found: dict[str, list[tuple[float, float]]] = {}
    for number in range(times):
        for server in ("sdk", "steady", "bare"):
            found.setdefault(server, []).append(_round(folder / f"{server}-{number}", folder / f"{server}.py", calls))
    sizes = {
        count: _memory(folder / f"memory-{count}", folder / "bare.py", count) for count in (1, SERVERS, 2 * SERVERS)
    }
    ratios = {name: statistics.median(many / one for one, many in pairs) for name, pairs in found.items()}
    further = (sizes[2 * SERVERS] - sizes[1]) / (2 * SERVERS - 1)
    lines = ["| server | wrapped, µs | behind the gateway with ten, µs | × |", "|---|---:|---:|---:|"]
    for name, pairs in found.items():
        one, many = (statistics.median(side) for side in zip(*pairs, strict=True))
        lines.append(f"| {name} | {one * 1e6:.0f} | {many * 1e6:.0f} | {ratios[name]:.2f} |")
    held = ", ".join(f"{count}: {size:.0f} MB" for count, size in sizes.items())
    lines += ["", f"Memory of the gateway by its number of servers: {held}; {further:.2f} MB for each further one."]
    return {
        "goal": "at most 1.2 × a call through `tally mcp wrap`; at most 30 MB of the gateway's memory per further server",
        "ratios": ratios, "memory_mb": sizes, "further_mb": further, "markdown": "\n".join(lines),
    }  # fmt: skip


def _round(folder: Path, script: Path, calls: int) -> tuple[float, float]:
    """The middle call of a wrapped server, and of the same server among ten behind a gateway, in seconds."""
    wrapped = [
        sys.executable,
        "-m",
        "tallystick",
        "mcp",
        "wrap",
        "--workspace",
        str(_place(folder / "one")),
        "--name",
        "s",
    ]
    one = Speaker([*wrapped, "--", sys.executable, str(script)])
    many = Speaker(_gateway(folder / "many", script, SERVERS))
    took: dict[bool, list[float]] = {False: [], True: []}
    try:
        ways = {False: _caller(one, "echo"), True: _caller(many, "s4__echo")}
        for number in range(50 + 2 * calls):
            # By turns, so that what else the machine does weighs on both alike.
            for gateway in sorted(ways, reverse=bool(number % 2)):
                began = time.perf_counter()
                ways[gateway](number)
                if number >= 50:
                    took[gateway].append(time.perf_counter() - began)
    finally:
        one.close()
        many.close()
    return statistics.median(took[False]), statistics.median(took[True])


def _caller(speaker: Speaker, name: str) -> Callable[[int], None]:
    def call(number: int) -> None:
        answer = speaker.ask("tools/call", {"name": name, "arguments": {"text": "hello world", "n": number}})
        assert answer["result"]["content"][0]["text"] == f"hello world:{number}", answer

    return call


def _memory(folder: Path, script: Path, count: int) -> float:
    """What the gateway itself holds after a call of each server, in MB."""
    speaker = Speaker(_gateway(folder, script, count))
    try:
        for number in range(count):
            _caller(speaker, f"s{number}__echo")(number)
        status = Path(f"/proc/{speaker.pid}/smaps_rollup").read_text()
        return sum(int(line.split()[1]) for line in status.splitlines() if line.startswith("Pss:")) / 1024
    finally:
        speaker.close()


def _gateway(folder: Path, script: Path, count: int) -> list[str]:
    place = _place(folder)
    entries = {f"s{number}": {"command": sys.executable, "args": [str(script)]} for number in range(count)}
    (place / "servers.json").write_bytes(orjson.dumps({"mcpServers": entries}))
    return [sys.executable, "-m", "tallystick", "mcp", "gateway", "--workspace", str(place)]


def _place(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tallystick.toml").write_text(POLICY.format(durability="os"))
    return folder

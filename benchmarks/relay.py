"""A call over stdio through `tally mcp wrap`, beside the same server without it.

One client that speaks plain lines, so that it is the server and the relay that are measured. The servers are made with
the official SDK (and one bare script, to see the relay's own cost); with `TALLY_PEERS_PYTHON` naming an interpreter
that has `fastmcp`, FastMCP's proxy stands beside ours.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson

PROMISES = ("relay.speed", "relay.start")

SDK = """
import sys
from mcp.server.mcpserver import MCPServer
server = MCPServer("echo", log_level="ERROR")
@server.tool(structured_output=False)
async def echo(text: str, n: int) -> str:
    "Echo."
    return f"{text}:{n}"
server.run("stdio")
"""
BARE = """
import json, sys
SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}, "n": {"type": "integer"}}}
TOOL = {"name": "echo", "inputSchema": SCHEMA, "annotations": {"readOnlyHint": True}}
for line in sys.stdin:
    said = json.loads(line)
    if "id" in said:
        method, params = said["method"], said.get("params") or {}
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "e", "version": "1"}}
        if method == "tools/list":
            result = {"tools": [TOOL]}
        if method == "tools/call":
            args = params["arguments"]
            result = {"content": [{"type": "text", "text": "%s:%s" % (args["text"], args["n"])}]}
        print(json.dumps({"jsonrpc": "2.0", "id": said["id"], "result": result}), flush=True)
"""
STEADY = BARE.replace("import json, sys", "import json, sys, time").replace(
    '            args = params["arguments"]\n',
    '            args, end = params["arguments"], time.perf_counter() + 0.0005\n'
    "            while time.perf_counter() < end:\n                pass\n",
)
"""A server that works for half a millisecond, neither more nor less. Two processes of the SDK's server differ by 100 µs a
call, for as long as they live, and that would stand in the figures."""
PROXY = """
import sys
from fastmcp.server import create_proxy
from fastmcp.client.transports import StdioTransport
create_proxy(StdioTransport(command=sys.argv[1], args=sys.argv[2:]), name="proxy").run(transport="stdio", show_banner=False)
"""
SIGNING = """
import os, select, subprocess, sys
from hashlib import sha256
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
key = Ed25519PrivateKey.generate()
server = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
down, up = server.stdin.fileno(), server.stdout.fileno()
ways = {0: down, up: 1}
while True:
    for source in select.select(list(ways), [], [])[0]:
        said = os.read(source, 1 << 20)
        if not said:
            server.stdin.close()
            sys.exit(server.wait())
        key.sign(sha256(said).digest())
        os.write(ways[source], said)
"""
"""A relay that passes everything on, signs it, and keeps nothing: the least that a relay in Python can cost."""
SYNCING = (
    SIGNING.replace(
        "        os.write(ways[source], said)\n",
        "        began = time.perf_counter()\n        os.write(log, bytes(1024))\n        os.fdatasync(log)\n"
        "        took.append(time.perf_counter() - began)\n        os.write(ways[source], said)\n",
    )
    .replace(
        "            server.stdin.close()\n",
        "            os.write(told, b'%f' % (2 * statistics.median(took)))\n            server.stdin.close()\n",
    )
    .replace(
        "key = Ed",
        "log, told = (os.open(sys.argv.pop(1), os.O_RDWR | os.O_CREAT | os.O_APPEND) for _ in range(2))\ntook = []\nkey = Ed",
    )
    .replace("import os, select,", "import os, select, statistics, time,")
)
"""The same, and each message waits for an append with fdatasync: the least that one with `fsync` can cost. At its end it
tells how long its two appends with fdatasync took there: in that place, between two processes that wait for them."""
BARE_SYNCS, WRAPPED = "bare relay that signs and syncs", "wrapped, fsync"
MEASURED = {"SDK server": "sdk", "steady server": "steady"}
"""Names of servers and of their scripts."""
TIMED = """
import atexit, os, runpy, statistics, sys, time
from pathlib import Path
from tallystick.storage.journal import disk
told, took = sys.argv.pop(1), []
def timed(fd):
    began = time.perf_counter()
    os.fdatasync(fd)
    took.append(time.perf_counter() - began)
disk.fdatasync = timed
atexit.register(lambda: Path(told).write_text("%f" % (2 * statistics.median(took))))
runpy.run_module("tallystick", run_name="__main__")
"""
"""`tally`, which tells at its end how long its two fdatasyncs of a call took, in the middle."""
POLICY = '[policy]\nread = "allow"\nwrite = "allow"\nexternal = "allow"\n[ledger]\ndurability = "{durability}"\n'
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}


class Speaker:
    """A client as plain as can be."""

    def __init__(self, command: Sequence[str]) -> None:
        began = time.perf_counter()
        self._process = subprocess.Popen(
            list(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in, self._out = self._process.stdin, self._process.stdout
        self._number = 0
        self.ask("initialize", HELLO)
        self.up_s = time.perf_counter() - began
        self.pid = self._process.pid
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self.ask("tools/list", {})

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._number += 1
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        while True:
            said: dict[str, Any] = orjson.loads(self._out.readline())
            if said.get("id") == self._number and "method" not in said:
                return said

    def echo(self, number: int) -> None:
        answer = self.ask("tools/call", {"name": "echo", "arguments": {"text": "hello world", "n": number}})
        assert answer["result"]["content"][0]["text"] == f"hello world:{number}", answer

    def close(self) -> None:
        self._in.close()
        self._process.wait(timeout=30)
        self._out.close()

    def _send(self, message: dict[str, Any]) -> None:
        self._in.write(orjson.dumps(message) + b"\n")
        self._in.flush()


def run(folder: Path, *, full: bool) -> dict[str, Any]:
    """Several times with all processes started anew, since two of the very same program differ for good."""
    calls, times = (400, 9) if full else (100, 3)
    rounds = [_round(folder / str(number), calls) for number in range(times)]
    starts = _starts(folder / "0", 9 if full else 5)
    return _told(rounds, starts)


def _round(folder: Path, calls: int) -> dict[str, float]:
    """The middle of each way's calls, in µs, and of what their fdatasyncs took."""
    folder.mkdir(parents=True)
    speakers = {name: Speaker(command) for name, command in _commands(folder).items()}
    times: dict[str, list[float]] = {name: [] for name in speakers}
    try:
        for speaker in speakers.values():
            for number in range(50):
                speaker.echo(number)
        for names in (list(speakers), list(reversed(speakers))):
            for name in names:
                for number in range(calls):
                    began = time.perf_counter()
                    speakers[name].echo(number)
                    times[name].append(time.perf_counter() - began)
    finally:
        for speaker in speakers.values():
            speaker.close()
    found = {name: statistics.median(took) * 1e6 for name, took in times.items()}
    for server in MEASURED:
        for way in (BARE_SYNCS, WRAPPED):
            syncs = float((folder / f"{server}, {way}").read_text()) * 1e6
            found[f"syncs of {server}, {way}"] = syncs
            found[f"rest of {server}, {way}"] = found[f"{server}, {way}"] - found[f"{server}, direct"] - syncs
    return found


def _commands(folder: Path) -> dict[str, list[str]]:
    scripts = {"sdk.py": SDK, "steady.py": STEADY, "bare.py": BARE, "proxy.py": PROXY}
    scripts |= {"signing.py": SIGNING, "syncing.py": SYNCING, "timed.py": TIMED}
    for name, text in scripts.items():
        (folder / name).write_text(text)
    python, signing, bare = sys.executable, str(folder / "signing.py"), [sys.executable, str(folder / "bare.py")]
    commands: dict[str, list[str]] = {}
    for server, script in MEASURED.items():
        command, told = (
            [python, str(folder / f"{script}.py")],
            [str(folder / f"{server}, {way}") for way in (BARE_SYNCS, WRAPPED)],
        )
        log = str(folder / f"{script}.log")
        commands |= {
            f"{server}, direct": command,
            f"{server}, bare relay that signs": [python, signing, *command],
            f"{server}, {BARE_SYNCS}": [python, str(folder / "syncing.py"), log, told[0], *command],
            f"{server}, wrapped, os": [*_wrap(folder, "os", script), *command],
            f"{server}, {WRAPPED}": [*_wrap(folder, "fsync", script, (str(folder / "timed.py"), told[1])), *command],
        }
    commands |= {"bare server, direct": bare, "bare server, wrapped, os": [*_wrap(folder, "os", "bare"), *bare]}
    peers = os.environ.get("TALLY_PEERS_PYTHON")
    if peers and subprocess.run([peers, "-c", "import fastmcp"], capture_output=True, check=False).returncode:
        peers = None  # others are measured beside us with the same variable
    if peers:
        commands["SDK server, FastMCP proxy"] = [peers, str(folder / "proxy.py"), python, str(folder / "sdk.py")]
    return commands


def _wrap(folder: Path, durability: str, server: str, tally: Sequence[str] = ("-m", "tallystick")) -> list[str]:
    workspace = folder / f"{server}-{durability}"
    workspace.mkdir(exist_ok=True)
    (workspace / "tallystick.toml").write_text(POLICY.format(durability=durability))
    return [sys.executable, *tally, "mcp", "wrap", "--workspace", str(workspace), "--name", server, "--"]


def _starts(folder: Path, times: int) -> tuple[float, float]:
    """Until the answer to `initialize` is there: the bare server alone, and wrapped."""
    alone, wrapped = [], []
    for _ in range(times):
        for found, command in ((alone, []), (wrapped, _wrap(folder, "os", "bare"))):
            speaker = Speaker([*command, sys.executable, "-S", "-E", str(folder / "bare.py")])
            found.append(speaker.up_s)
            speaker.close()
    return statistics.median(alone), statistics.median(wrapped)


def _told(rounds: Sequence[dict[str, float]], starts: tuple[float, float]) -> dict[str, Any]:
    middle = {name: statistics.median(found[name] for found in rounds) for name in rounds[0]}
    lines = ["| way | µs a call | × that server alone |", "|---|---:|---:|"]
    for name in (name for name in middle if " of " not in name):
        alone = middle[f"{name.partition(',')[0]}, direct"]
        lines.append(f"| {name} | {middle[name]:.0f} | {middle[name] / alone:.2f} |")
    lines += [
        "", f"All processes were started anew {len(rounds)} times, and each figure is the middle one.",
        "What waiting for the disk costs, and what is added besides (in brackets the least and the most of the rounds):", "",
        "| way | two fdatasyncs, µs | the rest that is added, µs |", "|---|---:|---:|",
    ]  # fmt: skip
    for name in (f"{server}, {way}" for server in MEASURED for way in (WRAPPED, BARE_SYNCS)):
        rests = sorted(found[f"rest of {name}"] for found in rounds)
        rest = f"{middle[f'rest of {name}']:.0f} ({rests[0]:.0f} to {rests[-1]:.0f})"
        lines.append(f"| {name} | {middle[f'syncs of {name}']:.0f} | {rest} |")
    lines += ["", f"Up (the answer to `initialize`): {starts[0]:.3f} s alone, {starts[1]:.3f} s wrapped."]
    return {
        "goal": "at most 2 × the direct call with `os`; 300 µs and two fdatasyncs with `fsync`; up 0.15 s later at most",
        "middle_us": middle,
        "ratio_os": middle["SDK server, wrapped, os"] / middle["SDK server, direct"],
        "start_s": {"alone": starts[0], "wrapped": starts[1]},
        "markdown": "\n".join(lines),
    }

"""The public conformance suite against a server over stdio, by way of a bridge that others wrote (`supergateway`)."""

import re
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

REFERENCE = Path(__file__).with_name("reference.py")


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def scores(installed: Path, command: list[str]) -> dict[str, tuple[int, int]]:
    """Scenario → checks passed and failed, of the server that this command starts."""
    port = free_port()
    node = installed / "node_modules" / "node" / "bin" / "node"
    program = str(node) if node.exists() else "node"
    bridge = [
        str(installed / "node_modules" / ".bin" / "supergateway"), "--stdio", " ".join(command), "--outputTransport",
        "streamableHttp", "--stateful", "--port", str(port), "--healthEndpoint", "/up", "--logLevel", "none",
    ]  # fmt: skip
    running = subprocess.Popen(bridge, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait(f"http://127.0.0.1:{port}/up")
        suite = installed / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
        done = subprocess.run(
            [program, str(suite), "server", "--url", f"http://127.0.0.1:{port}/mcp"],
            capture_output=True, text=True, check=False, timeout=900, cwd=installed,
        )  # fmt: skip
    finally:
        running.terminate()
        running.wait(timeout=30)
    found = re.findall(r"^[✓✗] (\S+): (\d+) passed, (\d+) failed", done.stdout, re.MULTILINE)
    assert found, done.stdout[-2000:] + done.stderr[-2000:]
    return {name: (int(good), int(bad)) for name, good, bad in found}


def both(installed: Path, workspace: Path) -> tuple[dict[str, tuple[int, int]], dict[str, tuple[int, int]]]:
    """The scores of the reference server alone, and with the gate in front of it."""
    alone = [sys.executable, str(REFERENCE)]
    wrap = [
        sys.executable,
        "-m",
        "tallystick",
        "mcp",
        "wrap",
        "--workspace",
        str(workspace),
        "--name",
        "reference",
        "--",
    ]
    return scores(installed, alone), scores(installed, [*wrap, *alone])


def _wait(url: str) -> None:
    end = time.monotonic() + 60
    while True:
        try:
            urllib.request.urlopen(url, timeout=2).close()
        except OSError:
            assert time.monotonic() < end, "the bridge never came up"
            time.sleep(0.1)
        else:
            return

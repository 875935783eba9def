"""A server under steady mixed traffic for half an hour: memory and open files stay flat, and every call is recorded.

python -m benchmarks.soak [--minutes 30] [--rate 20]

Some calls are accepted, some refused for their arguments, some malformed, and receipts are listed. Every fourth request
begins a session, so that the session views that are kept open reach their limit during warm-up. Memory (RSS) and open
files are read from /proc every ten seconds. The first third of the samples is warm-up; flat means that the median of the
last third is at most a tenth above that of the second.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

PROMISES = ("speed.soak",)
MOST_GROWTH = 1.10
TOOLS = (
    "from tallystick import tool\n\n@tool(effect='read')\nasync def echo(text: str, n: int) -> str:\n"
    "    'Echo.'\n    return f'{text}:{n}'\n"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--rate", type=int, default=20, help="requests a second")
    options = parser.parse_args()
    with TemporaryDirectory(prefix="tally-soak-") as folder:
        figures = soak(Path(folder), seconds=options.minutes * 60, rate=options.rate)
    print(json.dumps(figures, indent=1))
    sys.exit(0 if figures["flat"] else 1)


def soak(folder: Path, *, seconds: float, rate: int, sample_s: float = 10.0) -> dict[str, object]:
    """Drive a server of its own, and return what was sent, recorded and measured."""
    workspace = folder / "ws"
    workspace.mkdir()
    (workspace / "tools.py").write_text(TOOLS)
    (workspace / "tallystick.toml").write_text('[gate]\ntools = ["tools.py"]\n[policy]\nrate = 1000000\n')
    port = _free_port()
    environment = {**os.environ, "TALLY_STATE_DIR": str(folder / "state")}
    command = [sys.executable, "-m", "tallystick", "serve", "--workspace", str(workspace), "--port", str(port)]
    server = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment, start_new_session=True
    )
    try:
        _wait(port)
        sent, samples = _drive(port, server.pid, seconds=seconds, rate=rate, sample_s=sample_s)
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(timeout=60)
    audit = subprocess.run(
        [sys.executable, "-m", "tallystick", "--json", "audit", "verify", "--workspace", str(workspace)],
        capture_output=True, env=environment, check=False,
    )  # fmt: skip
    report = json.loads(audit.stdout)
    third = len(samples) // 3
    middle, last = samples[third : 2 * third], samples[2 * third :]
    memory = [statistics.median(each[0] for each in part) for part in (middle, last)]
    files = [statistics.median(each[1] for each in part) for part in (middle, last)]
    return {
        "minutes": round(seconds / 60, 1),
        "requests": sum(sent.values()),
        "answers": {str(status): count for status, count in sorted(sent.items())},
        "records": report["size"],
        "verifies": report["ok"],
        "rss_mb": {"middle third": round(memory[0], 1), "last third": round(memory[1], 1)},
        "open_files": {"middle third": files[0], "last third": files[1]},
        "flat": report["ok"] and 500 not in sent and all(b <= a * MOST_GROWTH for a, b in (memory, files)),
    }


def _drive(
    port: int, pid: int, *, seconds: float, rate: int, sample_s: float
) -> tuple[dict[int, int], list[tuple[float, int]]]:
    sent: dict[int, int] = {}
    samples: list[tuple[float, int]] = []
    begin = time.monotonic()
    number, due = 0, begin
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    while (now := time.monotonic()) < begin + seconds:
        if now >= due:
            due += sample_s
            samples.append((_rss_mb(pid), sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())))
        status = _request(connection, number)
        sent[status] = sent.get(status, 0) + 1
        number += 1
        time.sleep(max(0.0, begin + number / rate - time.monotonic()))
    return sent, samples


def _request(connection: http.client.HTTPConnection, number: int) -> int:
    session = f"s{number // 4}"
    bodies = (
        {"tool": "echo", "args": {"text": "hello world " * (number % 40), "n": number}, "session": session},
        {"tool": "echo", "args": {"text": number}, "session": session},
        {"tool": "no_such_tool", "args": {}, "session": session},
    )
    if number % 20 == 19:
        connection.request("GET", f"/api/audit/sessions/{session}/receipts?limit=20")
    else:
        body = json.dumps(bodies[0 if number % 10 < 7 else 1 + number % 2])
        data = body[: len(body) // 2] if number % 50 == 7 else body
        connection.request("POST", "/api/gate/call", data, {"content-type": "application/json"})
    answer = connection.getresponse()
    answer.read()
    return answer.status


def _rss_mb(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def _wait(port: int) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise TimeoutError("the server did not start")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    main()

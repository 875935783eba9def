"""A worker as a process of its own, for tests that kill it: `python -m tests.durable.worker_process …`."""

import argparse
import signal
import sys
import threading
from pathlib import Path
from typing import Any

from tallystick.storage.durable.stored import run_worker
from tallystick.storage.durable.timing import Timing
from tests.durable.samples import sample_durable

INTERNET = {"2", "10"}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", required=True)
    parser.add_argument("--id", required=True)
    parser.add_argument("--heartbeat", type=float, required=True)
    parser.add_argument("--stale", type=float, required=True)
    parser.add_argument("--grace", type=float, default=5.0)
    parser.add_argument("--network-log", type=Path)
    given = parser.parse_args()
    if given.network_log:
        sys.addaudithook(lambda event, args: _note_network(given.network_log, event, args))
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    durable = sample_durable(given.url, Path("unused"))
    timing = Timing(heartbeat_s=given.heartbeat, stale_after_s=given.stale, poll_s=0.05, grace_s=given.grace)
    left = run_worker(durable, stop, worker_id=given.id, timing=timing, ready=lambda: print("ready", flush=True))
    durable.close()
    print(f"left {len(left)}", flush=True)


def _note_network(log: Path, event: str, args: tuple[Any, ...]) -> None:
    """Whatever touches the internet, not the database's own socket file."""
    if event in {"socket.connect", "socket.bind", "socket.getaddrinfo", "socket.gethostbyname"}:
        target = args[1] if event in {"socket.connect", "socket.bind"} else args[0]
        if not isinstance(target, str | bytes) or event == "socket.getaddrinfo":
            with log.open("a") as out:
                out.write(f"{event} {target}\n")


if __name__ == "__main__":
    main()

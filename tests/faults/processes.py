"""Starting processes that append to one workspace, and waiting for what they say."""

import os
import subprocess
import sys
import time
from pathlib import Path

import orjson

from tests.ledgers import Workspace

HERE = Path(__file__).parents[2]


def start(
    workspace: Workspace, acks: Path, *, session: str, number: int, early: bool = False
) -> "subprocess.Popen[bytes]":
    """Start a process that appends, and goes on as soon as a record is durable or when all that follows is done."""
    command = [
        sys.executable, "-m", "tests.faults.appender", str(workspace.root.parent), orjson.dumps(workspace.ledger).decode(),
        str(acks), session, str(number), "early" if early else "late",
    ]  # fmt: skip
    paths = os.pathsep.join((str(HERE / "src"), str(HERE)))
    return subprocess.Popen(command, env={**os.environ, "PYTHONPATH": paths}, cwd=HERE)


def acked(acks: Path) -> list[str]:
    """Receipt ids that a process was given; a line that was cut off by its death does not count."""
    return [receipt_id for receipt_id, _, _ in told_of(acks)]


def told_of(acks: Path) -> list[tuple[str, int, int]]:
    """Receipt id, and when the process began to ask for it and had it, by the machine's clock."""
    if not acks.exists():
        return []
    lines = (line.decode().split() for line in acks.read_bytes().split(b"\n")[:-1])
    return [(receipt_id, int(began), int(ended)) for receipt_id, began, ended in lines]


def wait_for(processes: "list[subprocess.Popen[bytes]]", acks: list[Path], number: int, within_s: float = 120) -> None:
    """Wait until they were given so many receipts in all, or have all ended."""
    end = time.monotonic() + within_s
    while sum(len(acked(path)) for path in acks) < number:
        if all(process.poll() is not None for process in processes):
            return
        assert time.monotonic() < end, "the processes do not get on"
        time.sleep(0.002)

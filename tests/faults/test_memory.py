"""Memory that runs out at every single allocation while a record is made: the log goes on, and no receipt is lost."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from tests.faults.processes import HERE
from tests.ledgers import Workspace, fill
from tests.sizes import size

LAST, STEP = 1_200, size(9, 1)
"""A record is made with about a thousand allocations."""


@pytest.mark.promise("record.no-memory")
@pytest.mark.skipif(importlib.util.find_spec("_testcapi") is None, reason="this Python has no hook for allocations")
@pytest.mark.parametrize("durability", ["os", "fsync"])
def test_whichever_allocation_fails_the_log_verifies_and_nothing_acknowledged_is_lost(
    tmp_path: Path, durability: str
) -> None:
    workspace = Workspace(tmp_path, durability=durability, checkpoint_every=16)
    acks, first, died = tmp_path / "acks", 1, 0
    while first < LAST:
        done = run(workspace, acks, first)
        if done == 0:
            break
        # A fault in Python itself is a signal. A journal that has lost track of itself takes no more, and says so.
        errors = acks.with_name("errors").read_text()
        assert done < 0 or errors.splitlines()[-1].startswith("tallystick.errors.Ledger"), errors[-2_000:]
        died += 1
        first = int(lines(acks, "try")[-1]) + STEP
    told = lines(acks, "told")
    tries = len(lines(acks, "try"))
    assert 0 < len(told) < tries, "some allocations were hit, and the last ones lie behind the record"
    assert died < tries / 4
    with workspace.opened() as ledger:
        assert [receipt_id for receipt_id in told if ledger.find(receipt_id) is None] == []
        stored = [receipt.receipt_id for receipt in ledger.read()]
        assert [one for one in stored if one in set(told)] == told, "in the order in which they were told"
        fill(ledger, 1, session="after")
    report = workspace.verify()
    assert report.ok, report.problems


def run(workspace: Workspace, acks: Path, first: int) -> int:
    words = [
        str(workspace.root.parent),
        orjson.dumps(workspace.ledger).decode(),
        str(acks),
        str(first),
        str(LAST),
        str(STEP),
    ]
    paths = os.pathsep.join((str(HERE / "src"), str(HERE)))
    command = [sys.executable, "-m", "tests.faults.memory", *words]
    with acks.with_name("errors").open("wb") as errors:
        environment = {**os.environ, "PYTHONPATH": paths}
        return subprocess.run(command, env=environment, cwd=HERE, check=False, timeout=120, stderr=errors).returncode


def lines(acks: Path, word: str) -> list[str]:
    told = acks.read_text().splitlines() if acks.exists() else []
    return [line.partition(" ")[2] for line in told if line.startswith(f"{word} ")]

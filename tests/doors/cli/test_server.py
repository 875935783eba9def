"""`tally serve` and `tally worker` as processes of their own."""

import os
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from tests.doors.cli.conftest import Tally
from tests.house.sources import ROOT


def start(*words: str, folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tallystick", *words], cwd=folder, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )  # fmt: skip


def read_until(process: subprocess.Popen[str], wanted: str) -> str:
    assert process.stderr is not None
    shown = ""
    for line in process.stderr:
        shown += line
        if re.search(wanted, shown):
            return shown
    raise AssertionError(f"it ended: {shown}")


@pytest.mark.promise("doors.cli-person")
def test_the_token_that_serve_prints_lets_a_person_answer_and_ends_with_the_server(
    tally: Tally, workspace: Path, held: str
) -> None:
    server = start("serve", "--port", "0", "--no-worker", folder=workspace)
    try:
        told = read_until(server, r"\b[0-9a-f]{64}\b")
        token, port = re.search(r"\b[0-9a-f]{64}\b", told), re.search(r"127\.0\.0\.1:(\d+)", told)
        assert token is not None
        assert port is not None
        with urllib.request.urlopen(f"http://127.0.0.1:{port[1]}/health", timeout=120) as answer:
            assert answer.status == 200
        assert tally("approvals", "approve", held).error == "person_required"
        assert tally("approvals", "approve", held, "--token", token[0]).code == 0
    finally:
        server.send_signal(signal.SIGINT)
        server.communicate(timeout=60)
    assert server.returncode in {0, 130}
    assert tally("keys", "rotate", "--token", token[0]).error == "token_invalid"


def test_serve_refuses_to_listen_elsewhere_without_auth(tally: Tally, workspace: Path) -> None:
    refused = tally("serve", "--host", "0.0.0.0")
    assert refused.code == 4


def test_a_worker_works_until_it_is_told_to_stop(workspace: Path) -> None:
    worker = start("worker", "--id", "w1", folder=workspace)
    try:
        read_until(worker, "is running")
    finally:
        worker.send_signal(signal.SIGTERM)
        worker.communicate(timeout=60)
    assert worker.returncode == 0

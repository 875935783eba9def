"""Refusals per session, agent and conference, kept in the control room."""

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from tallystick.agents.counts import Count
from tallystick.gate.session import Session
from tallystick.telemetry import rejections as module
from tallystick.telemetry.rejections import Rejections
from tests.sizes import size
from tests.telemetry.processes import ENVIRONMENT

NEVER = 3600.0
"""An interval no test lives to see: only `flush` and `close` write."""


def session(number: int = 1, agent: str | None = "critic", conference: str | None = None) -> Session:
    return Session(session_id=f"s{number}", agent_id=agent, conference_id=conference)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / ".control-room" / "telemetry"


def read(path: Path) -> Any:
    return json.loads(path.read_text())


@pytest.mark.promise("telemetry.rejections")
def test_refusals_count_in_all_per_session_per_agent_and_per_conference(folder: Path) -> None:
    counted = Rejections(folder, interval_s=NEVER)
    counted.add(session(1, "critic", "c1"), bucket="quote_not_found")
    counted.add(session(1, "critic", "c1"), bucket="quote_not_found")
    counted.add(
        session(1, "writer", "c1"), Count(tokens=50, tokens_in=40, tokens_out=10, cost_microusd=3), bucket="cot_leak"
    )
    counted.add(session(2, "critic"), Count(activations=1), bucket="tool_syntax")
    counted.close()
    totals = read(folder / "totals.json")
    assert totals["totals"] == {
        "activations": 1,
        "tokens": 50,
        "tokens_in": 40,
        "tokens_out": 10,
        "cost_microusd": 3,
        "rejections": {
            "evidence_invalid": 0, "quote_not_found": 2, "tool_syntax": 1, "cot_leak": 1, "format_error": 0,
        },
    }  # fmt: skip
    assert totals["agents"]["critic"]["rejections"]["quote_not_found"] == 2
    assert totals["agents"]["critic"]["rejections"]["tool_syntax"] == 1
    assert totals["conferences"]["c1"]["rejections"]["cot_leak"] == 1
    assert totals["conferences"]["c1"]["agents"]["critic"]["rejections"]["quote_not_found"] == 2
    first = read(folder / "sessions" / "s1.json")
    assert first["totals"]["rejections"]["quote_not_found"] == 2
    assert first["agents"]["writer"]["tokens"] == 50
    assert read(folder / "sessions" / "s2.json")["totals"]["rejections"]["quote_not_found"] == 0


@pytest.mark.promise("telemetry.rejections")
def test_what_is_read_back_is_whole_even_when_nothing_was_counted(folder: Path) -> None:
    counted = Rejections(folder, interval_s=NEVER)
    assert counted.totals()["totals"]["rejections"]["format_error"] == 0
    assert counted.session("s9") == counted.totals()
    assert counted.session("../../etc/passwd") == counted.totals()
    assert not folder.exists()
    counted.add(session(1), bucket="format_error")
    assert counted.session("s1")["totals"]["rejections"]["format_error"] == 1
    counted.close()


@pytest.mark.promise("telemetry.rejections-written")
def test_nothing_is_written_before_the_interval_and_everything_on_close(folder: Path) -> None:
    counted = Rejections(folder, interval_s=NEVER)
    for _ in range(100):
        counted.add(session(), bucket="cot_leak")
    assert not folder.exists()
    counted.close()
    assert read(folder / "totals.json")["totals"]["rejections"]["cot_leak"] == 100
    counted.add(session(), bucket="cot_leak")
    counted.close()
    assert read(folder / "totals.json")["totals"]["rejections"]["cot_leak"] == 101


@pytest.mark.promise("telemetry.rejections-written")
def test_a_thread_of_its_own_writes_when_the_interval_is_over(folder: Path) -> None:
    written = threading.Event()

    class Watched(Rejections):
        def _write(self, pending: Any) -> None:
            super()._write(pending)
            written.set()

    counted = Watched(folder, interval_s=0.01)
    for round_number in (1, 2):
        written.clear()
        counted.add(session(), bucket="cot_leak")
        assert written.wait(20)
        assert read(folder / "totals.json")["totals"]["rejections"]["cot_leak"] == round_number
    counted.close()


@pytest.mark.promise("telemetry.rejections-processes")
def test_two_processes_with_threads_lose_and_double_nothing(folder: Path) -> None:
    program = (
        "import sys, threading\nfrom pathlib import Path\n"
        "from tallystick.gate.session import Session\nfrom tallystick.telemetry.rejections import Rejections\n"
        "counted = Rejections(Path(sys.argv[1]), interval_s=0.001)\n"
        "where = Session(session_id='shared', agent_id='critic')\n"
        "def work():\n"
        "    for _ in range(int(sys.argv[2])):\n"
        "        counted.add(where, bucket='tool_syntax')\n"
        "        counted.flush()\n"
        "threads = [threading.Thread(target=work) for _ in range(2)]\n"
        "[t.start() for t in threads]; [t.join() for t in threads]\ncounted.close()\n"
    )
    rounds = size(60, 1000)
    command = [sys.executable, "-c", program, str(folder), str(rounds)]
    processes = [subprocess.Popen(command, env=ENVIRONMENT) for _ in range(2)]
    assert [process.wait() for process in processes] == [0, 0]
    for path in (folder / "totals.json", folder / "sessions" / "shared.json"):
        assert read(path)["totals"]["rejections"]["tool_syntax"] == 4 * rounds
        assert read(path)["agents"]["critic"]["rejections"]["tool_syntax"] == 4 * rounds
    assert not list(folder.rglob("*.part"))


@pytest.mark.promise("telemetry.rejections-processes")
def test_a_forked_child_does_not_write_its_parent_s_numbers_again(folder: Path) -> None:
    program = (
        "import os, sys\nfrom pathlib import Path\n"
        "from tallystick.gate.session import Session\nfrom tallystick.telemetry.rejections import Rejections\n"
        "counted = Rejections(Path(sys.argv[1]), interval_s=3600)\n"
        "counted.add(Session(session_id='s1'), bucket='cot_leak')\n"
        "if os.fork() == 0:\n"
        "    counted.flush()\n"
        "    counted.add(Session(session_id='s2'), bucket='cot_leak')\n"
        "    counted.close()\n"
        "    os._exit(0)\n"
        "os.wait()\ncounted.close()\n"
    )
    assert (
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", program, str(folder)], check=False, env=ENVIRONMENT
        ).returncode
        == 0
    )
    assert read(folder / "totals.json")["totals"]["rejections"]["cot_leak"] == 2
    assert read(folder / "sessions" / "s1.json")["totals"]["rejections"]["cot_leak"] == 1


@pytest.mark.promise("telemetry.rejections-written")
def test_a_process_that_ends_without_closing_still_writes(folder: Path) -> None:
    program = (
        "import sys\nfrom pathlib import Path\n"
        "from tallystick.gate.session import Session\nfrom tallystick.telemetry.rejections import Rejections\n"
        "Rejections(Path(sys.argv[1]), interval_s=3600).add(Session(session_id='s1'), bucket='cot_leak')\n"
    )
    assert subprocess.run([sys.executable, "-c", program, str(folder)], check=False, env=ENVIRONMENT).returncode == 0
    assert read(folder / "totals.json")["totals"]["rejections"]["cot_leak"] == 1


@pytest.mark.promise("telemetry.never-steers")
def test_a_disk_that_cannot_be_written_delays_the_numbers_and_nothing_else(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder.parent.mkdir(parents=True)
    folder.write_text("a file in the way")
    counted = Rejections(folder, interval_s=NEVER)
    counted.add(session(), bucket="cot_leak")
    counted.flush()
    counted.add(session(), bucket="cot_leak")
    counted.flush()
    assert len(caplog.records) == 1
    folder.unlink()
    counted.close()
    assert read(folder / "totals.json")["totals"]["rejections"]["cot_leak"] == 2


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b'{"totals": 7}'])
def test_a_damaged_file_is_set_aside_and_counting_begins_anew(folder: Path, content: bytes) -> None:
    folder.mkdir(parents=True)
    (folder / "totals.json").write_bytes(content)
    counted = Rejections(folder, interval_s=NEVER)
    counted.add(session(), bucket="cot_leak")
    counted.close()
    assert read(folder / "totals.json")["totals"]["rejections"]["cot_leak"] == 1
    assert (folder / "totals.json.damaged").read_bytes() == content


@pytest.mark.promise("telemetry.bounded")
def test_names_callers_make_up_are_cut_bounded_and_masked(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_NAMES", 5)
    monkeypatch.setattr(module, "MAX_PENDING", 20)
    counted = Rejections(folder, interval_s=NEVER)
    for number in range(30):
        counted.add(session(number, agent=f"agent-{number}"), bucket="cot_leak")
    counted.add(session(0, agent="ghp_" + "a" * 36), bucket="cot_leak")
    counted.add(session(0, agent="x" * 5000), bucket="cot_leak")
    counted.close()
    totals = read(folder / "totals.json")
    assert totals["totals"]["rejections"]["cot_leak"] == 32
    assert len(totals["agents"]) == 6
    assert len(list((folder / "sessions").iterdir())) == 20
    assert "ghp_" not in (folder / "totals.json").read_text()
    assert max(map(len, totals["agents"])) <= module.MAX_NAME_CHARS


@pytest.mark.promise("telemetry.rejections")
def test_a_session_name_that_could_leave_the_folder_makes_no_file(folder: Path) -> None:
    counted = Rejections(folder, interval_s=NEVER)
    counted.add(Session(session_id="../outside"), bucket="cot_leak")
    counted.close()
    assert not list(folder.parent.rglob("outside*"))
    assert sorted(path.name for path in folder.iterdir()) == [".lock", "sessions", "totals.json"]

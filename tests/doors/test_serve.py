"""`tally serve` as a process of its own: it says where it is, serves, and leaves nothing behind."""

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tallystick.doors.serve import Server
from tallystick.errors import ConfigError
from tallystick.settings import parse_settings
from tallystick.storage.notifications import PLACES, place_of
from tests.doors.tokens import SECRET
from tests.verifying import verify

ROOT = Path(__file__).parents[2]
TOOLS = """
from tallystick import tool

@tool(effect="read")
def double(number: int) -> int:
    "Twice the number."
    return 2 * number

@tool(effect="external")
def send_mail(to: str, password: str = "") -> str:
    "Send a mail."
    return f"sent to {to}"

@tool(effect="read")
def broken(text: str) -> int:
    "Raise."
    raise ValueError("broken by " + text)
"""
CONFIG = '[gate]\ntools = ["tools.py"]\n'


class Process:
    """A running `tally serve`."""

    def __init__(
        self, workspace: Path, state: Path, *words: str, before: tuple[str, ...] = (), **environment: str
    ) -> None:
        self.process = subprocess.Popen(
            [*before, sys.executable, "-m", "tallystick", "serve", "--workspace", str(workspace), *words],
            env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "TALLY_STATE_DIR": str(state), **environment},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.base = self.token = ""
        self.said = ""

    def wait_until_it_serves(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.said += line
            if line.startswith("Tallystick on "):
                self.base = line.split()[2].removesuffix("/api/docs").removesuffix("/")
            elif line.startswith("Start-up token"):
                self.token = line.rpartition(": ")[2].strip()
            elif line.startswith("It is also in "):
                return
        raise AssertionError(f"it did not start: {self.said}")

    def end(self, number: int = signal.SIGTERM) -> int:
        """Stop it politely; its exit code. What it said is in `said`."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        out, err = self.process.communicate(timeout=120)
        self.said += out + err
        return self.process.returncode


Serve = Callable[..., Process]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "tools.py").write_text(TOOLS, encoding="utf-8")
    (folder / "tallystick.toml").write_text(CONFIG, encoding="utf-8")
    return folder


@pytest.fixture
def serve(workspace: Path, tmp_path: Path) -> Iterator[Serve]:
    started: list[Process] = []

    def start(*words: str, wait: bool = True, before: tuple[str, ...] = (), **environment: str) -> Process:
        process = Process(workspace, tmp_path / "state", *words, before=before, **environment)
        started.append(process)
        if wait:
            process.wait_until_it_serves()
        return process

    yield start
    for process in started:
        if process.process.poll() is None:
            process.process.kill()
        process.process.communicate()


def ask(process: Process, method: str, path: str, **more: Any) -> httpx.Response:
    with httpx.Client(base_url=process.base, trust_env=False, timeout=120) as client:
        return client.request(method, path, **more)


DEAF = ("sh", "-c", 'trap "" INT; exec "$@"', "sh")
"""As a shell without job control starts what ends with `&`: Ctrl-C is ignored, and the program inherits that."""


@pytest.mark.promise("doors.serve")
def test_a_server_that_was_started_deaf_to_ctrl_c_still_ends_at_sigterm(
    serve: Serve, workspace: Path, tmp_path: Path
) -> None:
    process = serve("--port", "0", before=DEAF)
    assert ask(process, "GET", "/health").json()["status"] == "ok"
    assert process.end(signal.SIGTERM) == 128 + signal.SIGTERM
    assert list((tmp_path / "state" / "startup").iterdir()) == []
    assert verify(workspace, tmp_path / "state").ok


@pytest.mark.promise("doors.serve")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_serves_a_free_port_and_leaves_a_checked_ledger_and_no_token(
    serve: Serve, workspace: Path, tmp_path: Path, number: int
) -> None:
    process = serve("--port", "0")
    assert process.base.startswith("http://127.0.0.1:")
    assert ask(process, "GET", "/health").json()["status"] == "ok"
    call = ask(process, "POST", "/api/gate/call", json={"tool": "double", "args": {"number": 21}})
    assert call.json()["result"] == 42
    (kept,) = (tmp_path / "state" / "startup").iterdir()
    assert kept.read_text(encoding="ascii").strip() == process.token
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    process.end(number)
    assert list((tmp_path / "state" / "startup").iterdir()) == []
    report = verify(workspace, tmp_path / "state")
    assert report.ok
    assert report.size == 1
    # The last checkpoint was written on the way out.
    assert "checkpoint" in {warrant.by for warrant in report.warrants}


@pytest.mark.promise("doors.serve")
def test_a_held_call_is_answered_with_the_printed_token_and_runs_in_the_server(serve: Serve) -> None:
    process = serve("--port", "0")
    body = {"tool": "send_mail", "args": {"to": "a@example.org", "password": "hunter2-hunter2"}}
    held = ask(process, "POST", "/api/gate/call", json=body)
    assert held.status_code == 202
    path = f"/api/approvals/{held.json()['held']['approval_id']}"
    assert ask(process, "POST", f"{path}/approve").status_code == 403
    assert ask(process, "POST", f"{path}/approve", headers={"x-tally-token": process.token}).status_code == 200
    assert ask(process, "POST", f"{path}/resume").json()["result"] == "sent to a@example.org"
    process.end()
    assert process.said.count(process.token) == 1
    assert "hunter2" not in process.said


@pytest.mark.promise("page.bell")
def test_every_place_that_a_notification_can_name_is_a_page(serve: Serve) -> None:
    process = serve("--port", "0", TALLY_ROOMS="desk,insight,memory,studio")
    for kind in PLACES:
        shown = ask(process, "GET", place_of(kind, "some id"), headers={"x-tally-token": process.token})
        assert (shown.status_code, shown.headers["content-type"]) == (200, "text/html; charset=utf-8"), kind
    assert ask(process, "GET", "/sessions/s1").status_code == 404


@pytest.mark.promise("doors.serve", "doors.http-one-line")
def test_B06_the_log_is_one_json_object_a_line_whatever_a_caller_says(serve: Serve) -> None:
    process = serve("--port", "0")
    hostile = 'x\n{"event": "forged"}\r\x1b[31m'
    answer = ask(process, "POST", "/api/gate/call", json={"tool": "broken", "args": {"text": hostile}})
    assert answer.status_code == 502
    assert "broken by" not in answer.text
    ask(process, "POST", "/api/gate/call", json={"tool": hostile, "args": {}})
    process.end()
    lines = [line for line in process.said.split("\n") if line.startswith("{")]
    events = [json.loads(line)["event"] for line in lines]
    assert len([event for event in events if event.startswith("tool broken failed\nTraceback")]) == 1
    assert not [event for event in events if "forged" in event]
    assert "\x1b" not in process.said


@pytest.mark.promise("doors.serve")
def test_a_port_that_is_taken_is_said_plainly_and_costs_the_running_server_nothing(
    serve: Serve, workspace: Path, tmp_path: Path
) -> None:
    running = serve("--port", "0")
    port = running.base.rpartition(":")[2]
    second = serve("--port", port, wait=False)
    assert second.process.wait(60) != 0
    second.end()
    assert "cannot_listen" in second.said
    assert "Traceback" not in second.said
    (kept,) = (tmp_path / "state" / "startup").iterdir()
    assert kept.read_text(encoding="ascii").strip() == running.token


@pytest.mark.promise("doors.bind", "doors.serve")
@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_it_does_not_listen_beyond_this_machine_without_auth(serve: Serve, host: str) -> None:
    process = serve("--host", host, "--port", "0", wait=False)
    assert process.process.wait(60) != 0
    process.end()
    assert "bind_needs_auth" in process.said
    assert "Start-up token" not in process.said


@pytest.mark.promise("doors.serve", "doors.auth-everywhere")
def test_with_auth_it_listens_anywhere_and_everyone_needs_a_token(serve: Serve) -> None:
    process = serve("--host", "0.0.0.0", "--port", "0", APP_ENABLE_RBAC="true", APP_JWT_SECRET=SECRET)
    process.base = process.base.replace("0.0.0.0", "127.0.0.1")
    assert ask(process, "GET", "/health").status_code == 200
    assert ask(process, "POST", "/api/gate/call", json={"tool": "double", "args": {"number": 1}}).status_code == 401
    assert ask(process, "GET", "/api/gate/tools").status_code == 401
    process.end()
    assert SECRET not in process.said


ROOM = """
from tallystick import tool
from tallystick.plugin import Manifest, Room
from tallystick.turns.runs import Queue


def sweep(run, args):
    return run.step("sweep", lambda: "swept")


class Attic(Room):
    name = "attic"

    def __init__(self, context):
        pass

    def flows(self, durable, context):
        self.durable = durable
        durable.add_queue(Queue(name="attic", per_worker=1))
        durable.register("attic.sweep", sweep, queue="attic")

    def tools(self):
        @tool(effect="write")
        def sweep_attic(run_id: str) -> str:
            "Begin to sweep."
            return self.durable.start("attic.sweep", {}, run_id=run_id)

        @tool(effect="read")
        def swept(run_id: str, patience_s: int) -> str:
            "How far it is."
            return self.durable.wait(run_id, timeout_s=patience_s).state

        return [sweep_attic, swept]


MANIFEST = Manifest(name="attic", summary="Sweep.", room="attic:Attic", tools=("sweep_attic", "swept"))
"""


@pytest.mark.promise("doors.serve")
def test_durable_work_of_an_installed_room_is_done_beside_the_server_unless_told_otherwise(
    serve: Serve, tmp_path: Path
) -> None:
    installed = tmp_path / "installed"
    about = installed / "attic-1.0.dist-info"
    about.mkdir(parents=True)
    (installed / "attic.py").write_text(ROOM, encoding="utf-8")
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: attic\nVersion: 1.0\n", encoding="utf-8")
    (about / "entry_points.txt").write_text("[tallystick.rooms]\nattic = attic:MANIFEST\n", encoding="utf-8")
    path = os.pathsep.join([str(ROOT / "src"), str(installed)])
    idle = serve("--port", "0", "--no-worker", PYTHONPATH=path, TALLY_ROOMS="attic")
    begin = {"tool": "sweep_attic", "args": {"run_id": "sweep-1"}}
    assert ask(idle, "POST", "/api/gate/call", json=begin).json()["result"] == "sweep-1"
    wait = {"tool": "swept", "args": {"run_id": "sweep-1", "patience_s": 0}}
    assert ask(idle, "POST", "/api/gate/call", json=wait).json()["result"] == "waiting"
    idle.end()
    working = serve("--port", "0", PYTHONPATH=path, TALLY_ROOMS="attic")
    end = time.monotonic() + 300
    while ask(working, "POST", "/api/gate/call", json=wait).json()["result"] != "done":
        assert time.monotonic() < end, "nobody did the work"
        time.sleep(0.5)
    working.end()
    assert "Traceback" not in working.said


@pytest.mark.promise("doors.serve")
def test_it_can_listen_on_ipv6_loopback(serve: Serve) -> None:
    if not _has_ipv6():
        pytest.skip("left out: IPv6, this machine has none")
    process = serve("--host", "::1", "--port", "0")
    assert process.base.startswith("http://[::1]:")
    assert ask(process, "GET", "/health").status_code == 200


def _has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


@pytest.mark.promise("doors.serve")
def test_a_server_that_cannot_open_everything_leaves_nothing_open(workspace: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    sections = {"storage": {"state_dir": str(state)}, "ledger": {"durability": "os"}}
    for broken, code in (
        ({"gate": {"tools": ["not_there.py"]}}, "no_tools"),
        ({"auth": {"enabled": True, "jwt_secret": "short"}}, "auth_short_secret"),
        ({"auth": {"enabled": True}}, "auth_no_key"),
    ):
        with pytest.raises(ConfigError) as refused:
            Server(workspace, parse_settings({**sections, **broken}))
        assert refused.value.code == code
        assert not (state / "startup").exists()
    server = Server(workspace, parse_settings(sections))
    assert server.startup.path is not None
    server.close()
    assert list((state / "startup").iterdir()) == []


@pytest.mark.promise("doors.http-health")
def test_a_worker_that_cannot_start_is_said_and_tried_again(serve: Serve, workspace: Path) -> None:
    (workspace / "tallystick.toml").write_text(f'rooms = ["desk"]\n{CONFIG}', encoding="utf-8")
    in_the_way = workspace / ".control-room" / "durable.db"
    in_the_way.mkdir(parents=True)
    running = serve()
    assert _health(running, "unavailable")["worker"]
    in_the_way.rmdir()
    assert "worker" not in _health(running, "ok")


def _health(running: Process, wanted: str) -> dict[str, Any]:
    """What `/health` says once its status is this one."""
    end = time.monotonic() + 90
    while (said := ask(running, "GET", "/health").json())["status"] != wanted:
        assert time.monotonic() < end, said
        time.sleep(0.2)
    return dict(said)

"""A room that lives in a distribution of its own: built, installed beside the package, and used through every door.

The room is written from `docs/extending.md`; `tests/house/test_extending.py` holds the two together.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import expect

from tallystick import Gate
from tests.browser.serving import DESKTOP, Served, Visit, a_browser, serving
from tests.house.sources import ROOT
from tests.postgres import new_postgres
from tests.verifying import verify

HERE = Path(__file__).parent
PATIENCE_S = 300
"""Far more than anything takes, on a busy machine too."""
CSV = "wine,score\nBaga 2019,91\nEncruzado 2021,8800\nArinto 2022,many\n"

pytestmark = pytest.mark.promise("plugin.external-room")


class Installed:
    """The room's wheel in a folder on the path of processes that the tests start."""

    def __init__(self, folder: Path) -> None:
        self.source = folder / "source"
        for name in ("src", "tests"):
            shutil.copytree(HERE / name, self.source / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(HERE / "pyproject.toml", self.source)
        python("-m", "hatchling", "build", "-t", "wheel", "-d", str(folder), cwd=self.source)
        [wheel] = folder.glob("*.whl")
        target = folder / "site"
        python("-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", str(target), str(wheel), cwd=folder)
        before = filter(None, [str(ROOT / "src"), os.environ.get("PYTHONPATH")])
        self.path = os.pathsep.join([str(target), *before])

    @property
    def environ(self) -> dict[str, str]:
        """The test's own environment, so that what it opens itself has the state folder its processes wrote."""
        return {**os.environ, "PYTHONPATH": self.path}

    def tally(self, workspace: Path, *words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "tallystick", "--json", "-w", str(workspace), *words]
        return subprocess.run(
            command, env=self.environ, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE_S,
            check=False,
        )  # fmt: skip


def python(*words: str, cwd: Path) -> None:
    done = subprocess.run(
        [sys.executable, *words], cwd=cwd, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return Installed(tmp_path_factory.mktemp("room"))


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "cellar"
    (folder / "inbox").mkdir(parents=True)
    (folder / "inbox" / "may.csv").write_text(CSV, encoding="utf-8")
    (folder / "tallystick.toml").write_text('rooms = ["tastings"]\n\n[ledger]\ndurability = "os"\n', encoding="utf-8")
    return folder


def test_its_own_tests_pass_where_it_is_installed(room: Installed) -> None:
    # A temporary folder of its own: in the shared one it would first remove what earlier runs of pytest left there.
    temporary = f"--basetemp={room.source.parent / 'temporary'}"
    plugins = ("-p", "no:cacheprovider", "-p", "no:langsmith_plugin")
    command = [sys.executable, "-m", "pytest", "-q", temporary, *plugins, "tests"]
    done = subprocess.run(
        command, cwd=room.source, env=room.environ, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert done.returncode == 0, done.stdout
    assert "6 passed" in done.stdout


def test_its_command_logs_lists_and_is_refused_by_its_rule(room: Installed, workspace: Path) -> None:
    added = room.tally(workspace, "tastings", "add", " Baga  2019", "91")
    assert added.returncode == 0, added.stderr
    assert json.loads(added.stdout)["status"] == "transformed"
    refused = room.tally(workspace, "tastings", "add", "Baga 2019", "101")
    assert refused.returncode == 1
    assert json.loads(refused.stderr)["error"]["code"] == "POLICY_VIOLATION"
    assert room.tally(workspace, "tastings", "add", "Arinto", "0").returncode == 3
    listed = json.loads(room.tally(workspace, "tastings", "list").stdout)
    assert [(one["wine"], one["score"]) for one in listed["items"]] == [("Baga 2019", 91)]
    assert [(one["status"], one.get("code")) for one in outcomes(workspace)[:2]] == [
        ("transformed", None),
        ("rejected", "POLICY_VIOLATION"),
    ]
    assert verify(workspace).ok


def test_its_setting_is_checked_and_the_wrong_key_is_named(room: Installed, workspace: Path) -> None:
    for line, key, code in (
        ("scale = 0", "rooms.tastings.scale", "config_bad_value"),
        ("sclae = 20", "rooms.tastings.sclae", "config_unknown_key"),
    ):
        (workspace / "tallystick.toml").write_text(f"[rooms.tastings]\n{line}\n", encoding="utf-8")
        refused = room.tally(workspace, "tastings", "list")
        assert refused.returncode == 4
        told = json.loads(refused.stderr)["error"]
        assert told["code"] == code
        assert f"'{key}'" in told["message"]


def test_its_check_is_part_of_doctor(room: Installed, workspace: Path) -> None:
    def health() -> dict[str, str]:
        told = json.loads(room.tally(workspace, "doctor").stdout)
        return {each["check"]: each["status"] for each in told["checks"] if "tastings" in each["check"]}

    assert health() == {"room tastings": "ok", "room tastings: inbox": "ok"}
    shutil.rmtree(workspace / "inbox")
    assert health() == {"room tastings": "ok", "room tastings: inbox": "warn"}
    assert not (workspace / "inbox").exists()


def test_its_part_is_played_in_the_demo(room: Installed, tmp_path: Path) -> None:
    done = room.tally(tmp_path / "demo", "demo", "--no-serve")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["parts"]["tastings"] == {"ok": True, "refused": "POLICY_VIOLATION"}
    assert "tally tastings list" in told["next"]


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_its_routes_its_table_and_its_flow_work_in_a_server(room: Installed, workspace: Path, database: str) -> None:
    more = {} if database == "sqlite" else {"TALLY_DATABASE_URL": new_postgres("postgresql")}
    with served(room, workspace, **more) as server:
        added = ask(server, "POST", "/api/tastings", {"wine": "Touriga 2018", "score": 95})
        assert added["status"] == "accepted"
        refused = ask(server, "POST", "/api/tastings", {"wine": "Touriga 2018", "score": 950}, status=400)
        assert refused["rejection"]["code"] == "POLICY_VIOLATION"
        assert ask(server, "GET", "/api/tastings")["total"] == 1
        run = ask(server, "POST", "/api/tastings/imports", {"file": "may.csv"}, status=202)["run_id"]
        ended = until_ended(server, f"/api/tastings/imports/{run}")
        assert (ended["state"], ended["result"]["rows"]) == ("done", 3)
        assert ended["result"]["refused"] == [
            {"row": 2, "code": "POLICY_VIOLATION"},
            {"row": 3, "code": "INVALID_PAYLOAD"},
        ]
        stored = ask(server, "GET", "/api/tastings")
        assert {one["wine"] for one in stored["items"]} == {"Touriga 2018", "Baga 2019"}
        assert f"{run}/row-1" in {one["id"] for one in stored["items"]}
        assert "/api/tastings/imports/{run_id}" in ask(server, "GET", "/api/openapi.json")["paths"]
    written = (workspace / ".control-room" / "tallystick.db").exists()
    assert written is (database == "sqlite")


def test_its_page_is_in_the_navigation_and_logs_a_tasting(room: Installed, workspace: Path) -> None:
    with served(room, workspace) as server, a_browser() as browser:
        context = browser.new_context(viewport={"width": DESKTOP[0], "height": DESKTOP[1]}, reduced_motion="reduce")
        visit = Visit(context.new_page(), server)
        page = visit.open("/tastings")
        expect(page.get_by_role("navigation").get_by_role("link", name="Tastings")).to_be_visible()
        expect(page.get_by_text("No tastings yet")).to_be_visible()
        page.get_by_label("Wine").fill("Baga 2019")
        page.get_by_label("Score").fill("910")
        page.get_by_role("button", name="Add").click()
        expect(page.get_by_text("the score is above the scale")).to_be_visible()
        page.get_by_label("Score").fill("91")
        page.get_by_role("button", name="Add").click()
        expect(page.get_by_text("Baga 2019: 91")).to_be_visible()
        visit.check()
        context.close()


@contextmanager
def served(room: Installed, workspace: Path, **more: str) -> Iterator[Served]:
    with serving(workspace, PYTHONPATH=room.path, **more) as server:
        yield server


def ask(server: Served, method: str, path: str, body: Any = None, *, status: int = 200) -> Any:
    answer = httpx.request(method, server.base + path, json=body, timeout=PATIENCE_S)
    assert answer.status_code == status, answer.text
    return answer.json()


def until_ended(server: Served, path: str) -> Any:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        found = ask(server, "GET", path)
        if found["state"] in {"done", "failed", "dead", "cancelled"}:
            return found
        time.sleep(0.1)
    raise AssertionError("the import did not end")


def outcomes(workspace: Path) -> list[dict[str, Any]]:
    with Gate.open(workspace, plugins=False) as gate:
        return [one.header["outcome"] for one in gate.ledger.read() if one.header["kind"] == "outcome"]

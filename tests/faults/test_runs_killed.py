"""Pipeline runs whose workers are killed with SIGKILL at step boundaries (all of them at full size): they go on, and finish once."""

import itertools
import json
import multiprocessing
import secrets
import signal
from collections import Counter
from collections.abc import Iterator
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest

from tallystick import Gate
from tallystick.app.flows import register_flows
from tallystick.gate.session import LOCAL_OWNER
from tallystick.rooms.studio.room import Studio
from tallystick.rooms.studio.runs.service import RunService
from tests.faults.run_worker import Orders, settings, work
from tests.offline_turns import write_files
from tests.sizes import size
from tests.verifying import verify

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["tests.faults.run_worker"])
PATIENCE_S = 300.0

TOOLS = """
import os
import signal
from pathlib import Path

from tallystick import tool

NOTES = Path(__file__).parent / "notes.txt"


@tool(effect="write")
def jot(line: str) -> str:
    "Add a line to the notes."
    with NOTES.open("a") as file:
        file.write(line + "\\n")
    return line


@tool(effect="write")
def deadly(line: str) -> str:
    "Add a line to the notes, and kill the process once."
    jot(line)
    if not NOTES.with_name("survived").exists():
        NOTES.with_name("survived").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return line
"""
SCENE = "# The Harbour\n\nMara found a brass key under the pier. It was cold and smelled of salt.\n"
RECIPE: dict[str, Any] = {
    "id": "work",
    "title": "Work",
    "phase_a": [
        {"id": "find", "tool": "file_locator", "args": {"search_criteria": "brass key", "scan_mode": "DEEP_SCAN"}, "slot": "found"},
        {"id": "jots", "tool": "jot", "for_each": {"$ref": "found.results.*.path"}, "args": {"line": {"$ref": "item"}}, "slot": "jots"},
        {"id": "jot", "tool": "jot", "args": {"line": "once"}, "slot": "jotted"},
    ],
    "phase_b": [{"id": "judge", "agent": "critic", "uses": ["found"], "tools": ["file_reader"], "slot": "judged", "prompt": "Where is the brass key?"}],
    "done": [{"check": "slot_not_null", "slot": "jotted"}, {"check": "evidence_ok", "slot": "judged"}],
}  # fmt: skip
ONCE = [("find", "called"), ("jot", "called"), ("run.tell", "behind")]
"""At a call's own end the ledger alone knows what came of it; behind the last step the flow itself ends."""
STEPS = ("run.begin", "find", "jots.0", "jots", "jot", "judge", "run.done", "run.tell")
EVERY = [
    (step, place)
    for step in STEPS
    for place in ("before", "inside", "behind")
    # The last one is the end of the flow: the test of runs that are killed once is about it.
    if (step, place) != ("run.tell", "behind")
]
SPREAD = [("find", "before"), ("jots.0", "inside"), ("jot", "inside"), ("judge", "behind"), ("run.done", "inside")]
"""At small size: each place, in the first step that calls a tool, in one of many, at a write, at a turn and at the end."""


class Yard:
    """A workspace, and processes that work on its runs and die."""

    def __init__(self, folder: Path) -> None:
        self.state = folder / "state"
        self.state.mkdir()
        self.workspace = write_files(folder / "work", {"tools.py": TOOLS, "Story/Scenes/SCN-01-the-harbour.md": SCENE})
        recipes = self.workspace / ".control-room" / "recipes"
        recipes.mkdir(parents=True)
        (recipes / "work.json").write_text(json.dumps(RECIPE), encoding="utf-8")
        self.gate = Gate.open(self.workspace, settings=settings(self.state), rooms=["studio"])
        register_flows(self.gate)
        room = self.gate.room("studio")
        assert isinstance(room, Studio)
        assert room.runs is not None
        self.desk: RunService = room.runs
        self.workers: list[BaseProcess] = []

    def start(self) -> str:
        begun = self.desk.start("work", {}, LOCAL_OWNER)
        assert isinstance(begun, dict), begun
        run_id: str = begun["run_id"]
        return run_id

    def worker(self, dies_at: tuple[str, str] | None = None) -> BaseProcess:
        orders = Orders(
            workspace=self.workspace, state=self.state, worker_id=f"w-{secrets.token_hex(4)}", dies_at=dies_at
        )
        process = FORKS.Process(target=work, args=(orders,))
        process.start()
        self.workers.append(process)
        return process

    def dies(self, dies_at: tuple[str, str] | None = None) -> None:
        """A worker works until it is killed."""
        process = self.worker(dies_at)
        process.join(PATIENCE_S)
        assert process.exitcode == -signal.SIGKILL, f"never came to {dies_at}"

    def finishes(self, run_id: str) -> dict[str, Any]:
        """A worker that nobody kills carries the run to its end."""
        process = self.worker()
        assert self.gate.durable.wait(run_id, timeout_s=PATIENCE_S) is not None
        process.terminate()
        process.join(PATIENCE_S)
        shown = self.desk.show(run_id, LOCAL_OWNER)
        assert shown is not None
        return shown

    def notes(self) -> list[str]:
        return (self.workspace / "notes.txt").read_text(encoding="utf-8").splitlines()

    def given(self, run_id: str) -> Counter[str]:
        """Step → how many calls of it came to a good end, by the ledger."""
        outcomes = (one.header for one in self.gate.ledger.session(run_id) if one.header["kind"] == "outcome")
        return Counter(
            header["step"]
            for header in outcomes
            if header.get("tool_id") and header["outcome"]["status"] == "accepted" and "fault" not in header["outcome"]
        )

    def close(self) -> None:
        for process in self.workers:
            if process.is_alive():
                process.kill()
            process.join()
        self.gate.close()


@pytest.fixture
def yard(tmp_path: Path) -> Iterator[Yard]:
    made = Yard(tmp_path)
    yield made
    made.close()


def check_finished_once(yard: Yard, run_id: str, run: dict[str, Any]) -> None:
    assert run["status"] == "done", run
    assert {step["status"] for step in run["steps"]} == {"done"}
    assert yard.notes() == ["Story/Scenes/SCN-01-the-harbour.md", "once"]
    given = yard.given(run_id)
    assert {step: given[step] for step in ("find", "jots.0", "jot")} == {"find": 1, "jots.0": 1, "jot": 1}
    endings = Counter(line["step"] for line in yard.desk.steps(run_id, LOCAL_OWNER) or () if line["status"] == "done")
    assert set(endings.values()) == {1}, "each step ends once"
    assert verify(yard.workspace).ok


@pytest.mark.promise("runs.killed", "runs.resume")
def test_a_run_whose_workers_are_killed_at_step_boundaries_finishes_once(yard: Yard) -> None:
    run_id = yard.start()
    for boundary in size(SPREAD, EVERY):
        yard.dies(boundary)
    check_finished_once(yard, run_id, yard.finishes(run_id))


@pytest.mark.promise("runs.killed")
@pytest.mark.parametrize(
    ("step", "place"), size(ONCE, [*ONCE, *itertools.product(STEPS, ("before", "inside", "behind"))])
)
def test_a_run_that_is_killed_once_finishes_once(yard: Yard, step: str, place: str) -> None:
    run_id = yard.start()
    yard.dies((step, place))
    check_finished_once(yard, run_id, yard.finishes(run_id))


@pytest.mark.promise("runs.unknown", "runs.never-done")
def test_a_write_that_was_cut_off_is_not_done_again_by_itself(yard: Yard) -> None:
    changed = {
        **RECIPE,
        "phase_a": [{**RECIPE["phase_a"][2], "tool": "deadly"}],
        "phase_b": [],
        "done": RECIPE["done"][:1],
    }
    (yard.workspace / ".control-room" / "recipes" / "work.json").write_text(json.dumps(changed), encoding="utf-8")
    run_id = yard.start()
    yard.dies()
    run = yard.finishes(run_id)
    assert (run["status"], run["code"]) == ("failed", "outcome_unknown")
    assert run["steps"][0]["status"] == "failed"
    assert yard.notes() == ["once"]
    # A person has looked, and says that it shall be called again.
    assert isinstance(yard.desk.resume(run_id, LOCAL_OWNER), dict)
    assert yard.finishes(run_id)["status"] == "done"
    assert yard.notes() == ["once", "once"]

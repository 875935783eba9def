"""A small project whose recipes run, with one worker in this process."""

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tallystick import Gate, Tool, ToolError, tool
from tallystick.app.flows import register_flows
from tallystick.gate.session import LOCAL_OWNER, Caller
from tallystick.rooms.studio.room import Studio
from tallystick.rooms.studio.runs.service import RunService
from tallystick.settings import parse_settings
from tests.durable.conftest import InProcessWorker
from tests.gates import open_gate
from tests.offline_turns import write_files

FILES = {
    "Story/SCN-outline.md": (
        "# Act One\n\n## Scene 1: The Harbour (POV: Mara)\n\nMara finds the brass key under the pier.\n\n"
        "## Scene 2: The Door (POV: Mara)\n\nThe brass key opens the archive door.\n"
    ),
    "Story/Scenes/SCN-01-the-harbour.md": (
        "---\ntitle: The Harbour\npov: Mara\n---\n\n# The Harbour\n\n"
        "Mara found a brass key under the pier. It was cold and smelled of salt.\n"
    ),
    "Story/Scenes/SCN-02-the-door.md": (
        "---\ntitle: The Door\npov: Mara\n---\n\n# The Door\n\n"
        "The brass key turned. Behind the door the archive lay in the dark.\n"
    ),
    "Compendium/Characters/CHAR-mara.md": "---\nname: Mara\n---\n# Mara\n\nMara has grey eyes.\n",
}
LOOK: dict[str, Any] = {
    "id": "look",
    "title": "Look",
    "inputs": {"thread": {"type": "string", "default": "brass key"}},
    "phase_a": [
        {
            "id": "find", "tool": "file_locator", "slot": "found",
            "args": {"search_criteria": {"$input": "thread"}, "scan_mode": "DEEP_SCAN"},
        },
        {
            "id": "read", "tool": "file_reader", "slot": "texts", "for_each": {"$ref": "found.results.*.path"},
            "args": {"file_path": {"$ref": "item"}},
        },
    ],
    "phase_b": [
        {
            "id": "judge", "agent": "critic", "uses": ["found", "texts"], "slot": "judged",
            "tools": ["file_locator", "file_reader"], "prompt": "Where is this planted: {{inputs.thread}}?",
        }
    ],
    "done": [{"check": "slot_not_null", "slot": "found"}, {"check": "evidence_ok", "slot": "judged"}],
}  # fmt: skip
PATIENCE_S = 240.0


@dataclass
class Gateway:
    """Where the tool `patient` waits."""

    begun: threading.Event = field(default_factory=threading.Event)
    go_on: threading.Event = field(default_factory=threading.Event)
    calls: int = 0


class Bench:
    """An open workspace, its runs, and a worker on them."""

    def __init__(self, gate: Gate) -> None:
        self.gate = gate
        self.workspace = gate.workspace
        self.gateway = Gateway()
        register_flows(gate)
        room = gate.room("studio")
        assert isinstance(room, Studio)
        assert room.runs is not None
        self.desk: RunService = room.runs

    def recipe(self, recipe_id: str, **changes: Any) -> str:
        """Put a recipe of the project in place."""
        folder = self.workspace / ".control-room" / "recipes"
        folder.mkdir(parents=True, exist_ok=True)
        document = {**LOOK, "id": recipe_id, **changes}
        kept = {name: value for name, value in document.items() if value is not None}
        (folder / f"{recipe_id}.json").write_text(json.dumps(kept), encoding="utf-8")
        return recipe_id

    def start(self, recipe_id: str, caller: Caller = LOCAL_OWNER, **inputs: Any) -> str:
        begun = self.desk.start(recipe_id, inputs, caller)
        assert isinstance(begun, dict), begun
        run_id: str = begun["run_id"]
        return run_id

    def run(self, recipe_id: str, **inputs: Any) -> dict[str, Any]:
        """Start and wait for the end."""
        return self.ended(self.start(recipe_id, **inputs))

    def ended(self, run_id: str) -> dict[str, Any]:
        assert self.gate.durable.wait(run_id, timeout_s=PATIENCE_S) is not None
        shown = self.desk.show(run_id, LOCAL_OWNER)
        assert shown is not None
        return shown

    def file(self, run_id: str, name: str) -> Any:
        path = self.workspace / ".control-room" / "runs" / run_id / name
        text = path.read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines()] if name.endswith("jsonl") else json.loads(text)


def steps(run: dict[str, Any]) -> dict[str, str]:
    """Step → status."""
    return {step["step"]: step["status"] for step in run["steps"]}


def odd_tools(notes: Path, gateway: Gateway) -> list[Tool]:
    """Tools that write, fail until they are mended, or wait to be let go."""

    @tool(effect="write")
    def jot(line: str) -> int:
        "Add a line to the notes."
        with notes.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")
        return len(notes.read_text(encoding="utf-8").splitlines())

    @tool(effect="read")
    def shaky(name: str) -> str:
        "Fail until a file of that name is there."
        if not notes.with_name(name).exists():
            raise ToolError("not mended yet", status=404, hint="mend it")
        return "mended"

    @tool(effect="external")
    def send(to: str) -> str:
        "Send something out."
        return f"sent to {to}"

    @tool(effect="write")
    def patient() -> str:
        "Wait to be let go."
        gateway.calls += 1
        gateway.begun.set()
        assert gateway.go_on.wait(PATIENCE_S)
        return "let go"

    return [jot, shaky, send, patient]


@pytest.fixture
def open_bench(tmp_path: Path) -> Iterator[Callable[..., Bench]]:
    opened: list[Gate] = []

    def make(**sections: Any) -> Bench:
        gate = open_gate(write_files(tmp_path / "work", FILES), plugins=True, **sections)
        opened.append(gate)
        bench = Bench(gate)
        gate.register(*odd_tools(tmp_path / "notes.txt", bench.gateway))
        return bench

    yield make
    for gate in opened:
        gate.close()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """With a worker; for tests that leave files, agents and notes as they are."""
    folder = tmp_path_factory.mktemp("shared")
    settings = parse_settings({"ledger": {"durability": "os"}, "storage": {"state_dir": str(folder / "state")}})
    with Gate.open(write_files(folder / "work", FILES), settings=settings, rooms=["studio"]) as gate:
        made = Bench(gate)
        gate.register(*odd_tools(folder / "notes.txt", made.gateway))
        with InProcessWorker(gate.durable):
            yield made


@pytest.fixture
def bench(open_bench: Callable[..., Bench]) -> Iterator[Bench]:
    """With a worker, and nobody else's."""
    made = open_bench()
    with InProcessWorker(made.gate.durable):
        yield made

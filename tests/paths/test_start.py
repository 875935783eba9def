"""What starting costs: `tally --help` is quick and opens no room; opening a gate loads no framework of a door."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HELP_CPU_S = 0.2
"""CPU time that `tally --help` may take, by the user and the system."""
TRIES = 5
FRAMEWORKS = {"fastapi", "starlette", "uvicorn", "typer", "click", "nicegui", "rich", "mcp"}
ROOMS = {f"tallystick.rooms.{name}" for name in ("desk", "insight", "memory", "studio")}

TELL = "print('loaded:', *sorted(sys.modules))"
HELP = f"""
import sys
from tallystick.__main__ import main
sys.argv = ["tally", "--help"]
try:
    main()
except SystemExit as end:
    assert not end.code
{TELL}
"""
OPEN = f"""
import sys
from tallystick import Gate
with Gate.open(sys.argv[1], rooms=["desk", "insight", "memory", "studio"]) as gate:
    print(*(card.name for card in gate.tools()))
{TELL}
"""


@pytest.mark.promise("house.quick-help")
def test_help_takes_little_time() -> None:
    assert min(_cpu_s([sys.executable, "-m", "tallystick", "--help"]) for _ in range(TRIES)) <= HELP_CPU_S


@pytest.mark.promise("house.quick-help")
def test_help_loads_manifests_and_nothing_else_of_a_room() -> None:
    said, loaded = _run(HELP)
    assert "desk" in said
    assert {name for name in loaded if name.startswith("tallystick.rooms.")} == ROOMS


@pytest.mark.promise("house.open-without-frameworks")
def test_opening_a_gate_with_its_rooms_loads_no_framework(tmp_path: Path) -> None:
    said, loaded = _run(OPEN, str(tmp_path))
    assert "file_reader" in said
    assert loaded >= {f"{room}.room" for room in ROOMS}
    assert not FRAMEWORKS & {name.split(".")[0] for name in loaded}


def _run(code: str, *words: str) -> tuple[str, set[str]]:
    """What a new process said, and the modules it had at its end."""
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True)
    said, _, loaded = done.stdout.rpartition("loaded:")
    return said, set(loaded.split())


def _cpu_s(command: list[str]) -> float:
    """The CPU time of a process and its children, by the user and the system."""
    before = os.times()
    subprocess.run(command, capture_output=True, check=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system

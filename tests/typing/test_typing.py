"""mypy, strict, over small programs that use the public names: what it knows, and which mistakes it finds."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.sources import ROOT

HERE = Path(__file__).parent


def mypy(program: Path, cache: Path) -> str:
    options = [
        "--strict",
        "--python-version",
        "3.11",
        "--cache-dir",
        str(cache),
        "--config-file",
        str(HERE / "mypy.ini"),
    ]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, str(program)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def cache() -> Path:
    """Kept between runs: mypy reads again only what has changed."""
    return ROOT / ".mypy_cache" / "public_api"


@pytest.mark.promise("api.typed")
def test_the_result_type_of_a_tool_survives_the_gate(cache: Path) -> None:
    said = mypy(HERE / "public_api.py", cache)
    assert "Success: no issues found in 1 source file" in said, said


@pytest.mark.promise("api.typed")
def test_a_wrong_argument_is_found_before_the_program_runs(cache: Path) -> None:
    program = HERE / "mistakes.py"
    expected = {
        (number, code[1])
        for number, line in enumerate(program.read_text(encoding="utf-8").splitlines(), 1)
        if (code := re.search(r"# error: ([a-z-]+)$", line))
    }
    said = mypy(program, cache)
    found = {(int(line), code) for line, code in re.findall(r"mistakes\.py:(\d+): error: .*\[([a-z-]+)\]", said)}
    assert expected
    assert found == expected, said

"""Every example runs, as it stands, in an empty folder and without a network."""

import sys
from pathlib import Path

import pytest

from tests.house.commands import run
from tests.house.sources import ROOT

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.promise("house.examples")
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_the_example_runs(example: Path, tmp_path: Path) -> None:
    done = run([sys.executable, str(example)], tmp_path)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"


@pytest.mark.promise("house.examples")
def test_there_is_a_tour_of_the_gate() -> None:
    assert "tour" in {example.stem for example in EXAMPLES}

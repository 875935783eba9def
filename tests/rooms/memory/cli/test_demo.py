"""Memory's part of `tally demo`: what two sources say is believed, however often a model says otherwise."""

from pathlib import Path

import pytest

from tallystick.doors.cli import demo
from tallystick.doors.cli.demo import demo_parts
from tests.doors.cli.conftest import Tally


@pytest.fixture
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder on a machine that has never seen a ledger; only this part is played."""
    monkeypatch.setenv("TALLY_STATE_DIR", str(tmp_path / "state"))
    parts = [part for part in demo_parts() if part.name == "memory"]
    monkeypatch.setattr(demo, "demo_parts", lambda: parts)
    monkeypatch.chdir(tmp_path)
    return tmp_path / demo.FOLDER


@pytest.mark.promise("demo.memory", "memory.model-flood")
def test_what_two_sources_say_is_believed_however_often_a_model_says_otherwise(fresh: Path, tally: Tally) -> None:
    shown = tally("demo", "--no-serve")
    assert shown.code == 0, shown.err
    assert "1.7 litres" in shown.out
    assert "memory is the same" in shown.out
    again = tally("--json", "demo", "--no-serve")
    assert again.code == 0
    facts = again.json["parts"]["memory"]["facts"]
    assert {one["object"]: one["status"] == "accepted" for one in facts} == {"1.7 litres": True, "2 litres": False}
    explained = tally("-w", fresh, "memory", "explain", next(one["id"] for one in facts if one["status"] == "accepted"))
    assert "test-bench" in explained.out

"""Insight's part of `tally demo`: from the sample tickets to a report whose numbers hold, offline."""

from pathlib import Path

import pytest

from tallystick.doors.cli import demo
from tallystick.doors.cli.demo import demo_parts
from tallystick.rooms.insight.demo import TICKETS
from tallystick.rooms.insight.sample.tickets import sample
from tests.doors.cli.conftest import Tally


@pytest.fixture
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder on a machine that has never seen a ledger; only this part is played."""
    monkeypatch.setenv("TALLY_STATE_DIR", str(tmp_path / "state"))
    parts = [part for part in demo_parts() if part.name == "insight"]
    monkeypatch.setattr(demo, "demo_parts", lambda: parts)
    monkeypatch.chdir(tmp_path)
    return tmp_path / demo.FOLDER


@pytest.mark.promise("insight.demo")
def test_the_sample_becomes_a_report_with_charts_that_names_what_changed(fresh: Path, tally: Tally) -> None:
    ran = tally("demo", "--no-serve")
    assert ran.code == 0, ran.err
    for shown in ("869 tickets of 5 departments", "You ask: ", "rose from", "Themes", "Try next", "receipts verify"):
        assert shown in ran.out
    assert "@example" not in ran.out
    page = (fresh / "data" / "tideline-report.html").read_text(encoding="utf-8")
    assert "<svg" in page
    # The release of April, found in the tickets alone.
    assert "update" in page.partition("Themes")[0]

    again = tally("--json", "demo", "--no-serve")
    assert again.code == 0
    part = again.json["parts"]["insight"]
    assert part["ok"] is True
    assert part["dataset"]["inserted_tickets"] == 0
    assert part["report"] == "data/tideline-report-2.html"
    assert part["rechecked"]["ok"] is True
    assert part["rechecked"]["checked"] > 100
    assert (fresh / TICKETS).read_bytes() == sample()
    for line in again.json["next"]:
        words = line.split()
        assert tally(*[word for word in words[1:3] if word.isalpha()], "--help").code == 0, line

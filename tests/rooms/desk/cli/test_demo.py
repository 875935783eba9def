"""The desk's part of `tally demo`: three customers write, and each ends as the sample says, for the right reason."""

from pathlib import Path

import pytest

from tallystick.doors.cli import demo
from tallystick.doors.cli.demo import demo_parts
from tests.doors.cli.conftest import Tally


@pytest.fixture
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder on a machine that has never seen a ledger; only this part is played."""
    monkeypatch.setenv("TALLY_STATE_DIR", str(tmp_path / "state"))
    parts = [part for part in demo_parts() if part.name == "desk"]
    monkeypatch.setattr(demo, "demo_parts", lambda: parts)
    monkeypatch.chdir(tmp_path)
    return tmp_path / demo.FOLDER


@pytest.mark.promise("demo.desk", "desk.sample")
def test_three_customers_end_differently_and_it_says_why(fresh: Path, tally: Tally) -> None:
    shown = tally("demo", "--no-serve")
    assert shown.code == 0, shown.err
    for words in (
        "PROCEED  proceed.supported",
        "DEFER  defer.contradiction",
        "BLOCK  block.personal-data",
        "warranty/guarantee.md",
        "products/wren-grinder-care.md",
        "3 years",
        "2 years",
        "What would change it: documents that agree",
        "internal/escalation-contacts.md: (not shown)",
        "receipts verify",
    ):
        assert words in shown.out, words
    again = tally("--json", "demo", "--no-serve")
    assert again.json["parts"]["desk"]["ok"] is True
    answered, deferred, blocked = again.json["parts"]["desk"]["tickets"]
    assert [one["verdict"] for one in (answered, deferred, blocked)] == ["PROCEED", "DEFER", "BLOCK"]
    assert "three to five working days" in answered["draft"]
    assert "4.90 euros" in answered["draft"]
    assert "**" not in answered["draft"]
    assert {one["sent"] for one in (answered, deferred, blocked)} == {""}
    assert blocked["draft"] == ""
    # What must not leave stands on no screen either.
    assert "+44 7700" not in shown.out + again.out
    waits = tally("-w", fresh, "--json", "desk", "queue").json
    assert {one["rule_id"] for one in waits["items"]} == {"defer.contradiction", "review.before-sending"}

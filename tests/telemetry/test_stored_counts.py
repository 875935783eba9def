"""What was counted, read back."""

from pathlib import Path

import pytest

from tallystick.agents.counts import Count
from tallystick.gate.session import Session
from tallystick.telemetry.rejections import Rejections
from tallystick.telemetry.stored_counts import StoredCounts


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rejections = Rejections(tmp_path)
    for session, agent, conference, tokens in (
        ("s1", "critic", None, 5), ("s1", "editor", "c1", 7), ("s2", "critic", "c1", 11),
    ):  # fmt: skip
        where = Session(session_id=session, agent_id=agent, conference_id=conference)
        rejections.add(where, Count(activations=1, tokens=tokens, tokens_in=tokens, cost_microusd=1))
    rejections.add(Session(session_id="s2", agent_id="critic", conference_id="c1"), bucket="cot_leak")
    rejections.close()
    return tmp_path


@pytest.mark.promise("telemetry.http")
def test_totals_agents_and_conferences_add_up(folder: Path) -> None:
    counted = StoredCounts(Rejections(folder))
    totals = counted.totals()
    assert (totals["sessions"], totals["agents"], totals["conferences"]) == (2, 2, 1)
    assert (totals["totals"]["activations"], totals["totals"]["tokens_in"], totals["totals"]["cost_microusd"]) == (
        3,
        23,
        3,
    )
    assert [(each["agent_id"], each["tokens"]) for each in counted.agents()] == [("critic", 16), ("editor", 7)]
    assert [(each["conference_id"], each["tokens"]) for each in counted.conferences()] == [("c1", 18)]
    assert "agents" not in counted.conferences()[0]
    conference = counted.conference("c1")
    assert conference is not None
    assert [(each["agent_id"], each["activations"]) for each in conference["agents"]] == [("critic", 1), ("editor", 1)]
    assert conference["rejections"]["cot_leak"] == 1
    assert counted.conference("c2") is None


@pytest.mark.promise("telemetry.http")
def test_sessions_are_given_a_page_at_a_time(folder: Path) -> None:
    counted = StoredCounts(Rejections(folder))
    items, total = counted.sessions(limit=1, offset=0)
    assert (len(items), total) == (1, 2)
    session = counted.session("s1")
    assert session is not None
    assert session["totals"]["tokens"] == 12
    assert session["agents"].keys() == {"critic", "editor"}
    for name in ("s3", "../totals", "", "s1/../s1"):
        assert counted.session(name) is None


@pytest.mark.promise("telemetry.http")
def test_where_nothing_was_counted_everything_is_zero(tmp_path: Path) -> None:
    counted = StoredCounts(Rejections(tmp_path / "none"))
    assert counted.totals()["totals"]["activations"] == 0
    assert counted.sessions(limit=5, offset=0) == ([], 0)
    assert (counted.agents(), counted.conferences()) == ([], [])
    assert not (tmp_path / "none").exists()

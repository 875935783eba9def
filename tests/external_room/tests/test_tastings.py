import asyncio
import json
from pathlib import Path

import pytest

from tallystick import Gate, Outcome
from tallystick.errors import ConfigError


def test_a_tasting_is_logged_once_for_each_key(tmp_path: Path) -> None:
    with Gate.open(tmp_path, rooms=["tastings"]) as gate:
        first, again = (gate.call_sync("tastings.add", {"wine": "Baga", "score": 91, "key": "k"}) for _ in range(2))
        listed = gate.call_sync("tastings.list").unwrap()
    assert (first.result["added"], again.result["added"]) == (True, False)
    assert listed["total"] == 1


def test_a_score_above_the_scale_is_refused_and_the_receipt_says_so(tmp_path: Path) -> None:
    (tmp_path / "tallystick.toml").write_text("[rooms.tastings]\nscale = 20\n", encoding="utf-8")
    with Gate.open(tmp_path, rooms=["tastings"]) as gate:
        outcome = gate.call_sync("tastings.add", {"wine": "Baga", "score": 21})
        receipt = gate.ledger.find(outcome.receipt_id)
    assert outcome.rejection is not None
    assert outcome.rejection.code == "POLICY_VIOLATION"
    assert receipt is not None
    assert receipt.header["outcome"]["code"] == "POLICY_VIOLATION"


def test_calls_at_the_same_time_do_not_pass_the_limit_together(tmp_path: Path) -> None:
    async def four_at_once() -> list[Outcome]:
        return await asyncio.gather(*(gate.call("tastings.add", {"wine": "Baga", "score": 91}) for _ in range(4)))

    (tmp_path / "tallystick.toml").write_text("[rooms.tastings]\nmost = 2\n", encoding="utf-8")
    with Gate.open(tmp_path, rooms=["tastings"]) as gate:
        outcomes = asyncio.run(four_at_once())
    assert sorted(outcome.code or "ok" for outcome in outcomes) == ["POLICY_VIOLATION", "POLICY_VIOLATION", "ok", "ok"]


def test_an_agent_logs_a_tasting_and_a_score_of_zero_waits_for_a_person(tmp_path: Path) -> None:
    with Gate.open(tmp_path, rooms=["tastings"]) as gate:
        turn = gate.turn(agent="taster")
        said = {"tool": "tastings.add", "args": {"wine": " Baga", "score": 0}, "nonce": turn.nonce}
        held = asyncio.run(turn.submit(json.dumps(said))).held
        assert held is not None
        request = gate.approvals.get(held.approval_id)
        assert request is not None
        assert json.loads(request.shown) == {"wine": "Baga", "score": 0}
        gate.approvals.approve(held.approval_id, person="ada", channel="terminal")
        assert gate.resume_sync(held.approval_id).ok
        assert gate.call_sync("tastings.list").unwrap()["total"] == 1


def test_names_are_tidied_before_they_are_stored(tmp_path: Path) -> None:
    with Gate.open(tmp_path, rooms=["tastings"]) as gate:
        assert gate.call_sync("tastings.add", {"wine": "  Baga   2019 ", "score": 91}).status == "transformed"
        assert gate.call_sync("tastings.list").unwrap()["items"][0]["wine"] == "Baga 2019"


def test_a_wrong_setting_is_named(tmp_path: Path) -> None:
    (tmp_path / "tallystick.toml").write_text("[rooms.tastings]\nscale = 0\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"rooms\.tastings\.scale"):
        Gate.open(tmp_path, rooms=["tastings"])

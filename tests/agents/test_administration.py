"""Changes by a person: recorded, or not done."""

from pathlib import Path

import pytest

from tallystick.agents.problem import Problem
from tallystick.agents.roster import Roster
from tallystick.agents.tiers import Move, Result, TierPolicy
from tallystick.app.agents import administration_of
from tallystick.errors import LedgerUnwritable
from tallystick.gate.session import Caller
from tests.gates import open_gate, receipts

ADA = Caller(subject="ada", channel="token")


@pytest.mark.promise("agents.owner")
def test_every_change_says_who_made_it(tmp_path: Path) -> None:
    with open_gate(tmp_path) as gate:
        administration = administration_of(gate)
        assert isinstance(
            administration.change(lambda r: r.remove("critic"), caller=ADA, action="agent.remove", agent_id="critic"),
            Roster,
        )
        administration.set_policy(TierPolicy(promote_after=1), caller=ADA)
        moved = administration.task_result("writer", None, Result.AT_CAP, caller=ADA)
        assert not isinstance(moved, Problem)
        assert moved[1] is Move.UP
        audits = [receipt.header["audit"] for receipt in receipts(gate, "note")]
    assert [(audit["subject"], audit["action"], audit["resource"]) for audit in audits] == [
        ("ada", "agent.remove", "agents/critic"),
        ("ada", "tiers.policy", "tiers/policy"),
        ("ada", "tiers.task_result", "agents/writer"),
    ]
    assert audits[2]["metadata"] == {"result": "verified_at_cap", "move": "up"}


@pytest.mark.promise("agents.owner")
def test_what_was_refused_is_not_recorded_as_done(tmp_path: Path) -> None:
    with open_gate(tmp_path) as gate:
        administration = administration_of(gate)
        refused = administration.change(
            lambda r: r.remove("assistant"), caller=ADA, action="agent.remove", agent_id="assistant"
        )
        assert isinstance(refused, Problem)
        unknown = administration.task_result("nobody", None, Result.VERIFIED, caller=ADA)
        assert isinstance(unknown, Problem)
        assert (refused.code, unknown.code) == ("chief_mandatory", "agent_unknown")
        assert receipts(gate, "note") == []


@pytest.mark.promise("agents.owner")
def test_without_a_ledger_that_can_be_written_nothing_is_changed(tmp_path: Path) -> None:
    with open_gate(tmp_path) as gate:
        administration = administration_of(gate)
        administration.set_policy(TierPolicy(promote_after=3), caller=ADA)
        gate.ledger.close()
        for change in (
            lambda: administration.change(
                lambda r: r.remove("critic"), caller=ADA, action="agent.remove", agent_id="critic"
            ),
            lambda: administration.set_policy(TierPolicy(), caller=ADA),
            lambda: administration.task_result("writer", None, Result.CRITICAL, caller=ADA),
        ):
            with pytest.raises(LedgerUnwritable):
                change()
        assert administration.registry.load() == Roster()
        assert administration.tiers.load().policy.promote_after == 3
        assert administration.tiers.load().standings == ()

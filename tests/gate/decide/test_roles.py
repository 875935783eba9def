"""Who may call which tool."""

import json
from pathlib import Path

import pytest

from tallystick.gate import codes
from tallystick.gate.decide.decide import decide
from tests.gate.decide.calls import a_call, a_card, a_context, a_policy

TABLE = json.loads((Path(__file__).parents[2] / "vectors" / "decide_roles.json").read_text(encoding="utf-8"))
CELLS = [(caller, tool, fault) for caller, row in TABLE["faults"].items() for tool, fault in row.items()]


@pytest.mark.promise("decide.roles")
@pytest.mark.parametrize(("caller", "tool", "fault"), CELLS)
def test_who_may_call_what(caller: str, tool: str, fault: str | None) -> None:
    card = TABLE["tools"][tool]
    narrowed = {
        name: {"roles": said["policy_roles"]} for name, said in TABLE["tools"].items() if "policy_roles" in said
    }
    proposal = a_call(a_card(tool, card["effect"], roles=frozenset(card["roles"])))
    decision = decide(proposal, a_context(*TABLE["callers"][caller]), a_policy(narrowed))
    assert (decision.fault.name if decision.fault else None) == fault


@pytest.mark.promise("decide.roles")
@pytest.mark.parametrize("tool", sorted(TABLE["tools"]))
def test_without_a_token_no_tool_can_be_called(tool: str) -> None:
    card = a_card(tool, TABLE["tools"][tool]["effect"], roles=frozenset(TABLE["tools"][tool]["roles"]))
    decision = decide(a_call(card), a_context("admin", "analyst", authenticated=False), a_policy())
    assert decision.fault is codes.NO_TOKEN
    assert decision.fault.http == 401


@pytest.mark.promise("decide.roles")
def test_a_role_that_was_taken_away_is_missing_at_the_next_decision() -> None:
    proposal = a_call(a_card("erase", "write", roles=frozenset({"admin"})))
    assert decide(proposal, a_context("admin"), a_policy()).verdict == "allow"
    assert decide(proposal, a_context(), a_policy()).fault is codes.NO_ROLE

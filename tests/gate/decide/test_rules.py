"""Argument rules and rooms' own rules."""

from dataclasses import dataclass, replace
from typing import Any

import pytest

from tallystick.gate import codes
from tallystick.gate.admit.proposal import Proposal
from tallystick.gate.decide.decide import decide
from tallystick.gate.decide.rules import RoomChecks, is_stale, snapshot_digest
from tallystick.gate.decide.verdict import ALLOW, Decision
from tests.gate.decide.calls import OWNER, a_call, a_card, a_context, a_policy

PAY = a_card("pay", "write", roles=frozenset({"boss", "clerk", "guest"}))
PAYEES = {"properties": {"to": {"enum": ["baker", "butcher"]}}}
SMALL = {"properties": {"amount": {"maximum": 100}}}


@pytest.mark.promise("decide.argument-rules")
@pytest.mark.parametrize(
    ("roles", "args", "verdict", "pointer"),
    [
        (["clerk"], {"to": "baker", "amount": 5}, "allow", None),
        (["clerk"], {"to": "baker", "amount": 101}, "ask", "/amount"),
        (["clerk"], {"to": "thief", "amount": 5}, "deny", "/to"),
        (["clerk"], {"to": "thief", "amount": 101}, "deny", "/to"),
        (["boss"], {"to": "thief", "amount": 5}, "allow", None),
        (["boss"], {"to": "baker", "amount": 101}, "ask", "/amount"),
        (["boss", "clerk"], {"to": "thief", "amount": 5}, "deny", "/to"),
        (["owner"], {"to": "thief", "amount": 5}, "allow", None),
        (["owner"], {"to": "baker", "amount": 101}, "ask", "/amount"),
        (["guest"], {"to": "thief", "amount": 100}, "allow", None),
    ],
)
def test_rules_bind_by_role_and_say_where(roles: list[str], args: dict[str, Any], verdict: str, pointer: str) -> None:
    policy = a_policy(
        {
            "pay": {
                "rules": [
                    {"schema": SMALL, "otherwise": "ask"},
                    {"schema": PAYEES, "roles": ["clerk"], "name": "known_payee"},
                ]
            }
        }
    )
    decision = decide(a_call(PAY, **args), a_context(*roles), policy)
    assert (decision.verdict, decision.pointer) == (verdict, pointer)
    if verdict == "deny":
        assert (decision.fault, decision.reason) == (codes.DENIED, "known_payee")


@pytest.mark.promise("decide.argument-rules")
def test_a_person_can_agree_to_what_a_rule_asks_about_but_not_to_what_it_denies() -> None:
    policy = a_policy({"pay": {"rules": [{"schema": SMALL, "otherwise": "ask"}, {"schema": PAYEES}]}})
    granted = replace(OWNER, granted=True)
    assert decide(a_call(PAY, to="baker", amount=101), granted, policy).verdict == "allow"
    assert decide(a_call(PAY, to="thief", amount=1), granted, policy).reason == "argument_rule"


@pytest.mark.promise("decide.argument-rules")
def test_a_value_that_only_looks_right_breaks_a_rule() -> None:
    policy = a_policy({"pay": {"rules": [{"schema": {"properties": {"to": {"pattern": "^[a-z]+$"}}}}]}})
    assert decide(a_call(PAY, to="baker"), OWNER, policy).verdict == "allow"
    for trick in ("baker\n", "bаker", "baker\u200b", ""):
        assert decide(a_call(PAY, to=trick), OWNER, policy).fault is codes.DENIED


@dataclass(frozen=True)
class Balance:
    amount: int


def _enough(proposal: Proposal, snapshot: Balance) -> Decision:
    if proposal.args["amount"] > snapshot.amount:
        return Decision(verdict="deny", fault=codes.DENIED, reason="not_enough")
    return ALLOW


@pytest.mark.promise("decide.room-rule")
def test_a_rooms_rule_has_the_last_word_and_its_snapshot_is_named() -> None:
    refused = decide(a_call(PAY, amount=9), OWNER, a_policy(), rule=_enough, snapshot=Balance(5))
    assert (refused.fault, refused.reason) == (codes.DENIED, "not_enough")
    agreed = decide(a_call(PAY, amount=5), OWNER, a_policy(), rule=_enough, snapshot=Balance(5))
    assert agreed.verdict == "allow"
    assert agreed.snapshot_digest == refused.snapshot_digest == snapshot_digest(Balance(5))


@pytest.mark.promise("decide.room-rule")
def test_a_rooms_rule_is_not_asked_about_what_policy_stops() -> None:
    asked: list[str] = []

    def note(proposal: Proposal, _snapshot: object) -> Decision:
        asked.append(proposal.tool)
        return ALLOW

    assert decide(a_call(PAY), OWNER, a_policy(write="deny"), rule=note).reason == "tool_denied"
    assert decide(a_call(PAY), OWNER, a_policy(write="ask"), rule=note).verdict == "ask"
    assert asked == []
    assert decide(a_call(PAY), OWNER, a_policy(), rule=note).snapshot_digest is not None
    assert asked == ["pay"]


@pytest.mark.promise("decide.room-rule")
def test_a_write_on_a_snapshot_that_changed_is_stale() -> None:
    decision = decide(a_call(PAY, amount=1), OWNER, a_policy(), rule=_enough, snapshot={"amount": 5, "a": {2, 1}})
    assert decision.fault is codes.DENIED  # a dict has no .amount: the rule failed
    decision = decide(a_call(PAY, amount=1), OWNER, a_policy(), rule=_enough, snapshot=Balance(5))
    assert not is_stale(decision, Balance(5))
    assert is_stale(decision, Balance(4))
    assert not is_stale(decide(a_call(PAY), OWNER, a_policy()), Balance(4))


def test_a_snapshots_digest_does_not_depend_on_order_and_may_be_its_own() -> None:
    assert snapshot_digest({"a": 1, "b": {2, 1, 3}}) == snapshot_digest({"b": {3, 2, 1}, "a": 1})
    assert snapshot_digest({"a": 1}) != snapshot_digest({"a": 2})

    class Versioned:
        digest = "version-7"

    assert snapshot_digest(Versioned()) == "version-7"


@pytest.mark.promise("decide.room-rule")
@pytest.mark.parametrize(
    "rule",
    [
        lambda _p, _s: 1 / 0,
        lambda _p, _s: None,
        lambda _p, _s: True,
        lambda _p, _s: Decision(verdict="deny"),
        lambda _p, _s: Decision(verdict="allow", fault=codes.DENIED),
    ],
    ids=["raises", "says nothing", "says true", "no without a fault", "yes with a fault"],
)
def test_a_rule_that_cannot_be_asked_has_not_agreed(rule: Any) -> None:
    decision = decide(a_call(PAY), OWNER, a_policy(), rule=rule)
    assert (decision.verdict, decision.fault, decision.reason) == ("deny", codes.DENIED, "room_rule_failed")


def test_a_snapshot_that_has_no_json_refuses_the_call() -> None:
    decision = decide(a_call(PAY), OWNER, a_policy(), rule=lambda _p, _s: ALLOW, snapshot=object())
    assert (decision.reason, decision.snapshot_digest) == ("room_rule_failed", "unreadable")


def _doubling(proposal: Proposal, _snapshot: object) -> Decision:
    return Decision(verdict="allow", args={**proposal.args, "amount": proposal.args["amount"] * 2})


@pytest.mark.promise("decide.room-rule")
def test_a_room_may_change_arguments_but_not_past_policy() -> None:
    denying = a_policy({"pay": {"rules": [{"schema": SMALL}]}})
    asking = a_policy({"pay": {"rules": [{"schema": SMALL, "otherwise": "ask"}]}})
    changed = decide(a_call(PAY, amount=50), OWNER, denying, rule=_doubling)
    assert (changed.verdict, changed.args, changed.reason) == ("allow", {"amount": 100}, "allowed")
    assert decide(a_call(PAY, amount=51), OWNER, denying, rule=_doubling).fault is codes.DENIED
    held = decide(a_call(PAY, amount=51), OWNER, asking, rule=_doubling)
    assert (held.verdict, held.args) == ("ask", None)
    assert decide(a_call(PAY, amount=51), replace(OWNER, granted=True), asking, rule=_doubling).args == {"amount": 102}


@pytest.mark.promise("decide.room-rule", "decide.shadow")
def test_shadow_tries_policy_not_the_rooms_rule() -> None:
    policy = a_policy({"pay": {"rules": [{"schema": SMALL, "name": "small"}]}}, shadow=True)
    through = decide(a_call(PAY, amount=51), OWNER, policy, rule=_doubling)
    assert (through.verdict, through.shadowed, through.would) == ("allow", True, "small")
    assert through.args == {"amount": 102}
    kept = decide(a_call(PAY, amount=200), OWNER, policy, rule=_enough, snapshot=Balance(500))
    assert (kept.verdict, kept.shadowed, kept.would) == ("allow", True, "small")
    assert decide(a_call(PAY, amount=200), OWNER, policy, rule=_enough, snapshot=Balance(5)).reason == "not_enough"


def test_a_room_may_ask_for_a_person_and_a_grant_answers_it() -> None:
    def ask(_proposal: Proposal, _snapshot: object) -> Decision:
        return Decision(verdict="ask", fault=codes.HELD, reason="approval_required", args={"amount": 2})

    granted = replace(OWNER, granted=True)
    held = decide(a_call(PAY, amount=1), OWNER, a_policy(), rule=ask)
    assert (held.verdict, held.args) == ("ask", {"amount": 2})
    assert decide(a_call(PAY, amount=2), granted, a_policy(), rule=ask).verdict == "allow"
    # A person who approved other arguments than those that would run is asked again.
    again = decide(a_call(PAY, amount=1), granted, a_policy(), rule=ask)
    assert (again.verdict, again.args) == ("ask", {"amount": 2})
    denying = a_policy({"pay": {"rules": [{"schema": {"properties": {"amount": {"maximum": 1}}}}]}})
    assert decide(a_call(PAY, amount=1), OWNER, denying, rule=ask).fault is codes.DENIED


def test_a_snapshot_is_compared_again_before_a_change_that_a_rule_allowed_by_it() -> None:
    checks = RoomChecks(rule=lambda _call, _snapshot: ALLOW, snapshot=lambda: 1)
    assert checks.checks_again("write")
    assert checks.checks_again("external")
    assert not checks.checks_again("read")
    assert not replace(checks, rule=None).checks_again("write")
    assert not replace(checks, snapshot=1).checks_again("write")

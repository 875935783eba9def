"""Deciding again what was recorded."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.gate import codes
from tallystick.gate.admit.proposal import Proposal
from tallystick.gate.codes import FAULTS
from tallystick.gate.decide.context_record import context_from_record, context_record
from tallystick.gate.decide.decide import decide
from tallystick.gate.decide.policy import Policy
from tallystick.gate.decide.replay import REDACTED_MARKS, Recorded, redecide, was_decided
from tallystick.gate.decide.verdict import ALLOW, Context, Counters, Decision, Limits
from tallystick.gate.record.masks import RESERVED
from tallystick.gate.tool import Card
from tests.gate.decide.calls import OWNER, a_call, a_card, a_context, a_policy

count = st.integers(0, 4)
limit = st.none() | st.integers(0, 4)
budgets = st.dictionaries(st.sampled_from(["search", "mail"]), st.integers(0, 3))
roles = st.frozensets(st.sampled_from(["clerk", "boss", "owner"]))
contexts = st.builds(
    Context,
    roles=roles,
    authenticated=st.booleans() | st.just(value=True),
    allowed_tools=st.none() | st.frozensets(st.sampled_from(["pay", "look"])),
    counters=st.builds(
        Counters,
        steps=count,
        bytes=count,
        tokens=count,
        cost_microusd=count,
        elapsed_ms=count,
        rate=count,
        spent=budgets,
    ),
    limits=st.just(Limits())
    | st.builds(Limits, steps=limit, bytes=limit, tokens=limit, cost_microusd=limit, elapsed_ms=limit, named=budgets),
    granted=st.booleans(),
)
cards = st.builds(
    a_card,
    st.sampled_from(["pay", "look"]),
    st.sampled_from(["read", "write", "external"]),
    roles=roles,
    spends=st.none() | st.just("search"),
)
verdicts = st.sampled_from(["allow", "ask", "deny"])
tool_policies = st.fixed_dictionaries(
    {},
    optional={
        "decision": verdicts, "roles": st.lists(st.sampled_from(["clerk", "boss"])), "rate": st.integers(1, 3),
        "shadow": st.booleans(),
        "rules": st.lists(
            st.fixed_dictionaries(
                {"schema": st.builds(lambda most: {"properties": {"amount": {"maximum": most}}}, st.integers(0, 9))},
                optional={"otherwise": st.sampled_from(["deny", "ask"]), "roles": st.lists(st.sampled_from(["clerk"]))},
            ),
            max_size=2,
        ),
    },
)  # fmt: skip
policies = st.builds(
    lambda tools, shadow: a_policy(tools, shadow=shadow),
    st.dictionaries(st.sampled_from(["pay", "look"]), tool_policies),
    st.booleans(),
)


def _outcome(decision: Decision) -> dict[str, Any]:
    """What a receipt says of a decision."""
    if decision.fault is None:
        said = {"status": "accepted"}
        return {**said, "shadow": decision.would} if decision.shadowed else said
    return {"status": "rejected", "fault": decision.fault.name, "reason": decision.reason}


def _recorded(proposal: Proposal, context: Context, decision: Decision, **how: Any) -> Recorded:
    """A call by way of the bytes of a receipt."""
    record = json.dumps(context_record(context, snapshot_digest=decision.snapshot_digest, **how))
    return Recorded(
        card=Card.from_definition(json.loads(json.dumps(proposal.card.definition()))),
        args=json.loads(json.dumps(proposal.args)),
        context=json.loads(record),
        outcome=_outcome(decision),
    )


def _without_floats(value: Any) -> bool:
    if isinstance(value, dict):
        return all(isinstance(key, str) and _without_floats(item) for key, item in value.items())
    if isinstance(value, list):
        return all(_without_floats(item) for item in value)
    return isinstance(value, str | int)


@pytest.mark.promise("decide.replay")
@given(contexts)
def test_a_context_comes_back_as_it_was_without_floats(context: Context) -> None:
    record = context_record(context)
    assert _without_floats(record)
    assert context_from_record(json.loads(json.dumps(record))) == context


def test_a_plain_context_is_one_short_field() -> None:
    assert context_record(OWNER) == {"roles": ["owner"]}
    assert context_record(a_context("owner", counters=Counters(), limits=Limits())) == {"roles": ["owner"]}


@pytest.mark.promise("decide.replay")
@given(cards, contexts, policies, st.integers(0, 9))
def test_decided_recorded_and_decided_again_is_the_same(
    card: Card, context: Context, policy: Policy, amount: int
) -> None:
    proposal = a_call(card, amount=amount)
    decision = decide(proposal, context, policy)
    again = redecide(_recorded(proposal, context, decision), Policy.from_text(policy.text))
    assert again.result == "same"
    assert again.now == again.was


@pytest.mark.promise("decide.replay")
@given(cards, contexts, policies, policies, st.integers(0, 9))
def test_another_policy_shows_exactly_what_it_would_change(
    card: Card, context: Context, old: Policy, new: Policy, amount: int
) -> None:
    proposal = a_call(card, amount=amount)
    was, would_be = decide(proposal, context, old), decide(proposal, context, new)
    again = redecide(_recorded(proposal, context, was), new)
    differs = (was.verdict, was.reason, was.would) != (would_be.verdict, would_be.reason, would_be.would)
    assert again.result == ("changed" if differs else "same")
    assert again.now is not None
    assert again.now.verdict == would_be.verdict


@pytest.mark.promise("decide.replay-undecidable")
def test_a_rule_that_needs_a_redacted_value_cannot_be_decided_again() -> None:
    about_key = a_policy({"pay": {"rules": [{"schema": {"properties": {"key": {"minLength": 3}}}}]}})
    about_amount = a_policy({"pay": {"rules": [{"schema": {"properties": {"amount": {"maximum": 3}}}}]}})
    about_any = a_policy({"pay": {"rules": [{"schema": {"maxProperties": 3}, "otherwise": "ask"}]}})
    stored = a_call(a_card("pay", "write"), amount=9, key={"$redacted": "hmac-sha256:00"}, more=[{"x": 1}])

    def again(policy: Policy, proposal: Proposal = stored, context: Context = OWNER) -> tuple[str, str]:
        replayed = redecide(_recorded(proposal, context, ALLOW, redacted=True), policy)
        return replayed.result, replayed.why

    assert again(about_key) == ("undecidable", "redacted")
    assert again(about_any) == ("undecidable", "redacted")
    assert again(about_amount) == ("changed", "")
    assert again(a_policy()) == ("same", "")
    # A mark deep inside hides its argument; without any mark everything counts as hidden.
    deep = a_call(stored.card, amount=1, key=[{"inner": {"$redacted": ""}}])
    assert again(about_key, deep) == ("undecidable", "redacted")
    assert again(about_amount, a_call(stored.card, amount=1)) == ("undecidable", "redacted")
    # A check that comes earlier decides without looking.
    assert again(about_key, context=a_context(authenticated=False)) == ("changed", "")
    shadowed = a_policy({"pay": {"rules": [{"schema": {"properties": {"key": {"minLength": 3}}}}]}}, shadow=True)
    assert again(shadowed) == ("undecidable", "redacted")


@pytest.mark.promise("decide.replay-undecidable")
def test_a_live_decision_never_passes_over_a_value_it_cannot_see() -> None:
    policy = a_policy({"pay": {"rules": [{"schema": {"properties": {"amount": {"maximum": 3}}}}]}})
    context = a_context("owner", redacted=True)
    assert decide(a_call(a_card("pay", "write"), amount=1), context, policy).reason == "undecidable"


def test_the_mark_of_a_redacted_value_is_the_one_the_record_writes() -> None:
    assert REDACTED_MARKS == RESERVED


@pytest.mark.promise("decide.replay")
def test_a_rooms_answer_is_kept_where_policy_still_lets_the_call_come_to_it() -> None:
    def no(_proposal: Proposal, _snapshot: object) -> Decision:
        return Decision(verdict="deny", fault=codes.DENIED, reason="not_enough")

    proposal = a_call(a_card("pay", "write"), amount=1)
    refused = decide(proposal, OWNER, a_policy(), rule=no, snapshot={"amount": 0})
    agreed = decide(proposal, OWNER, a_policy(), rule=lambda _p, _s: ALLOW, snapshot={"amount": 0})
    assert redecide(_recorded(proposal, OWNER, agreed), a_policy()).result == "same"
    again = redecide(_recorded(proposal, OWNER, refused), a_policy())
    assert (again.result, again.why) == ("undecidable", "room_rule")
    assert redecide(_recorded(proposal, OWNER, refused), a_policy(write="deny")).result == "changed"


@pytest.mark.promise("decide.replay")
@pytest.mark.parametrize(
    ("outcome", "policy", "result"),
    [
        ({"status": "accepted", "fault": "timeout"}, a_policy(), "same"),
        ({"status": "accepted", "fault": "bad_result"}, a_policy(write="deny"), "changed"),
        ({"status": "rejected", "fault": "stale", "reason": "snapshot_stale"}, a_policy(), "same"),
        ({"status": "rejected", "fault": "denied", "reason": "approval_refused"}, a_policy(write="ask"), "same"),
        ({"status": "rejected", "fault": "denied", "reason": "approval_expired"}, a_policy(write="ask"), "same"),
        ({"status": "rejected", "fault": "held", "reason": "approval_required"}, a_policy(), "changed"),
    ],
)
def test_what_happened_after_the_decision_is_no_part_of_it(
    outcome: dict[str, str], policy: Policy, result: str
) -> None:
    recorded = Recorded(card=a_card("pay", "write"), args={}, context=context_record(OWNER), outcome=outcome)
    assert redecide(recorded, policy).result == result


def test_what_admit_refused_was_never_decided() -> None:
    before = {"format", "multiple", "tool_syntax", "cot_leak", "nonce", "unknown_tool", "bad_args", "no_provenance", "canonical_write"}  # fmt: skip
    undecided = {name for name in FAULTS if not was_decided({"fault": name})}
    assert undecided == before
    assert was_decided({"status": "accepted"})
    assert was_decided({"fault": "unknown_tool", "reason": "tool_not_known_to_policy"})

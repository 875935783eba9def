"""Requests to a person: the table of states, what a grant is bound to, when one is needed."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.gate import codes
from tallystick.gate.decide.approvals import (
    LIVE,
    MOVES,
    Grant,
    Hold,
    State,
    resume_refusal,
    sources,
)
from tallystick.gate.decide.bindings import call_digest, canonical, live_digest
from tallystick.gate.decide.decide import decide
from tallystick.gate.session import Caller, Session
from tests.gate.decide.calls import OWNER, a_call, a_card, a_policy

HOLD = Hold(
    approval_id="apr_1",
    digest="d",
    session=Session(session_id="s1", caller=Caller(subject="ann"), agent_id="chief"),
    tool="send",
    args=b'{"key":"k","to":"bob"}',
    shown=b'{"key":{"$redacted":""},"to":"bob"}',
    policy_digest="p1",
    tool_version="v1",
    reason="approval_required",
    created=1_700_000_000_000,
    expires=1_700_000_060_000,
)


@pytest.mark.promise("decide.approval-states")
def test_the_table_of_states_is_closed_and_every_path_ends() -> None:
    assert set(MOVES) == set(State)
    assert {State.HELD, State.GRANTED, State.EDITED} == LIVE
    assert sources(State.TAKEN) == {State.GRANTED, State.EDITED}
    assert sources(State.GRANTED) == sources(State.EDITED) == sources(State.REFUSED) == {State.HELD}
    assert sources(State.EXPIRED) == LIVE
    assert sources(State.HELD) == frozenset()
    paths = [[State.HELD]]
    while paths:
        path = paths.pop()
        assert len(path) <= 3, "a request can go round in circles"
        paths += [[*path, onward] for onward in MOVES[path[-1]]]


@pytest.mark.promise("decide.approval-states")
def test_a_live_request_past_its_expiry_has_expired() -> None:
    for state in State:
        hold = replace(HOLD, state=state)
        assert hold.at(HOLD.expires - 1) is state
        assert hold.at(HOLD.expires) is (State.EXPIRED if state in LIVE else state)


CALL: dict[str, Any] = {
    "caller": "ann", "tool": "send", "args": {"to": "bob", "n": 7}, "policy_digest": "p", "tool_version": "v", "dry_run": False
}  # fmt: skip


def _digest(**changed: Any) -> str:
    call = {**CALL, **changed}
    return call_digest(
        call["caller"], call["tool"], call["args"], call["policy_digest"],
        tool_version=call["tool_version"], dry_run=call["dry_run"],
    )  # fmt: skip


@pytest.mark.promise("decide.approval-bound")
@pytest.mark.parametrize(
    "changed",
    [
        {"caller": "ben"}, {"tool": "send2"}, {"policy_digest": "q"}, {"tool_version": "w"}, {"dry_run": True},
        {"args": {"to": "bob", "n": 8}}, {"args": {"to": "bob"}}, {"args": {"to": "bob ", "n": 7}},
        {"args": {"to": "bob", "n": "7"}}, {"args": {"to": "bob", "n": True}}, {"args": {"to": "bob", "n": 7, "x": None}},
        {"args": {"to": "bоb", "n": 7}}, {"args": {"To": "bob", "n": 7}},
    ],
    ids=str,
)  # fmt: skip
def test_any_change_of_a_call_gives_it_another_digest(changed: dict[str, Any]) -> None:
    assert _digest(**changed) != _digest()


@pytest.mark.promise("decide.approval-session")
def test_another_session_or_agent_gives_a_call_another_name() -> None:
    here = Session(session_id="s1", agent_id="chief")
    others = (here, replace(here, session_id="s2"), replace(here, agent_id="critic"), replace(here, agent_id=None))
    assert len({live_digest(_digest(), session) for session in others}) == 4
    assert live_digest(_digest(), replace(here, turn_id="turn_2")) == live_digest(_digest(), here)


@pytest.mark.promise("decide.approval-bound")
def test_the_same_call_written_otherwise_has_the_same_digest() -> None:
    assert _digest(args={"n": 7, "to": "bob"}) == _digest(args={"to": "bob", "n": 7.0}) == _digest()


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.text(st.characters(codec="utf-8"), max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=3), inner, max_size=3)
    ),
)
arguments = st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=3), json_values, max_size=3)


@pytest.mark.promise("decide.approval-bound")
@given(arguments, arguments)
def test_two_calls_share_a_digest_exactly_when_their_canonical_bytes_are_one(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    assert (_digest(args=one) == _digest(args=other)) == (canonical(one) == canonical(other))


@pytest.mark.promise("decide.approval-bound")
@pytest.mark.parametrize(
    ("state", "reason"),
    [
        (State.HELD, "approval_required"),
        (State.REFUSED, "approval_refused"),
        (State.EXPIRED, "approval_expired"),
        (State.TAKEN, "approval_used"),
        (State.GRANTED, None),
        (State.EDITED, None),
    ],
)
def test_a_request_is_resumed_only_with_a_grant_that_still_holds(state: State, reason: str | None) -> None:
    hold = replace(HOLD, state=state)
    now = HOLD.created
    refusal = resume_refusal(hold, now, policy_digest="p1", tool_version="v1")
    assert (refusal.reason if refusal else None) == reason
    if reason is None:
        for changed in ({"policy_digest": "p2", "tool_version": "v1"}, {"policy_digest": "p1", "tool_version": "v2"}):
            outdated = resume_refusal(hold, now, **changed)
            assert outdated is not None
            assert (outdated.fault, outdated.reason) == (codes.DENIED, "approval_outdated")
        late = resume_refusal(hold, HOLD.expires, policy_digest="p1", tool_version="v1")
        assert late is not None
        assert late.reason == "approval_expired"


def test_a_call_that_needs_a_person_is_held_and_runs_with_a_grant() -> None:
    send = a_call(a_card("send", "external"), to="bob")
    held = decide(send, OWNER, a_policy())
    assert (held.verdict, held.fault, held.reason) == ("ask", codes.HELD, "approval_required")
    assert held.fault.http == 202
    assert decide(send, replace(OWNER, granted=True), a_policy()).verdict == "allow"
    assert decide(send, replace(OWNER, granted=True), a_policy(external="deny")).reason == "tool_denied"


def test_what_people_see_has_no_secret_and_no_empty_field() -> None:
    shown = HOLD.as_dict()
    assert shown["args"] == {"key": {"$redacted": ""}, "to": "bob"}
    assert (shown["caller"], shown["state"], shown["expires_at"]) == ("ann", "held", "2023-11-14T22:14:20.000Z")
    assert not {"person", "note", "dry_run", "edited", "answered_at", "pointer"} & set(shown)
    answered = replace(HOLD, answered=HOLD.created, person="eve", edited=True, dry_run=True).as_dict()
    assert (answered["answered_at"], answered["edited"], answered["dry_run"]) == (
        "2023-11-14T22:13:20.000Z",
        True,
        True,
    )


def test_a_hold_gives_its_exact_arguments_until_they_are_gone() -> None:
    assert HOLD.arguments() == {"key": "k", "to": "bob"}
    assert replace(HOLD, args=b"").arguments() == {}


def test_a_grant_names_person_and_channel_in_strings() -> None:
    grant = Grant(approval_id="apr_1", person="eve", channel="terminal")
    assert grant.as_dict() == {"approval_id": "apr_1", "person": "eve", "channel": "terminal"}
    assert replace(grant, edited=True).as_dict()["edited"] == "true"


def test_the_largest_admitted_integers_have_canonical_bytes() -> None:
    assert canonical({"a": [2**53, -(2**53), True, 7, "x"]}) == b'{"a":[9007199254740992,-9007199254740992,true,7,"x"]}'


def test_a_request_whose_arguments_cannot_be_read_is_bound_to_no_call() -> None:
    digest = HOLD.bound_digest()
    held = replace(HOLD, digest=digest, live_digest=live_digest(digest, HOLD.session))
    assert held.is_bound()
    for args in (b"", b"[1]", b"{", b'{"n": 1e999}'):
        assert not replace(held, args=args).is_bound(), args
    assert not replace(held, live_digest="0" * 64).is_bound()


def test_a_grant_for_a_call_is_none_for_its_trial_and_the_other_way_round() -> None:
    plain = call_digest("ada", "send", {"to": "bob"}, "p")
    assert plain == call_digest("ada", "send", {"to": "bob"}, "p", dry_run=False)
    assert plain != call_digest("ada", "send", {"to": "bob"}, "p", dry_run=True)

"""Recorded calls decided again, from what the ledger kept: the same policy says the same, another one may not."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tallystick import Caller, Gate, tool
from tallystick.app.replay import Replayed, Replayer
from tallystick.gate.admit.proposal import Proposal
from tallystick.gate.codes import DENIED
from tallystick.gate.decide.policy import Policy
from tallystick.gate.decide.verdict import ALLOW, Decision, Limits
from tallystick.gate.record.in_flight import unknown_outcome
from tests.gates import open_gate, outcomes, quick_settings, said, then_said

SHORT = {"schema": {"properties": {"text": {"maxLength": 5}}}, "name": "short"}
NO_ADMIN = {"schema": {"properties": {"user": {"not": {"const": "admin"}}}}, "name": "no_admin", "otherwise": "ask"}
POLICY: dict[str, Any] = {
    "tools": {
        "look": {"rules": [SHORT], "rate": 20},
        "forbidden": {"decision": "deny"},
        "tried": {"decision": "deny", "shadow": True},
        "log_in": {"rules": [NO_ADMIN]},
    }
}


@tool(effect="read", aliases=("peek",))
async def look(text: str = "") -> str:
    return text


@tool(effect="write", roles={"clerk"})
async def put(text: str = "") -> str:
    return text


@tool(effect="external")
async def send(to: str) -> str:
    return to


@tool(effect="read")
async def forbidden() -> None: ...


@tool(effect="read")
async def tried() -> None: ...


@tool(effect="read")
async def log_in(user: str, password: str) -> str:
    return user


def _rule(proposal: Proposal, _snapshot: Any) -> Decision:
    refused = Decision(verdict="deny", fault=DENIED, reason="not_there")
    return refused if proposal.args["text"] == "nowhere" else ALLOW


@tool(effect="write", rule=_rule, snapshot=lambda: {"version": 1})
async def move(text: str) -> str:
    return text


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    with open_gate(tmp_path, look, put, send, forbidden, tried, log_in, move, **POLICY) as opened:
        yield opened


def replayed(gate: Gate, policy: Policy | None = None) -> list[Replayed]:
    return list(Replayer(gate.ledger.kept).replay(gate.ledger.read(), policy=policy))


async def all_kinds_of_calls(gate: Gate) -> None:
    clerk, guest = Caller(subject="ann", roles=frozenset({"clerk"})), Caller(subject="bob")
    for name, args in (
        ("look", {"text": "short"}), ("look", {"text": "much too long"}), ("peek", {"text": "a"}), ("forbidden", {}),
        ("tried", {}), ("send", {"to": "bob"}), ("move", {"text": "here"}), ("put", {"text": "x"}), ("nowhere", {}),
        ("look", {"text": 7}),
    ):  # fmt: skip
        await gate.call(name, args)
    await gate.call("put", {"text": "x"}, caller=clerk)
    await gate.call("put", {"text": "x"}, caller=guest)
    await gate.call("look", caller=guest, authenticated=False)
    await gate.call("look", allowed_tools=["put"])
    turn = gate.turn(session="s1", limits=Limits(steps=1))
    await turn.submit(said("look", {}, turn.nonce))
    await turn.submit(then_said("look", {}, turn.nonce))
    await turn.submit("nonsense")


@pytest.mark.promise("decide.replay")
def test_every_decision_comes_out_the_same_from_what_the_ledger_kept(gate: Gate) -> None:
    asyncio.run(all_kinds_of_calls(gate))
    held = asyncio.run(gate.call("send", {"to": "carol"}))
    assert held.held is not None
    gate.approvals.approve(held.held.approval_id, person="eva", channel="terminal")
    assert asyncio.run(gate.resume(held.held.approval_id)).ok
    results = replayed(gate)
    assert {result.result for result in results} == {"same"}
    # Those that never came to a decision are passed over, and no other.
    undecided = {"unknown_tool", "bad_args", "nonce", "format"}
    decided = [receipt for receipt in outcomes(gate) if receipt.header["outcome"].get("fault") not in undecided]
    assert [result.receipt_id for result in results] == [receipt.receipt_id for receipt in decided]


@pytest.mark.promise("decide.replay")
def test_the_rate_a_decision_read_is_kept_with_it(gate: Gate) -> None:
    for _ in range(22):
        asyncio.run(gate.call("look"))
    results = replayed(gate)
    assert [result.now.verdict for result in results if result.now] == ["allow"] * 20 + ["deny"] * 2
    assert {result.result for result in results} == {"same"}


@pytest.mark.promise("decide.replay")
def test_another_policy_is_tried_on_old_calls_and_what_would_change_is_listed(gate: Gate) -> None:
    asyncio.run(gate.call("look", {"text": "short"}))
    asyncio.run(gate.call("forbidden"))
    other = Policy.from_settings(quick_settings(policy={"read": "ask"}, tools={"forbidden": {"decision": "allow"}}))
    look_now, forbidden_now = replayed(gate, other)
    assert (look_now.result, look_now.now.verdict if look_now.now else None) == ("changed", "ask")
    assert forbidden_now.as_dict() == {
        "receipt_id": forbidden_now.receipt_id,
        "tool": "forbidden",
        "result": "changed",
        "was": {"verdict": "deny", "reason": "tool_denied"},
        "now": {"verdict": "allow"},
    }


@pytest.mark.promise("decide.replay-undecidable")
def test_what_nobody_can_say_any_more_is_listed_with_the_reason(gate: Gate, tmp_path: Path) -> None:
    asyncio.run(gate.call("log_in", {"user": "ann", "password": "hunter2"}))
    asyncio.run(gate.call("move", {"text": "nowhere"}))
    asyncio.run(gate.call("look", {"text": "a"}))
    hidden = Policy.from_settings(
        quick_settings(tools={"log_in": {"rules": [{"schema": {"properties": {"password": {"minLength": 9}}}}]}})
    )
    by_redaction, by_room, plain = replayed(gate, hidden)
    assert (by_redaction.result, by_redaction.why) == ("undecidable", "redacted")
    assert (by_room.result, by_room.why) == ("undecidable", "room_rule")
    assert plain.result == "same"
    # A rule that does not read the secret is asked again.
    assert replayed(gate)[0].result == "same"


@pytest.mark.promise("decide.replay-undecidable")
@pytest.mark.parametrize(("gone", "why"), [("tools", "tool_not_kept"), ("policies", "policy_not_kept")])
@pytest.mark.parametrize("how", ["deleted", "changed", "broken"])
def test_without_the_tool_or_the_policy_as_it_was_nothing_is_decided(gate: Gate, gone: str, why: str, how: str) -> None:
    asyncio.run(gate.call("look", {"text": "a"}))
    for path in (gate.workspace / ".control-room/audit" / gone).iterdir():
        text = path.read_text()
        path.chmod(0o600)
        if how == "deleted":
            path.unlink()
        else:
            path.write_text(text.replace("allow", "deny").replace("read", "write") if how == "changed" else "{[")
    (result,) = replayed(gate)
    assert (result.result, result.why) == ("undecidable", why)


@pytest.mark.promise("decide.replay-undecidable")
def test_an_erased_call_cannot_be_decided_again(gate: Gate) -> None:
    outcome = asyncio.run(gate.call("look", {"text": "a"}))
    gate.ledger.erase(outcome.receipt_id, session=gate.turn(session="s1").session, reason="asked for")
    (result,) = replayed(gate)
    assert (result.result, result.why) == ("undecidable", "erased")


@pytest.mark.promise("decide.replay-undecidable")
def test_a_call_whose_end_nobody_saw_says_so(gate: Gate) -> None:
    outcome = asyncio.run(gate.call("put", {"text": "a"}, caller=Caller(subject="ann", roles=frozenset({"clerk"}))))
    ended = gate.ledger.find(outcome.receipt_id)
    assert ended is not None
    begun = gate.ledger.find(ended.header["links"]["started"])
    assert begun is not None
    gate.ledger.record_sync(unknown_outcome(begun.header))  # as recovery does when the process is gone
    first, recovered = replayed(gate)
    assert first.result == "same"
    assert (recovered.result, recovered.why) == ("undecidable", "unknown_outcome")
    assert recovered.as_dict()["why"] == "unknown_outcome"

"""Held calls through the public gate: answered by a person, run once, as a submission of their own."""

import asyncio
import json
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tallystick import Caller, Gate, Outcome, Tool, tool
from tallystick.gate.admit.proposal import Proposal
from tallystick.gate.codes import HELD
from tallystick.gate.decide.approvals import Hold, Unmoved
from tallystick.gate.decide.verdict import Decision
from tests.gates import every_byte, kinds, open_gate, outcomes, receipts

ANN = Caller(subject="ann", roles=frozenset({"clerk"}), channel="http")
ann_without_roles = Caller(subject="ann", channel="http")
BOB = Caller(subject="bob", roles=frozenset({"clerk"}))
YES = {"person": "eva", "channel": "terminal"}


def the_tools(runs: list[str]) -> list[Tool]:
    @tool(effect="external", roles={"clerk"}, secrets=("pin",))
    async def send(to: str, text: str = "", pin: str = "", *, dry_run: bool = False) -> str:
        runs.append(f"{'dry ' if dry_run else ''}{to} {text}".strip())
        return "sent"

    return [send]


@pytest.fixture
def runs() -> list[str]:
    return []


@pytest.fixture
def gate(tmp_path: Path, runs: list[str]) -> Iterator[Gate]:
    with open_gate(tmp_path, *the_tools(runs)) as opened:
        yield opened


def call(gate: Gate, caller: Caller = ANN, *, dry_run: bool = False, **args: Any) -> Outcome:
    return asyncio.run(gate.call("send", {"to": "bob", **args}, session="s1", caller=caller, dry_run=dry_run))


def held(outcome: Outcome) -> str:
    assert (outcome.status, outcome.http) == ("rejected", 202)
    assert outcome.rejection is not None
    assert outcome.rejection.reason == "approval_required"
    assert outcome.held is not None
    return outcome.held.approval_id


def resume(gate: Gate, approval_id: str, **more: Any) -> Outcome:
    return asyncio.run(gate.resume(approval_id, **more))


def reason(outcome: Outcome) -> str:
    assert outcome.rejection is not None
    return outcome.rejection.reason


@pytest.mark.promise("decide.approval-through-gate")
def test_a_held_call_runs_after_a_yes_and_its_receipt_names_the_person(gate: Gate, runs: list[str]) -> None:
    approval_id = held(call(gate))
    assert isinstance(gate.approvals.approve(approval_id, **YES), Hold)
    assert runs == []
    outcome = resume(gate, approval_id)
    assert (outcome.ok, outcome.result, runs) == (True, "sent", ["bob"])
    first, waiting, answer, started, last = receipts(gate)
    assert kinds(gate) == ["outcome", "held", "approval", "started", "outcome"]
    assert waiting.header["links"] == {"outcome": first.receipt_id}
    assert waiting.header["approval"]["approval_id"] == approval_id
    said = answer.header["approval"]
    assert {name: said[name] for name in ("approval_id", "answer", *YES)} == {
        "approval_id": approval_id, "answer": "granted", **YES,
    }  # fmt: skip
    assert (said["digest"], said["request"]) == tuple(
        waiting.header["approval"][name] for name in ("digest", "request")
    )
    assert last.receipt_id == outcome.receipt_id != first.receipt_id
    for receipt in (started, last):
        assert receipt.header["approval"] == {"approval_id": approval_id, **YES}
    assert last.header["links"] == {"started": started.receipt_id}
    assert last.header["caller"]["subject"] == "ann"


@pytest.mark.promise("decide.approval-through-gate")
def test_a_grant_is_used_once(gate: Gate, runs: list[str]) -> None:
    approval_id = held(call(gate))
    gate.approvals.approve(approval_id, **YES)
    assert resume(gate, approval_id).ok
    assert reason(resume(gate, approval_id)) == "approval_used"
    held(call(gate))
    assert runs == ["bob"]


@pytest.mark.promise("decide.approval-through-gate")
def test_of_many_who_resume_at_once_one_runs(gate: Gate, runs: list[str]) -> None:
    approval_id = held(call(gate))
    gate.approvals.approve(approval_id, **YES)

    async def all_at_once() -> list[Outcome]:
        return await asyncio.gather(*(gate.resume(approval_id) for _ in range(20)))

    results = asyncio.run(all_at_once())
    assert sorted(outcome.ok for outcome in results) == [False] * 19 + [True]
    assert runs == ["bob"]


@pytest.mark.promise("decide.approval-through-gate")
def test_an_identical_retry_by_the_same_caller_uses_the_grant_once(gate: Gate, runs: list[str]) -> None:
    approval_id = held(call(gate))
    assert held(call(gate)) == approval_id
    gate.approvals.approve(approval_id, **YES)
    retried = call(gate)
    assert (retried.ok, runs) == (True, ["bob"])
    assert outcomes(gate)[-1].header["approval"]["approval_id"] == approval_id
    held(call(gate))


@pytest.mark.promise("decide.approval-through-gate")
def test_anything_else_is_a_new_request(gate: Gate, runs: list[str]) -> None:
    approval_id = held(call(gate))
    gate.approvals.approve(approval_id, **YES)
    others = {held(call(gate, text="more")), held(call(gate, BOB)), held(call(gate, dry_run=True))}
    assert len(others | {approval_id}) == 4
    assert runs == []
    assert call(gate).ok


@pytest.mark.promise("decide.approval-through-gate")
def test_a_changed_policy_or_tool_needs_a_new_yes(tmp_path: Path, gate: Gate, runs: list[str]) -> None:
    by_policy, by_tool = held(call(gate)), held(call(gate, text="b"))
    gate.approvals.approve(by_policy, **YES)
    gate.approvals.approve(by_tool, **YES)
    with open_gate(tmp_path, *the_tools(runs), policy={"read": "ask"}) as stricter:
        assert reason(resume(stricter, by_policy)) == "approval_outdated"
        assert held(call(stricter)) != by_policy
    with open_gate(tmp_path, tool(effect="external", description="New.")(the_tools(runs)[0].handler)) as newer:
        assert reason(resume(newer, by_tool)) == "approval_outdated"
    with open_gate(tmp_path) as without:
        # Only the process that has the tool can run it; the grant is still there for that one.
        assert not resume(without, by_tool).ok
    assert resume(gate, by_tool).ok
    assert runs == ["bob b"]


@pytest.mark.promise("decide.approval-through-gate")
def test_a_no_is_a_no_with_its_reason_in_the_ledger(gate: Gate, runs: list[str]) -> None:
    approval_id = held(call(gate))
    gate.approvals.reject(approval_id, **YES, reason="not today, sk-AbCdEfGhIjKlMnOpQrSt")
    assert reason(resume(gate, approval_id)) == "approval_refused"
    (answer,) = receipts(gate, "approval")
    assert answer.header["approval"]["answer"] == "refused"
    assert answer.header["approval"]["reason"] == "not today, [redacted]"
    assert runs == []
    # It binds this request only: the same call may be asked for again.
    assert held(call(gate)) != approval_id


@pytest.mark.promise("decide.approval-through-gate")
def test_an_edited_call_is_checked_from_the_top_and_runs_as_edited(gate: Gate, runs: list[str]) -> None:
    approval_id = held(call(gate))
    gate.approvals.edit(approval_id, {"to": "carol", "text": "hello"}, **YES)
    outcome = resume(gate, approval_id)
    assert (outcome.ok, runs) == (True, ["carol hello"])
    assert outcomes(gate)[-1].header["approval"] == {"approval_id": approval_id, **YES, "edited": "true"}


@pytest.mark.promise("decide.approval-through-gate")
def test_an_edit_that_does_not_fit_is_refused_when_it_is_resumed(gate: Gate, runs: list[str]) -> None:
    approval_id = held(call(gate))
    gate.approvals.edit(approval_id, {"to": 7}, **YES)
    outcome = resume(gate, approval_id)
    assert outcome.fault is not None
    assert (outcome.fault.name, runs) == ("bad_args", [])


@pytest.mark.promise("decide.approval-through-gate")
def test_a_request_expires(gate: Gate, runs: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    waiting, granted = held(call(gate)), held(call(gate, text="b"))
    gate.approvals.approve(granted, **YES)
    later = SimpleNamespace(time_ns=lambda: time.time_ns() + 86_400_000_000_000)
    monkeypatch.setattr("tallystick.app.wiring.time", later)
    answer = gate.approvals.approve(waiting, **YES)
    assert isinstance(answer, Unmoved)
    assert answer.why == "expired"
    assert {reason(resume(gate, request)) for request in (waiting, granted)} == {"approval_expired"}
    assert held(call(gate)) != waiting
    assert runs == []


@pytest.mark.promise("decide.h10")
def test_h10_a_role_taken_away_between_asking_and_running(gate: Gate, runs: list[str]) -> None:
    approval_id = held(call(gate))
    gate.approvals.approve(approval_id, **YES)
    for refused in (call(gate, ann_without_roles), resume(gate, approval_id, caller=ann_without_roles)):
        assert refused.fault is not None
        assert (refused.fault.name, refused.http) == ("no_role", 403)
    assert runs == []


@pytest.mark.promise("decide.approval-through-gate")
def test_what_cannot_be_resumed_says_why_and_leaves_a_receipt(gate: Gate, runs: list[str]) -> None:
    assert reason(resume(gate, "appr_nowhere")) == "approval_unknown"
    assert reason(resume(gate, "'; drop table")) == "approval_unknown"
    approval_id = held(call(gate))
    still = resume(gate, approval_id)
    assert (reason(still), still.http) == ("approval_required", 202)
    assert still.held is not None
    assert still.held.approval_id == approval_id
    assert len(outcomes(gate)) == 4
    assert runs == []


def test_an_answer_to_what_is_not_waiting_moves_nothing_and_is_not_recorded(gate: Gate) -> None:
    approval_id = held(call(gate))
    gate.approvals.reject(approval_id, **YES, reason="no")
    before = gate.ledger.size()
    for answer in (
        gate.approvals.approve(approval_id, **YES),
        gate.approvals.edit(approval_id, {"to": "x"}, **YES),
        gate.approvals.reject(approval_id, **YES, reason="again"),
        gate.approvals.approve("appr_nowhere", **YES),
    ):
        assert isinstance(answer, Unmoved)
    assert gate.ledger.size() == before


def test_requests_are_listed_and_counted(gate: Gate) -> None:
    ids = [held(call(gate, text=str(number))) for number in range(3)]
    gate.approvals.approve(ids[0], **YES)
    assert {hold.approval_id for hold in gate.approvals.list(state="held")} == set(ids[1:])
    assert (gate.approvals.count(), gate.approvals.count(state="granted")) == (3, 1)
    hold = gate.approvals.get(ids[0])
    assert hold is not None
    assert hold.as_dict()["args"] == {"to": "bob", "text": "0"}


@pytest.mark.promise("record.secrets")
def test_people_see_a_held_call_without_its_secrets_and_the_tool_gets_them(gate: Gate, tmp_path: Path) -> None:
    approval_id = held(call(gate, pin="hunter2"))
    hold = gate.approvals.get(approval_id)
    assert hold is not None
    assert "hunter2" not in str(hold.as_dict())
    edited = gate.approvals.edit(approval_id, {"to": "carol", "pin": "hunter3"}, **YES)
    assert isinstance(edited, Hold)
    assert "hunter3" not in str(edited.as_dict())


@pytest.mark.promise("record.secrets")
def test_a_process_without_the_tool_hides_the_secrets_of_an_edit_too(gate: Gate, tmp_path: Path) -> None:
    approval_id = held(call(gate, pin="hunter2"))
    with open_gate(tmp_path) as elsewhere:
        edited = elsewhere.approvals.edit(approval_id, {"to": "carol", "pin": "hunter3"}, **YES)
        assert isinstance(edited, Hold)
        assert "hunter3" not in str(edited.as_dict())


@pytest.mark.promise("record.secrets")
@pytest.mark.parametrize("end", ["run", "refused"])
def test_when_a_held_call_has_come_to_its_end_its_secret_is_nowhere_on_disk(
    gate: Gate, tmp_path: Path, end: str
) -> None:
    secret = "correct-horse-battery-staple"
    approval_id = held(call(gate, pin=secret))
    if end == "run":
        gate.approvals.approve(approval_id, **YES)
        assert resume(gate, approval_id).ok
    else:
        gate.approvals.reject(approval_id, **YES, reason="no")
    gate.close()
    assert secret.encode() not in every_byte(tmp_path)


@pytest.mark.promise("decide.approval-through-gate")
def test_when_the_approvals_cannot_be_reached_nothing_runs_and_the_receipt_says_so(
    gate: Gate, tmp_path: Path, runs: list[str]
) -> None:
    held(call(gate))
    with sqlite3.connect(tmp_path / ".control-room" / "tallystick.db") as database:
        database.execute("DROP TABLE tally_approvals")
    database.close()
    outcome = call(gate)
    assert (outcome.status, outcome.http, reason(outcome)) == ("rejected", 503, "approvals_unavailable")
    assert outcomes(gate)[-1].receipt_id == outcome.receipt_id
    assert runs == []


def asking_rule(proposal: Proposal, _snapshot: Any) -> Decision:
    to = proposal.args["to"].strip()
    changed = None if to == proposal.args["to"] else {"to": to}
    return Decision(verdict="ask", fault=HELD, reason="needs a yes", pointer="/to", args=changed)


@pytest.mark.promise("decide.room-rule", "decide.approval-through-gate")
@pytest.mark.parametrize("way", ["resumed", "called again"])
def test_a_person_whom_a_rule_asks_is_shown_the_arguments_that_run(tmp_path: Path, runs: list[str], way: str) -> None:
    @tool(effect="write", rule=asking_rule, snapshot=lambda: {"n": len(runs)})
    async def move(to: str) -> str:
        runs.append(to)
        return to

    with open_gate(tmp_path, move) as gate:
        waiting = asyncio.run(gate.call("move", {"to": " attic "}, session="s1"))
        assert waiting.held is not None
        request = gate.approvals.get(waiting.held.approval_id)
        assert request is not None
        assert (json.loads(request.shown), request.reason) == ({"to": "attic"}, "needs a yes")
        gate.approvals.approve(waiting.held.approval_id, **YES)
        done = (
            resume(gate, waiting.held.approval_id)
            if way == "resumed"
            else asyncio.run(gate.call("move", {"to": " attic "}, session="s1"))
        )
        assert (done.ok, runs) == (True, ["attic"])
        first = outcomes(gate)[0]
        assert first.inputs == {
            "tool": "move",
            "args": {"to": " attic "},
            "normalised": {"tool": "move", "args": {"to": "attic"}},
        }

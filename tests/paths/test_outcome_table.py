"""Every row of the outcome table, produced by a real call through the public gate."""

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tallystick import Caller, Card, Gate, Outcome, Tool, ToolError, tool
from tallystick.gate.admit.proposal import Proposal, Rejection
from tallystick.gate.codes import FAULTS, TOOL_SYNTAX
from tallystick.gate.decide.verdict import ALLOW, Decision, Limits
from tests.gates import open_gate, outcomes, receipts, said, then_said

VECTORS = Path(__file__).parents[1] / "vectors" / "decide_outcomes.json"
ROWS: dict[str, dict[str, Any]] = {
    name: {**row, "http": http}
    for row in json.loads(VECTORS.read_text())["rows"]
    for name, http in zip(row["faults"], row["http"], strict=True)
}
LONG_S = 600
READER = Caller(subject="rita", roles=frozenset({"reader"}))


class Bench:
    """Tools that note when they run, in a workspace of their own."""

    def __init__(self, workspace: Path) -> None:
        self.workspace = workspace
        self.ran: list[str] = []
        self.state = {"version": 1}
        self.gate: Gate | None = None

    def open(self, **sections: Any) -> Gate:
        self.gate = open_gate(self.workspace, *self.tools(), **sections)
        return self.gate

    def tools(self) -> list[Tool]:
        def made(does: Callable[[], Any], *, name: str, effect: str = "read", **card: Any) -> Tool:
            async def handler(text: str = "") -> str:
                self.ran.append(name)
                answer = does()
                return str(await answer) if isinstance(answer, Awaitable) else answer

            return tool(effect=effect, name=name, **card)(handler)

        def fails(**error: Any) -> Callable[[], str]:
            def does() -> str:
                raise ToolError("it did not work", **error)

            return does

        return [
            made(lambda: "seen", name="look"),
            made(lambda: "sent", name="send", effect="external"),
            made(lambda: "counted", name="count", roles=frozenset({"analyst"})),
            made(lambda: "searched", name="search", spends="search"),
            made(lambda: 7, name="wrong_shape"),
            made(lambda: asyncio.sleep(LONG_S), name="hang", timeout_s=0.05),
            made(lambda: asyncio.sleep(LONG_S), name="wait"),
            made(fails(), name="fail"),
            made(fails(unavailable=True, hint="pip install it"), name="optional"),
            made(fails(status=400), name="unfit"),
            made(fails(status=429), name="all_spent"),
            made(fails(status=404), name="missing"),
            made(fails(status=409), name="conflict"),
            made(lambda: "kept", name="remember", effect="write", **_memory("text")),
            made(lambda: "set", name="decree", effect="write", owned_keys=frozenset({"status"}), **_memory(None)),
            made(lambda: "moved", name="move", effect="write", rule=self._agrees, snapshot=lambda: dict(self.state)),
        ]

    def _agrees(self, _proposal: Proposal, _snapshot: Any) -> Decision:
        # Somebody else is faster: what the rule read is no longer so when the call is about to run.
        self.state["version"] += 1
        return ALLOW


def _memory(provenance: str | None) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"text": {"type": "string"}, "status": {"type": "string"}}}
    return {"provenance_key": provenance, "input_schema": schema, "output_schema": {"type": "string"}}


@pytest.fixture
def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    made = Bench(tmp_path)
    yield made
    if made.gate is not None:
        made.gate.close()


async def submitted(bench: Bench, text: Callable[[str], str], **turn: Any) -> Outcome:
    opened = bench.open()
    begun = opened.turn(session="s1", agent="chief", **turn)
    return await begun.submit(text(begun.nonce or ""))


async def not_an_object(bench: Bench) -> Outcome:
    return await submitted(bench, lambda nonce: said("look", {}, nonce) + " done")


async def two_objects(bench: Bench) -> Outcome:
    return await submitted(bench, lambda nonce: said("look", {}, nonce) * 2)


async def tool_syntax(bench: Bench) -> Outcome:
    gate = bench.open()
    findings = gate.check_reply('I will look.\nlook(text="a")', session="s1", agent="chief")
    assert findings.bucket == TOOL_SYNTAX.bucket
    # A door that finds it in a final answer records it so.
    return await gate.refuse(Rejection(fault=TOOL_SYNTAX, reason="tool_syntax"), 'look(text="a")', session="s1")


async def thinking(bench: Bench) -> Outcome:
    gate = bench.open(gate={"cot": "reject"})
    turn = gate.turn(session="s1", agent="chief")
    return await turn.submit("<think>so</think>" + said("look", {}, turn.nonce))


async def wrong_nonce(bench: Bench) -> Outcome:
    return await submitted(bench, lambda nonce: said("look", {}, nonce[::-1]))


async def unknown_tool(bench: Bench) -> Outcome:
    return await submitted(bench, lambda nonce: said("LOOK", {}, nonce))


async def not_allowed(bench: Bench) -> Outcome:
    return await submitted(bench, lambda nonce: said("look", {}, nonce), allowed_tools=["count"])


async def bad_arguments(bench: Bench) -> Outcome:
    return await submitted(bench, lambda nonce: said("look", {"text": 7}, nonce))


async def denied(bench: Bench) -> Outcome:
    return await bench.open(tools={"look": {"decision": "deny"}}).call("look")


async def no_token(bench: Bench) -> Outcome:
    return await bench.open().call("look", caller=Caller(), authenticated=False)


async def no_role(bench: Bench) -> Outcome:
    return await bench.open().call("count", caller=READER)


async def held(bench: Bench) -> Outcome:
    return await bench.open().call("send")


async def stale(bench: Bench) -> Outcome:
    return await bench.open().call("move")


async def rate(bench: Bench) -> Outcome:
    gate = bench.open(tools={"look": {"rate": 2}})
    for _ in range(2):
        assert (await gate.call("look")).ok
    return await gate.call("look")


async def steps_spent(bench: Bench) -> Outcome:
    turn = bench.open(limits={"steps": 1}).turn(session="s1", agent="chief")
    assert (await turn.submit(said("look", {}, turn.nonce))).ok
    return await turn.submit(then_said("look", {}, turn.nonce))


async def output_spent(bench: Bench) -> Outcome:
    turn = bench.open().turn(session="s1", agent="chief", limits=Limits(bytes=4))
    assert (await turn.submit(said("look", {}, turn.nonce))).ok
    return await turn.submit(then_said("look", {}, turn.nonce))


async def no_provenance(bench: Bench) -> Outcome:
    return await bench.open().call("remember", {})


async def canonical_write(bench: Bench) -> Outcome:
    return await bench.open().call("decree", {"text": "x", "status": "canon"})


async def wrong_shape(bench: Bench) -> Outcome:
    return await bench.open().call("wrong_shape")


async def part_missing(bench: Bench) -> Outcome:
    return await bench.open().call("optional")


async def bad_input(bench: Bench) -> Outcome:
    return await bench.open().call("unfit")


async def spent(bench: Bench) -> Outcome:
    return await bench.open().call("all_spent")


async def timeout(bench: Bench) -> Outcome:
    return await bench.open().call("hang")


async def failed(bench: Bench) -> Outcome:
    return await bench.open().call("fail")


async def ledger_gone(bench: Bench) -> Outcome:
    gate = bench.open()
    for segment in bench.workspace.glob(".control-room/audit/journal/*.log"):
        segment.unlink()
    return await gate.call("look")


WAYS: dict[str, Callable[[Bench], Awaitable[Outcome]]] = {
    "format": not_an_object,
    "multiple": two_objects,
    "tool_syntax": tool_syntax,
    "cot_leak": thinking,
    "nonce": wrong_nonce,
    "unknown_tool": unknown_tool,
    "not_allowed": not_allowed,
    "bad_args": bad_arguments,
    "denied": denied,
    "no_token": no_token,
    "no_role": no_role,
    "held": held,
    "stale": stale,
    "rate": rate,
    "budget": steps_spent,
    "output_budget": output_spent,
    "no_provenance": no_provenance,
    "canonical_write": canonical_write,
    "bad_result": wrong_shape,
    "bad_input": bad_input,
    "spent": spent,
    "part_missing": part_missing,
    "timeout": timeout,
    "ledger": ledger_gone,
    "tool_failed": failed,
}
RAN_BEFORE = {"rate": 2, "budget": 1, "output_budget": 1}
"""Calls that had to go well before this one could go wrong."""


@pytest.mark.promise("decide.outcome-table", "record.one-outcome")
@pytest.mark.parametrize("name", WAYS)
def test_a_row_of_the_table_comes_out_of_a_real_call(bench: Bench, name: str) -> None:
    row = ROWS[name]
    outcome = asyncio.run(WAYS[name](bench))
    fault = outcome.fault
    assert fault is FAULTS[name]
    assert outcome.status == ("accepted" if row.get("ran") else "rejected")
    assert outcome.http == row["http"]
    assert outcome.result is None
    assert (fault.bucket, fault.category) == (row["bucket"], row["category"])
    if outcome.rejection is not None:
        wire = outcome.as_dict()["rejection"]
        assert (wire["call_code"], wire["code"], wire["category"]) == (row["call_code"], row["code"], row["category"])
    else:
        error = outcome.as_dict()["error"]
        assert (error["category"], error["details"]["status"]) == (row["category"], row["http"])
    assert len(bench.ran) == RAN_BEFORE.get(name, 0) + bool(row.get("ran"))
    check_receipt(bench, outcome, row)


def check_receipt(bench: Bench, outcome: Outcome, row: dict[str, Any]) -> None:
    assert bench.gate is not None
    if outcome.fault is FAULTS["ledger"]:
        assert outcome.receipt_id == ""
        return
    receipt = outcomes(bench.gate)[-1]
    assert receipt.receipt_id == outcome.receipt_id
    told = receipt.header["outcome"]
    assert told["status"] == outcome.status
    assert told["fault"] == (outcome.fault.name if outcome.fault else None)
    assert (told.get("code"), told.get("call_code")) == (row["code"], row["call_code"])
    assert told.get("category") == row["category"]


@pytest.mark.promise("decide.outcome-table")
def test_no_row_is_left_out() -> None:
    # The one that has no outcome to give, since its caller is gone, stands below.
    assert {*WAYS, "cancelled"} == set(ROWS) == set(FAULTS)


@pytest.mark.promise("decide.outcome-table", "execute.cancel")
def test_the_row_of_a_cancelled_call_stands_in_its_receipt(bench: Bench) -> None:
    gate = bench.open()

    async def leave() -> None:
        call = asyncio.ensure_future(gate.call("wait"))
        while not (bench.ran or call.done()):  # noqa: ASYNC110 - the tool is the event
            await asyncio.sleep(0)
        call.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await call
        assert call.cancelled()

    asyncio.run(leave())
    (receipt,) = outcomes(gate)
    told = receipt.header["outcome"]
    assert (told["status"], told["fault"], told["category"]) == ("accepted", "cancelled", ROWS["cancelled"]["category"])


@pytest.mark.promise("decide.outcome-table")
@pytest.mark.parametrize(("name", "http"), [("missing", 404), ("conflict", 409)])
def test_a_tools_404_and_409_pass_through(bench: Bench, name: str, http: int) -> None:
    outcome = asyncio.run(bench.open().call(name))
    assert (outcome.fault, outcome.http) == (FAULTS["tool_failed"], http)


@pytest.mark.promise("decide.outcome-table")
@pytest.mark.parametrize("spent", ["tokens", "cost", "search", "time"])
def test_every_other_budget_has_the_row_of_a_budget(bench: Bench, spent: str) -> None:
    gate = bench.open(limits={"named": {"search": 1}})
    limits = {
        "tokens": Limits(tokens=10),
        "cost": Limits(cost_microusd=10),
        "search": Limits(),
        "time": Limits(elapsed_ms=0),
    }
    turn = gate.turn(session="s1", agent="chief", limits=limits[spent])
    turn.spend(tokens=10, cost_microusd=10)

    async def spend() -> Outcome:
        if spent == "search":
            assert (await turn.submit(said("search", {}, turn.nonce))).ok
            return await turn.submit(then_said("search", {}, turn.nonce))
        return await turn.submit(said("look", {}, turn.nonce))

    outcome = asyncio.run(spend())
    assert outcome.fault is FAULTS["budget"]
    assert outcome.must_finish


@pytest.mark.promise("decide.outcome-table")
def test_an_argument_rule_a_refused_and_an_expired_approval_have_the_row_of_a_denial(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule = {"schema": {"properties": {"text": {"maxLength": 3}}}, "name": "short_texts_only"}
    gate = bench.open(tools={"look": {"rules": [rule]}})
    outcome = asyncio.run(gate.call("look", {"text": "long"}))
    assert (outcome.fault, outcome.rejection.reason) == (FAULTS["denied"], "short_texts_only")  # type: ignore[union-attr]
    assert outcome.rejection.pointer == "/text"  # type: ignore[union-attr]

    first, second = asyncio.run(gate.call("send")), asyncio.run(gate.call("send", {"text": "b"}))
    assert first.held is not None
    assert second.held is not None
    gate.approvals.reject(first.held.approval_id, person="eva", channel="terminal", reason="no")
    gate.approvals.approve(second.held.approval_id, person="eva", channel="terminal")
    refused = asyncio.run(gate.resume(first.held.approval_id))
    later = SimpleNamespace(time_ns=lambda: time.time_ns() + 86_400_000_000_000)
    monkeypatch.setattr("tallystick.app.wiring.time", later)
    expired = asyncio.run(gate.resume(second.held.approval_id))
    reasons = [outcome.rejection.reason for outcome in (refused, expired) if outcome.rejection is not None]
    assert reasons == ["approval_refused", "approval_expired"]
    assert {refused.fault, expired.fault} == {FAULTS["denied"]}
    assert bench.ran == []


@pytest.mark.promise("decide.outcome-table")
def test_a_call_of_a_clients_tool_has_no_row_since_nothing_went_wrong(bench: Bench) -> None:
    gate = bench.open()
    card = Card(name="their_own", description="", input_schema={"type": "object"}, origin="client", effect="read")
    turn = gate.turn(session="s1", agent="chief", client_tools=[card])
    outcome = asyncio.run(turn.submit(said("their_own", {"anything": 1}, turn.nonce)))
    assert outcome.ok
    assert outcome.handed_back
    assert [receipt.header["kind"] for receipt in receipts(gate)] == ["started", "outcome"]

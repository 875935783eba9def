"""Agent turns through the gate: nonces, steps, the final answer, budgets, held calls, client tools."""

import asyncio
import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tallystick import Caller, Card, Gate, Outcome, tool
from tallystick.app.replay import Replayer
from tallystick.errors import LedgerError, RegistrationError
from tallystick.gate.admit.schema import compile_schema
from tallystick.gate.decide.verdict import Limits
from tallystick.gate.session import Session
from tallystick.storage.ledger import audit_folder
from tallystick.turns.turn import Turn
from tests.gates import final, kinds, open_gate, outcomes, receipts, said, then_said

THEIRS = Card(
    name="their_own", description="", effect="read", origin="client",
    input_schema={"type": "object", "properties": {"pin": {"type": "string", "writeOnly": True}}},
)  # fmt: skip


class Runs(list[str]):
    """What ran, in order."""


@pytest.fixture
def runs() -> Runs:
    return Runs()


@pytest.fixture
def gate(tmp_path: Path, runs: Runs) -> Iterator[Gate]:
    @tool(effect="read")
    async def look(text: str = "") -> str:
        runs.append(f"look {text}")
        return text or "nothing to see"

    @tool(effect="external")
    async def send(to: str) -> str:
        runs.append(f"send {to}")
        return "sent"

    @tool(effect="read", roles={"clerk"})
    async def file(text: str = "") -> str:
        runs.append("file")
        return text

    opened = open_gate(tmp_path, look, send, file)
    yield opened
    opened.close()


def submit(turn: Turn, text: str | bytes) -> Outcome:
    return asyncio.run(turn.submit(text))


def call_code(outcome: Outcome) -> str | None:
    return None if outcome.rejection is None else outcome.rejection.call_code


@pytest.mark.promise("admit.turn-steps")
def test_a_turn_goes_from_step_to_step_to_its_final_answer(gate: Gate, runs: Runs) -> None:
    turn = gate.turn(session="s1", agent="chief")
    first = submit(turn, said("look", {"text": "a"}, turn.nonce))
    assert (first.status, first.result, first.shown.text if first.shown else None) == ("accepted", "a", "a")
    second = submit(turn, then_said("look", {"text": "b"}, turn.nonce))
    assert second.ok
    last = submit(turn, final(turn))
    assert (last.status, last.final, last.result) == ("accepted", True, None)
    assert (turn.nonce, turn.open) == (None, False)
    assert runs == ["look a", "look b"]
    assert [receipt.header["turn_id"] for receipt in outcomes(gate)] == [turn.turn_id] * 3
    assert {receipt.header["agent_id"] for receipt in outcomes(gate)} == {"chief"}


@pytest.mark.promise("admit.turn-steps")
def test_each_step_has_its_own_form(gate: Gate, runs: Runs) -> None:
    early = gate.turn(session="s1")
    assert call_code(submit(early, then_said("look", {}, early.nonce))) == "tool_call_invalid_format"
    hasty = gate.turn(session="s1")
    assert call_code(submit(hasty, final(hasty))) == "tool_call_invalid_format"
    late = gate.turn(session="s1")
    assert submit(late, said("look", {}, late.nonce)).ok
    assert call_code(submit(late, said("look", {}, late.nonce))) == "tool_call_invalid_format"
    assert runs == ["look "]


@pytest.mark.promise("admit.turn-steps")
def test_a_turn_that_may_finish_takes_the_final_answer_on_step_one(gate: Gate) -> None:
    turn = gate.turn(session="s1", may_finish=True)
    assert submit(turn, final(turn)).final
    assert not turn.open


@pytest.mark.promise("admit.turn-steps")
def test_the_schema_of_each_step_describes_what_is_admitted(gate: Gate) -> None:
    turn = gate.turn(session="s1", allowed_tools=["look"])
    for step in (said, then_said):
        schema = compile_schema(turn.schema, closed=False)
        assert schema.accepts(json.loads(step("look", {"text": "a"}, turn.nonce)))
        assert not schema.accepts(json.loads(step("send", {"to": "a"}, turn.nonce)))
        assert not schema.accepts(json.loads(step("look", {"text": "a"}, "0" * 32)))
        assert submit(turn, step("look", {"text": "a"}, turn.nonce)).ok
    assert compile_schema(turn.schema, closed=False).accepts(json.loads(final(turn)))


@pytest.mark.promise("admit.nonce-single-use")
@pytest.mark.parametrize("text", ["", "no", "{}", "[]", '{"tool":"look"', "\x00", b"\xff", "<think>", "null"])
def test_a_refused_message_burns_the_nonce_and_ends_the_turn(gate: Gate, runs: Runs, text: str | bytes) -> None:
    turn = gate.turn(session="s1", agent="chief")
    nonce = turn.nonce
    outcome = submit(turn, text)
    assert outcome.stop_hook is not None
    assert outcome.stop_hook.startswith("tool_call_rejected tool_call_")
    assert (turn.nonce, turn.open) == (None, False)
    again = submit(turn, said("look", {}, nonce))
    assert call_code(again) == "tool_call_nonce_invalid"
    assert runs == []
    assert len(outcomes(gate)) == 2


@pytest.mark.promise("admit.nonce-single-use")
def test_an_accepted_message_cannot_be_sent_again(gate: Gate, runs: Runs) -> None:
    turn = gate.turn(session="s1")
    text = said("look", {}, turn.nonce)
    assert submit(turn, text).ok
    assert not submit(turn, text).ok
    assert runs == ["look "]


@pytest.mark.promise("admit.nonce-bound")
def test_the_nonce_of_another_turn_session_or_agent_is_worth_nothing(gate: Gate, runs: Runs) -> None:
    other = gate.turn(session="s1", agent="chief")
    for elsewhere in ({"session": "s1", "agent": "chief"}, {"session": "s2", "agent": "chief"}, {"agent": "critic"}):
        turn = gate.turn(**elsewhere)
        assert call_code(submit(turn, said("look", {}, other.nonce))) == "tool_call_nonce_invalid"
    assert submit(other, said("look", {}, other.nonce)).ok
    assert runs == ["look "]


@pytest.mark.promise("admit.nonce-expiry")
def test_a_nonce_expires_with_its_turn(gate: Gate, runs: Runs) -> None:
    turn = gate.turn(session="s1")
    later = turn._expires_at
    turn._nonces._clock = lambda: later
    assert call_code(submit(turn, said("look", {}, turn.nonce))) == "tool_call_nonce_invalid"
    assert runs == []


@pytest.mark.promise("decide.budgets")
def test_when_the_steps_are_spent_only_the_final_answer_is_left(gate: Gate, runs: Runs) -> None:
    turn = gate.turn(session="s1", limits=Limits(steps=1))
    assert submit(turn, said("look", {}, turn.nonce)).ok
    spent = submit(turn, then_said("look", {}, turn.nonce))
    assert (call_code(spent), spent.must_finish, spent.stop_hook) == ("tool_call_output_limit", True, None)
    assert turn.must_finish
    schema = compile_schema(turn.schema, closed=False)
    assert schema.accepts(json.loads(final(turn)))
    assert not schema.accepts(json.loads(then_said("look", {}, turn.nonce)))
    assert submit(turn, final(turn)).final
    assert runs == ["look "]


@pytest.mark.promise("decide.budgets")
def test_who_does_not_finish_then_has_ended_the_turn(gate: Gate, runs: Runs) -> None:
    turn = gate.turn(session="s1", limits=Limits(steps=0))
    assert submit(turn, said("look", {}, turn.nonce)).must_finish
    again = submit(turn, then_said("look", {}, turn.nonce))
    assert (call_code(again), again.must_finish) == ("tool_call_output_limit", False)
    assert again.stop_hook == "tool_call_rejected tool_call_output_limit"
    assert not turn.open
    assert runs == []


@pytest.mark.promise("execute.shown", "decide.budgets")
def test_output_is_cut_to_the_step_and_then_to_what_the_turn_has_left(gate: Gate) -> None:
    turn = gate.turn(session="s1", step_bytes=10, limits=Limits(bytes=15))
    texts = []
    for step in (said, then_said):
        outcome = submit(turn, step("look", {"text": "é" * 20}, turn.nonce))
        assert outcome.result == "é" * 20
        assert outcome.shown is not None
        assert outcome.shown.truncated
        texts.append(outcome.shown.text)
    assert texts == ["é" * 5, "é" * 2]
    spent = submit(turn, then_said("look", {}, turn.nonce))
    # One byte is left, and no character fits into it.
    assert spent.ok
    assert spent.shown is not None
    assert (spent.shown.text, spent.shown.truncated) == ("n", True)
    assert submit(turn, then_said("look", {}, turn.nonce)).must_finish


@pytest.mark.promise("execute.shown")
def test_the_receipt_of_a_cut_output_has_what_was_shown_and_digest_and_size_of_the_whole(gate: Gate) -> None:
    turn = gate.turn(session="s1", step_bytes=10)
    outcome = submit(turn, said("look", {"text": 'a "quoted" word'}, turn.nonce))
    receipt = gate.ledger.find(outcome.receipt_id)
    assert outcome.shown is not None
    assert receipt is not None
    flat = receipt.flat()
    assert flat["excerpt"] == json.dumps(outcome.shown.text)[:-1]
    assert (flat["sha256"], flat["full_size"]) == (outcome.shown.sha256, outcome.shown.full_size)
    assert receipt.outputs == 'a "quoted" word'


@pytest.mark.promise("admit.native-calls")
def test_a_native_call_enters_without_an_envelope(gate: Gate, runs: Runs) -> None:
    turn = gate.turn(session="s1")
    first = turn.nonce
    assert asyncio.run(turn.propose("look", {"text": "a"})).ok
    assert turn.nonce not in {None, first}
    # The nonce of the step it took is burnt; then the conversation may go on either way.
    assert submit(turn, then_said("look", {"text": "b"}, turn.nonce)).ok
    assert runs == ["look a", "look b"]


@pytest.mark.promise("admit.native-calls")
@pytest.mark.parametrize("args", [[1], "text", None, 7, {"text": 7}, {"zz": 1}])
def test_a_native_call_with_bad_arguments_is_refused_and_ends_the_turn(gate: Gate, runs: Runs, args: Any) -> None:
    turn = gate.turn(session="s1")
    outcome = asyncio.run(turn.propose("look", args))
    assert (call_code(outcome), turn.open) == ("tool_call_invalid_args", False)
    over = asyncio.run(turn.propose("look", {}))
    assert call_code(over) == "tool_call_nonce_invalid"
    assert runs == []
    assert len(outcomes(gate)) == 2


def test_a_turn_that_was_closed_takes_nothing_more(gate: Gate, runs: Runs) -> None:
    turn = gate.turn(session="s1")
    nonce = turn.nonce
    turn.close()
    assert not turn.open
    assert not submit(turn, said("look", {}, nonce)).ok
    assert runs == []


def test_a_turn_closed_while_a_tool_runs_stays_closed(tmp_path: Path) -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()

    @tool(effect="read")
    async def slow() -> str:
        begun.set()
        await go_on.wait()
        return "done"

    async def main() -> tuple[Outcome, Turn]:
        turn = opened.turn(session="s1")
        running = asyncio.ensure_future(turn.submit(said("slow", {}, turn.nonce)))
        await begun.wait()
        turn.close()
        go_on.set()
        return await running, turn

    with open_gate(tmp_path, slow) as opened:
        outcome, turn = asyncio.run(main())
    assert outcome.ok
    assert (turn.nonce, turn.open) == (None, False)


def test_a_turn_ended_by_a_second_message_is_not_reopened_by_the_first(tmp_path: Path) -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()

    @tool(effect="read")
    async def slow() -> str:
        begun.set()
        await go_on.wait()
        return "done"

    async def main() -> Turn:
        turn = opened.turn(session="s1")
        running = asyncio.ensure_future(turn.submit(said("slow", {}, turn.nonce)))
        await begun.wait()
        assert not (await turn.submit("and another thing")).ok
        go_on.set()
        assert (await running).ok
        return turn

    with open_gate(tmp_path, slow) as opened:
        assert not asyncio.run(main()).open


@pytest.mark.promise("decide.held-turn")
def test_a_held_call_stops_the_turn_and_approval_goes_on_with_a_new_nonce(gate: Gate, runs: Runs) -> None:
    turn = gate.turn(session="s1", agent="chief")
    old = turn.nonce
    held = submit(turn, said("send", {"to": "bob"}, old))
    assert held.held is not None
    assert (held.http, held.stop_hook) == (202, "approval_required")
    assert (turn.nonce, turn.open, turn.waiting) == (None, False, True)
    assert runs == []

    gate.approvals.approve(held.held.approval_id, person="eva", channel="terminal")
    assert runs == []
    resumed = asyncio.run(gate.resume(held.held.approval_id))
    assert (resumed.ok, resumed.result) == (True, "sent")
    assert resumed.shown is not None
    assert turn.nonce not in {None, old}
    assert submit(turn, then_said("look", {}, turn.nonce)).ok
    assert runs == ["send bob", "look "]
    assert kinds(gate) == ["outcome", "held", "approval", "started", "outcome", "outcome"]


@pytest.mark.promise("decide.held-turn")
def test_a_message_while_a_call_is_held_ends_the_turn_and_the_yes_still_counts(gate: Gate, runs: Runs) -> None:
    turn = gate.turn(session="s1")
    held = submit(turn, said("send", {"to": "bob"}, turn.nonce))
    assert held.held is not None
    assert not submit(turn, said("look", {}, "0" * 32)).ok
    gate.approvals.approve(held.held.approval_id, person="eva", channel="terminal")
    assert asyncio.run(gate.resume(held.held.approval_id)).ok
    assert not turn.open
    assert runs == ["send bob"]


@pytest.mark.promise("decide.held-turn", "decide.h10")
def test_a_role_taken_away_while_the_turn_waits_counts_for_it_and_for_all_that_follows(
    gate: Gate, runs: Runs, tmp_path: Path
) -> None:
    @tool(effect="external", roles={"clerk"})
    async def post(to: str) -> str:
        runs.append(f"post {to}")
        return "posted"

    gate.register(post)
    clerk, nobody = Caller(subject="ann", roles=frozenset({"clerk"})), Caller(subject="ann")
    turn = gate.turn(session="s1", caller=clerk)
    held = submit(turn, said("post", {"to": "bob"}, turn.nonce))
    assert held.held is not None
    gate.approvals.approve(held.held.approval_id, person="eva", channel="terminal")
    refused = asyncio.run(gate.resume(held.held.approval_id, caller=nobody))
    assert (refused.http, turn.open) == (403, False)
    assert runs == []


@pytest.mark.promise("admit.client-tools")
def test_a_clients_own_tool_is_decided_and_recorded_here_and_run_there(gate: Gate) -> None:
    turn = gate.turn(session=Session(session_id="s1", task_id="t7"), agent="chief", client_tools=[THEIRS])
    assert "their_own" in {entry.card.name for entry in turn.tools()}
    outcome = submit(turn, said("their_own", {"pin": "hunter2"}, turn.nonce))
    assert (outcome.ok, outcome.handed_back, outcome.result, outcome.args) == (True, True, None, {"pin": "hunter2"})
    assert turn.open

    reported = gate.report(outcome.receipt_id, {"rows": 3})
    receipt = gate.ledger.find(reported)
    assert receipt is not None
    assert (receipt.header["kind"], receipt.header["links"]) == ("report", {"outcome": outcome.receipt_id})
    assert receipt.outputs == {"rows": 3}
    assert [receipt.header[name] for name in ("session_id", "task_id", "agent_id", "turn_id", "tool_id")] == [
        "s1", "t7", "chief", turn.turn_id, "their_own",
    ]  # fmt: skip
    started, handed = receipts(gate)[:2]
    assert handed.header["links"] == {"started": started.receipt_id}
    assert "hunter2" not in str([receipt.flat() for receipt in receipts(gate)])


@pytest.mark.promise("admit.client-tools")
def test_a_clients_tool_is_held_to_its_schema_and_to_policy(tmp_path: Path) -> None:
    with open_gate(tmp_path, tools={"their_own": {"decision": "deny"}}) as strict:
        turn = strict.turn(session="s1", client_tools=[THEIRS])
        assert call_code(submit(turn, said("their_own", {"pin": 7}, turn.nonce))) == "tool_call_invalid_args"
        turn = strict.turn(session="s1", client_tools=[THEIRS])
        assert not submit(turn, said("their_own", {"pin": "x"}, turn.nonce)).handed_back
        turn = strict.turn(session="s1")
        assert call_code(submit(turn, said("their_own", {}, turn.nonce))) == "tool_call_unknown_tool"


@pytest.mark.promise("admit.client-tools")
def test_the_definition_of_a_clients_tool_is_kept_so_that_its_calls_can_be_replayed(gate: Gate) -> None:
    for _ in range(2):
        turn = gate.turn(session="s1", client_tools=iter([THEIRS]))
        submit(turn, said("their_own", {"pin": "x"}, turn.nonce))
    versions = {receipt.header["tool_version"] for receipt in receipts(gate)}
    assert versions == {THEIRS.version}
    kept = audit_folder(gate.workspace) / "tools" / f"{THEIRS.version}.json"
    assert sha256(kept.read_bytes()).hexdigest() == THEIRS.version
    again = list(Replayer(gate.ledger.kept).replay(gate.ledger.read()))
    assert [replayed.result for replayed in again] == ["same", "same"]


@pytest.mark.promise("admit.client-tools")
def test_only_what_was_handed_back_can_be_reported(gate: Gate) -> None:
    turn = gate.turn(session="s1", client_tools=[THEIRS])
    mine = submit(turn, said("look", {}, turn.nonce))
    theirs = submit(turn, then_said("their_own", {}, turn.nonce))
    for receipt_id, result, code in (
        ("rcpt_nowhere", 1, "receipt_unknown"),
        (mine.receipt_id, 1, "not_handed_back"),
        (theirs.receipt_id, float("nan"), "result_not_json"),
    ):
        with pytest.raises(LedgerError) as caught:
            gate.report(receipt_id, result)
        assert caught.value.code == code
    assert "report" not in kinds(gate)


def test_a_card_that_is_not_a_clients_cannot_be_given_as_one(gate: Gate) -> None:
    with pytest.raises(RegistrationError):
        gate.turn(session="s1", client_tools=[Card(name="x", description="", input_schema={})])


def test_a_turn_is_found_as_long_as_somebody_holds_it(gate: Gate) -> None:
    turn = gate.turn(session="s1")
    assert gate.find_turn(turn.turn_id) is turn
    assert gate.find_turn("turn_nowhere") is None


def test_a_turn_can_be_used_without_a_loop(gate: Gate, runs: Runs) -> None:
    turn = gate.turn(session="s1")
    assert turn.submit_sync(said("look", {"text": "x"}, turn.nonce)).unwrap() == "x"
    assert runs == ["look x"]

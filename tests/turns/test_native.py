"""The loop for APIs with tool calling: proposals without an envelope, held to the same gate."""

import asyncio
from typing import Any

import pytest

from tallystick import Card, Gate, tool
from tallystick.turns.loop import TurnToolPolicy
from tallystick.turns.model import Ask, ModelError, NativeCall, Said
from tests.gates import outcomes
from tests.turns.conftest import LINE, Ran
from tests.turns.scripted import Scripted, asked, native, play, played, receipt_in, texts

PLAIN = f'The lamp was wound at nine.\n\nEvidence: "{LINE}" log.md:L3'
READ = ("read_log", '{"line": 3}')
THEIRS = Card(
    name="their_own", description="", effect="read", origin="client",
    input_schema={"type": "object", "properties": {"pin": {"type": "string"}}},
)  # fmt: skip


def grounded(ask: Ask) -> str:
    return f"{PLAIN}; receipt {receipt_in(ask)}"


@pytest.mark.promise("turns.native")
def test_a_native_call_is_a_proposal_and_its_result_a_tool_message(desk: Gate, ran: Ran) -> None:
    model = Scripted(native(READ, text="I look it up."), grounded, speech="native")
    result = asyncio.run(play(desk, asked(), model))
    assert (result.reply or "").startswith(PLAIN)
    assert ran == ["read_log 3"]
    assert result.steps[0].commentary == "I look it up."
    assert [message.role for message in result.messages] == ["system", "user", "assistant", "tool", "assistant"]
    assert (result.messages[2].calls[0].call_id, result.messages[3].call_id) == ("c0", "c0")
    assert "read_log" in [offer.name for offer in model.asked[0].offers]
    prompt = texts(model.asked[0].messages)
    assert "TOOL_NONCE" not in prompt
    assert "# Tools" not in prompt


@pytest.mark.promise("turns.native")
def test_a_name_with_dots_is_shown_without_and_leads_back(desk: Gate, ran: Ran) -> None:
    @tool(effect="read", name="log.first.line")
    async def first_line() -> str:
        """Read the first line."""
        ran.append("first")
        return "# Log"

    desk.register(first_line)
    model = Scripted(native(("log__first__line", "{}")), PLAIN, speech="native")
    result = asyncio.run(play(desk, asked(), model))
    assert "log__first__line" in [offer.name for offer in model.asked[0].offers]
    assert ran == ["first"]
    assert result.messages[2].calls[0].name == "log__first__line"


@pytest.mark.promise("turns.native")
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ("", "tool_call_invalid_format"),
        ('{"line": 3', "tool_call_invalid_format"),
        ('{"line": 3, "line": 4}', "tool_call_invalid_format"),
        ("[3]", "tool_call_invalid_format"),
        ('{"line": "\ud800"}', "tool_call_invalid_format"),
        ('{"lines": 3}', "tool_call_invalid_args"),
        ('{"line": "3"}', "tool_call_invalid_args"),
    ],
)
def test_arguments_are_read_as_strictly_as_an_envelope(desk: Gate, ran: Ran, arguments: str, code: str) -> None:
    result = played(desk, asked(), native(("read_log", arguments)), speech="native")
    assert result.stop_hook == f"STOP_HOOK: tool_call_rejected {code}"
    assert ran == []
    assert [receipt.header["outcome"]["status"] for receipt in outcomes(desk)] == ["rejected"]


@pytest.mark.promise("turns.native-multiple")
def test_two_calls_at_once_are_refused_and_neither_runs(desk: Gate, ran: Ran) -> None:
    result = played(desk, asked(), native(READ, READ), speech="native")
    assert result.stop_hook == "STOP_HOOK: tool_call_rejected tool_call_multiple"
    assert (ran, result.receipts) == ([], ())
    assert len(outcomes(desk)) == 1


@pytest.mark.promise("turns.native-multiple")
def test_several_reads_run_where_the_turn_allows_it(desk: Gate, ran: Ran) -> None:
    request = asked(parallel_reads=True)
    result = played(desk, request, native(READ, ("read_log", '{"line": 1}')), grounded, speech="native")
    assert ran == ["read_log 3", "read_log 1"]
    assert (len(result.receipts), result.reply is not None) == (2, True)
    assert [message.call_id for message in result.messages if message.role == "tool"] == ["c0", "c1"]


@pytest.mark.promise("turns.native-multiple")
@pytest.mark.parametrize("other", [("note", '{"text": "x"}'), ("nobody", "{}"), ("read_log", "{")])
def test_reads_beside_anything_else_are_refused_whole(desk: Gate, ran: Ran, other: tuple[str, str]) -> None:
    result = played(desk, asked(parallel_reads=True), native(READ, other), speech="native")
    assert (result.stop_hook or "").startswith("STOP_HOOK: tool_call_rejected tool_call_")
    assert ran == []


@pytest.mark.promise("turns.native")
def test_a_required_call_is_asked_for_and_its_absence_refused(desk: Gate) -> None:
    required = asked(policy=TurnToolPolicy(require_tool=True))
    model = Scripted(native(READ), grounded, speech="native")
    asyncio.run(play(desk, required, model))
    assert [ask.require_call for ask in model.asked] == [True, False]
    result = played(desk, required, PLAIN, speech="native")
    assert result.stop_hook == "STOP_HOOK: tool_call_rejected tool_call_invalid_format"


@pytest.mark.promise("turns.step-limit")
def test_at_the_limit_nothing_is_offered_any_more(desk: Gate, ran: Ran) -> None:
    model = Scripted(native(READ), grounded, speech="native")
    result = asyncio.run(play(desk, asked(max_steps=1), model))
    assert (result.forced, result.reply is not None) == (True, True)
    assert model.asked[1].offers == ()
    refused = played(desk, asked(max_steps=1), native(READ), native(READ), speech="native")
    assert refused.stop_hook == "STOP_HOOK: tool_call_rejected tool_call_nonce_invalid"
    assert len(ran) == 2


@pytest.mark.promise("turns.step-limit")
def test_calls_beyond_the_limit_are_answered_and_not_run(desk: Gate, ran: Ran) -> None:
    request = asked(parallel_reads=True, max_steps=2)
    result = played(desk, request, native(READ, READ, READ), grounded, speech="native")
    assert ran == ["read_log 3"] * 2
    answers = [message for message in result.messages if message.role == "tool"]
    assert [message.call_id for message in answers] == ["c0", "c1", "c2"]
    assert result.forced


@pytest.mark.promise("turns.step-limit")
def test_a_budget_spent_in_the_middle_of_an_answer_leaves_the_rest_undone(desk: Gate, ran: Ran) -> None:
    turn = desk.turn(session="s1", agent="clerk", step_bytes=100)
    request = asked(parallel_reads=True, max_steps=50)
    reads = [("long", '{"size": 9000}')] * 200
    result = played(desk, request, native(*reads[:50]), "ABSTAIN", speech="native", turn=turn)
    # Six by configuration; the seventh is refused, and the others are not even proposed.
    assert len(ran) == 6
    assert [step.code for step in result.steps if step.kind == "call"][-1] == "tool_call_output_limit"
    assert len([message for message in result.messages if message.role == "tool"]) == 50


@pytest.mark.promise("turns.handed-back")
def test_several_calls_of_the_client_are_handed_back_together(desk: Gate) -> None:
    turn = desk.turn(session="s1", agent="clerk", client_tools=[THEIRS])
    calls = native(("their_own", '{"pin": "1"}'), ("their_own", '{"pin": "2"}'))
    result = played(desk, asked(parallel_reads=True), calls, speech="native", turn=turn)
    assert [(back.call_id, back.args["pin"]) for back in result.handed_back] == [("c0", "1"), ("c1", "2")]
    assert tuple(back.receipt_id for back in result.handed_back) == result.receipts


@pytest.mark.promise("turns.conference")
def test_a_native_tool_phase_ends_when_nothing_is_called_any_more(desk: Gate) -> None:
    request = asked(conference=True, tool_phase=True)
    gathered = played(desk, request, native(READ), "That is all.", speech="native")
    assert ([found.text for found in gathered.results], gathered.reply) == ([LINE], None)
    nothing = played(desk, request, "No tool is needed.", speech="native")
    assert (nothing.results, nothing.stop_hook) == ((), None)
    forced = played(desk, asked(conference=True, tool_phase=True, max_steps=1), native(READ), speech="native")
    assert (len(forced.results), forced.forced) == (1, True)


@pytest.mark.promise("turns.unheard")
@pytest.mark.parametrize(("steps", "max_steps"), [(0, 6), (1, 6), (1, 1)])
def test_a_native_model_that_cannot_be_heard_ends_the_turn(desk: Gate, steps: int, max_steps: int) -> None:
    gone = ModelError(code="endpoint_failed", message="Try again.")
    result = played(desk, asked(max_steps=max_steps), *[native(READ)] * steps, gone, speech="native")
    assert result.model_error == gone


def test_a_call_in_an_answer_that_should_be_text_is_judged_as_one(desk: Gate, ran: Ran) -> None:
    sly = Said(text="", calls=(NativeCall(call_id="c0", name="read_log", arguments="{}"),))
    result = played(desk, asked(), sly)
    assert result.stop_hook == "STOP_HOOK: tool_call_rejected tool_call_invalid_format"
    assert ran == []


@pytest.mark.promise("turns.conference")
@pytest.mark.parametrize("more", [{"conference": True}, {"max_steps": 0}], ids=str)
def test_a_call_where_nothing_was_offered_is_refused_by_the_gate(desk: Gate, ran: Ran, more: dict[str, Any]) -> None:
    result = played(desk, asked(**more), native(READ), speech="native")
    assert result.stop_hook == "STOP_HOOK: tool_call_rejected tool_call_nonce_invalid"
    assert ran == []


@pytest.mark.promise("turns.skip-tools")
def test_raw_is_raw_for_native_models_too(desk: Gate, ran: Ran) -> None:
    model = Scripted(native(READ, text="Nine."), speech="native")
    result = asyncio.run(play(desk, asked("When?", skip_tools=True), model))
    assert (result.reply, ran, model.asked[0].offers) == ("Nine.", [], ())
    assert [message.content for message in model.asked[0].messages] == ["When?"]

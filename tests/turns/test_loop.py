"""The loop with a scripted model at a real gate: first call, decisions, the answer, and every way a turn can end."""

import asyncio
import json

import pytest

from tallystick import Card, Gate, tool
from tallystick.gate.decide.verdict import Limits
from tallystick.gate.reply.findings import Findings
from tallystick.turns.loop import Request, Step, TurnResult, TurnToolPolicy, run_turn
from tallystick.turns.model import Ask, ModelError, Said, Usage
from tests.gates import kinds, outcomes
from tests.turns.conftest import LINE, Ran
from tests.turns.scripted import (
    AGENT,
    Checked,
    Scripted,
    asked,
    call,
    done,
    nonce_in,
    play,
    played,
    receipt_in,
    texts,
)

EVIDENCE = f'Evidence: "{LINE}" log.md:L3'
PLAIN = f"The lamp was wound at nine.\n\n{EVIDENCE}"
THEIRS = Card(
    name="their_own", description="", effect="read", origin="client",
    input_schema={"type": "object", "properties": {"pin": {"type": "string"}}},
)  # fmt: skip


def grounded(ask: Ask) -> str:
    return f"{PLAIN}; receipt {receipt_in(ask)}"


@pytest.mark.promise("turns.loop")
def test_a_turn_goes_from_a_call_over_the_decision_to_a_checked_answer(desk: Gate, ran: Ran) -> None:
    model = Scripted(call("read_log", {"line": 3}), done, grounded)
    result = asyncio.run(play(desk, asked(), model))
    assert (result.reply or "").startswith(PLAIN)
    assert result.findings is not None
    assert result.findings.ok
    assert result.evidence is not None
    assert result.receipts[0] in result.evidence
    assert [(step.index, step.kind, step.code) for step in result.steps] == [
        (1, "call", None), (2, "decision", None), (3, "final", None),
    ]  # fmt: skip
    assert ran == ["read_log 3"]
    assert (result.stop_hook, result.rejected, result.forced) == (None, None, False)
    assert result.usage == Usage(input_tokens=30, output_tokens=15)
    assert (result.model, result.provider) == ("script-1", "scripted")
    assert kinds(desk)[-1] == "reply_check"


@pytest.mark.promise("turns.loop")
def test_each_step_is_asked_with_the_messages_before_it(desk: Gate) -> None:
    model = Scripted(call("read_log", {"line": 3}), call("read_log", {"line": 1}), done, grounded)
    result = asyncio.run(play(desk, asked(), model))
    before: tuple = ()
    for ask in model.asked:
        assert ask.messages[: len(before)] == before
        before = ask.messages
    assert [message.role for message in result.messages] == [
        "system", "user", "assistant", "user", "assistant", "user", "assistant", "user", "assistant",
    ]  # fmt: skip
    assert len({nonce_in(ask) for ask in model.asked[:3]}) == 3
    assert result.messages[2].content == result.steps[0].text


@pytest.mark.promise("turns.schema")
def test_decisions_are_held_to_the_schema_and_plain_answers_are_not(desk: Gate) -> None:
    model = Scripted(call("read_log"), done, grounded)
    asyncio.run(play(desk, asked(), model))
    first, decision, final = (ask.schema for ask in model.asked)
    assert first is None
    assert final is None
    assert decision is not None
    forms = decision["anyOf"]
    assert {"action": {"const": "final"}, "nonce": {"const": nonce_in(model.asked[1])}} in [
        form["properties"] for form in forms
    ]
    assert all(form["properties"]["nonce"]["const"] == nonce_in(model.asked[1]) for form in forms)


@pytest.mark.promise("turns.plain-answer")
def test_a_plain_answer_needs_no_tool_and_must_pass_the_check(desk: Gate, ran: Ran) -> None:
    assert played(desk, asked(), PLAIN).reply == PLAIN
    refused = played(desk, asked(), "The lamp was wound at nine.")
    assert refused.reply is None
    assert refused.rejected is not None
    assert (refused.rejected.code, refused.rejected.text) == ("evidence_invalid", "The lamp was wound at nine.")
    assert refused.stop_hook == "STOP_HOOK: reply_rejected evidence_invalid"
    assert ran == []


@pytest.mark.promise("turns.plain-answer")
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("read_log(line=3)", "tool_call_invalid_format"),
        ('I will look.\n```json\n{"tool": "read_log", "args": {}, "nonce": "x"}\n```', "tool_call_invalid_format"),
        ('{"tool": "read_log", "args": {}}', "tool_call_nonce_invalid"),
        ('{"answer": 42}', "tool_call_invalid_format"),
        ('<tool_call>{"name": "read_log", "arguments": {}}</tool_call>', "tool_call_invalid_format"),
    ],
)  # fmt: skip
def test_what_wants_to_be_a_call_is_judged_as_one(desk: Gate, ran: Ran, text: str, code: str) -> None:
    result = played(desk, asked(), text)
    assert result.stop_hook == f"STOP_HOOK: tool_call_rejected {code}"
    assert (result.reply, result.rejected, result.steps[0].code) == (None, None, code)
    assert [receipt.header["outcome"]["status"] for receipt in outcomes(desk)] == ["rejected"]
    assert ran == []


@pytest.mark.promise("turns.no-retry")
def test_a_malformed_decision_ends_the_turn_and_nothing_is_asked_again(desk: Gate, ran: Ran) -> None:
    result = played(desk, asked(), call("read_log"), "I have seen enough.")
    assert result.stop_hook == "STOP_HOOK: tool_call_rejected tool_call_invalid_format"
    assert ran == ["read_log 3"]
    assert len(result.receipts) == 1


@pytest.mark.promise("turns.required")
def test_the_flag_makes_step_one_a_call_and_says_so_in_prompt_and_schema(desk: Gate, ran: Ran) -> None:
    model = Scripted(call("read_log"), done, grounded)
    result = asyncio.run(play(desk, asked(policy=TurnToolPolicy(require_tool=True)), model))
    assert (result.required_by, result.reply is not None) == ("flag", True)
    assert model.asked[0].messages[-1].content.endswith("\nTOOL_CALL_REQUIRED: true")
    assert model.asked[0].schema is not None
    refused = played(desk, asked(policy=TurnToolPolicy(require_tool=True)), PLAIN)
    assert refused.stop_hook == "STOP_HOOK: tool_call_rejected tool_call_invalid_format"
    assert ran == ["read_log 3"]


@pytest.mark.promise("turns.required")
def test_the_phrases_are_a_fallback_and_the_turn_says_so(desk: Gate) -> None:
    result = played(desk, asked("Use the read-log tool first, then answer."), PLAIN)
    assert (result.required_by, result.stop_hook) == (
        "heuristic", "STOP_HOOK: tool_call_rejected tool_call_invalid_format",
    )  # fmt: skip


@pytest.mark.promise("turns.tool-policy")
def test_allowed_tools_close_the_catalogue_the_schema_and_the_gate(desk: Gate, ran: Ran) -> None:
    only = TurnToolPolicy(allowed_tools=frozenset({"read_log"}), require_tool=True)
    model = Scripted(call("note", {"text": "x"}))
    result = asyncio.run(play(desk, asked(policy=only), model))
    assert result.stop_hook == "STOP_HOOK: tool_call_rejected tool_call_unknown_tool"
    assert ran == []
    catalogue = model.asked[0].messages[0].content.split("# Tools\n")[1]
    assert [json.loads(line)["name"] for line in catalogue.splitlines()] == ["read_log"]
    assert model.asked[0].schema is not None
    assert [form["properties"]["tool"]["const"] for form in model.asked[0].schema["anyOf"]] == ["read_log"]


@pytest.mark.promise("turns.tool-policy")
def test_a_policy_takes_tools_away_and_gives_none(desk: Gate) -> None:
    turn = desk.turn(session="s1", allowed_tools=["read_log"])
    policy = TurnToolPolicy(allowed_tools=frozenset({"note", "read_log"}))
    model = Scripted(call("note", {"text": "x"}))
    result = asyncio.run(play(desk, asked(policy=policy), model, turn=turn))
    assert result.stop_hook == "STOP_HOOK: tool_call_rejected tool_call_unknown_tool"


@pytest.mark.promise("turns.skip-tools")
def test_without_tools_the_message_goes_raw_and_comes_back_unchecked(desk: Gate) -> None:
    model = Scripted('{"tool": "read_log", "args": {}, "nonce": "x"}')
    result = asyncio.run(play(desk, asked("Say it.", skip_tools=True), model))
    assert [(message.role, message.content) for message in model.asked[0].messages] == [("user", "Say it.")]
    assert (result.reply, result.findings) == ('{"tool": "read_log", "args": {}, "nonce": "x"}', None)
    assert kinds(desk) == []


@pytest.mark.promise("turns.step-limit")
def test_at_the_step_limit_the_answer_is_forced(desk: Gate, ran: Ran) -> None:
    model = Scripted(call("read_log"), call("read_log", {"line": 1}), grounded)
    result = asyncio.run(play(desk, asked(max_steps=2), model))
    assert (result.forced, result.reply is not None) == (True, True)
    assert ran == ["read_log 3", "read_log 1"]
    last = model.asked[-1]
    assert "# Final Answer" in last.messages[-1].content
    assert "TOOL_NONCE" not in last.messages[-1].content
    assert last.schema is None


@pytest.mark.promise("turns.step-limit")
@pytest.mark.parametrize(
    "limits", [Limits(steps=1), Limits(bytes=10), Limits(tokens=20), Limits(cost_microusd=7)], ids=str
)
def test_a_budget_of_the_gate_forces_the_answer_too(desk: Gate, ran: Ran, limits: Limits) -> None:
    def costly(ask: Ask) -> Said:
        return Said(text=call("read_log")(ask), usage=Usage(input_tokens=10, output_tokens=5, cost_microusd=4))

    turn = desk.turn(session="s1", agent="clerk", limits=limits)
    result = played(desk, asked(), costly, costly, grounded, turn=turn)
    assert result.forced
    assert ran == ["read_log 3"]
    assert [step.code for step in result.steps][:2] == [None, "tool_call_output_limit"]
    assert len(result.receipts) == 1


@pytest.mark.promise("turns.bytes")
def test_a_result_is_cut_and_says_so_with_the_digest_of_the_whole(desk: Gate) -> None:
    turn = desk.turn(session="s1", agent="clerk", step_bytes=100)
    model = Scripted(call("long", {"size": 5000}), done, "ABSTAIN")
    result = asyncio.run(play(desk, asked(), model, turn=turn))
    shown = model.asked[1].messages[-1].content
    assert "bytes=5002 truncated=true>>>" in shown
    assert "x" * 100 in shown
    assert "x" * 101 not in shown
    assert result.results[0].sha256 in shown


@pytest.mark.promise("turns.results")
def test_a_call_that_failed_is_shown_with_its_category_and_the_turn_goes_on(desk: Gate) -> None:
    model = Scripted(call("breaks"), done, PLAIN)
    result = asyncio.run(play(desk, asked(), model))
    shown = model.asked[1].messages[-1].content
    assert "error=downstream_error>>>" in shown
    assert '"category":"downstream_error"' in shown
    assert result.steps[0].code == "downstream_error"
    # Nothing was found out by a tool, so there is no receipt that the answer would have to cite.
    assert result.reply == PLAIN


@pytest.mark.promise("turns.abstain")
@pytest.mark.parametrize("text", ["ABSTAIN", "  abstain\n", "<think>not mine</think>Abstain"])
def test_an_abstention_is_the_word_alone_and_is_not_checked(desk: Gate, text: str) -> None:
    result = played(desk, asked(), text)
    assert (result.abstained, result.reply, result.rejected, result.stop_hook) == (True, None, None, None)
    assert kinds(desk) == []


@pytest.mark.promise("turns.abstain")
def test_a_sentence_about_abstaining_is_none(desk: Gate) -> None:
    result = played(desk, asked(), "I would not abstain.")
    assert not result.abstained
    assert result.rejected is not None


@pytest.mark.promise("turns.thinking")
def test_thinking_before_the_answer_is_put_aside_or_refused(desk: Gate) -> None:
    text = f"<think>It is in the log.</think>\n{PLAIN}"
    result = played(desk, asked(), text)
    assert (result.reply, result.steps[0].commentary) == (PLAIN, "<think>It is in the log.</think>")
    strict = played(desk, asked(cot="reject"), text)
    assert strict.rejected is not None
    assert strict.rejected.code == "cot_leak"


@pytest.mark.promise("turns.thinking")
def test_thinking_before_a_call_is_the_gates_to_judge(desk: Gate, ran: Ran) -> None:
    result = played(desk, asked(), call("read_log", before="<think>hm</think>"), done, grounded)
    assert (result.reply is not None, ran) == (True, ["read_log 3"])


@pytest.mark.promise("turns.held")
def test_a_held_call_stops_the_turn_which_waits_for_the_yes(desk: Gate, ran: Ran) -> None:
    turn = desk.turn(session="s1", agent="clerk")
    result = played(desk, asked(), call("send", {"to": "the harbour"}), turn=turn)
    assert result.stop_hook == "STOP_HOOK: approval_required"
    assert result.held is not None
    assert (ran, turn.waiting) == ([], True)


@pytest.mark.promise("turns.handed-back")
def test_a_call_of_the_clients_own_tool_ends_the_loop_and_is_handed_back(desk: Gate) -> None:
    turn = desk.turn(session="s1", agent="clerk", client_tools=[THEIRS])
    result = played(desk, asked(), call("their_own", {"pin": "1"}), turn=turn)
    (back,) = result.handed_back
    assert (back.tool, back.args, back.receipt_id) == ("their_own", {"pin": "1"}, result.receipts[0])
    assert (result.reply, result.stop_hook, turn.open) == (None, None, False)


@pytest.mark.promise("turns.unheard")
@pytest.mark.parametrize("after", [0, 1, 2])
def test_a_model_that_cannot_be_heard_ends_the_turn_with_its_code(desk: Gate, after: int) -> None:
    gone = ModelError(code="endpoint_timeout", message="The endpoint took too long; try again.")
    turn = desk.turn(session="s1", agent="clerk")
    result = played(desk, asked(), *[call("read_log"), done][:after], gone, turn=turn)
    assert (result.model_error, result.stop_hook) == (gone, "STOP_HOOK: model_unheard endpoint_timeout")
    assert len(result.steps) == after
    assert not turn.open


@pytest.mark.promise("turns.cancelled")
@pytest.mark.parametrize("after", [0, 1, 2])
def test_a_cancelled_turn_is_closed_and_nothing_hangs(desk: Gate, after: int) -> None:
    async def cancel() -> None:
        asking = asyncio.Event()

        class Stuck(Scripted):
            async def ask(self, ask: Ask, *, hear=None) -> Said | ModelError:
                if not self.left:
                    asking.set()
                    await asyncio.Event().wait()
                return await super().ask(ask, hear=hear)

        turn = desk.turn(session="s1", agent="clerk")
        task = asyncio.ensure_future(play(desk, asked(), Stuck(*[call("read_log"), done][:after]), turn=turn))
        await asking.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (turn.open, turn.nonce) == (False, None)

    asyncio.run(asyncio.wait_for(cancel(), 20))


@pytest.mark.promise("turns.cancelled")
def test_a_turn_cancelled_while_its_tool_runs_leaves_the_receipt_of_the_call(desk: Gate) -> None:
    async def cancel() -> None:
        running = asyncio.Event()

        @tool(effect="read")
        async def waits() -> str:
            running.set()
            await asyncio.Event().wait()
            return ""

        desk.register(waits)
        turn = desk.turn(session="s1", agent="clerk")
        task = asyncio.ensure_future(play(desk, asked(), Scripted(call("waits")), turn=turn))
        await running.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not turn.open

    asyncio.run(asyncio.wait_for(cancel(), 20))
    assert [receipt.header["outcome"]["status"] for receipt in outcomes(desk)] == ["accepted"]


@pytest.mark.promise("turns.cancelled")
def test_a_model_that_raises_leaves_no_open_turn(desk: Gate) -> None:
    turn = desk.turn(session="s1", agent="clerk")
    with pytest.raises(RuntimeError):
        asyncio.run(play(desk, asked(), Scripted(RuntimeError("a bug")), turn=turn))
    assert not turn.open


@pytest.mark.promise("turns.watched")
def test_a_watcher_sees_each_step_as_it_ends_and_cannot_stop_the_turn(desk: Gate) -> None:
    seen: list[str] = []

    def watch(what: object) -> None:
        seen.append(what.kind if isinstance(what, Step) else str(what))
        raise RuntimeError("a watcher that fails")

    result = played(desk, asked(), call("read_log"), done, grounded, watch=watch)
    assert result.reply is not None
    assert seen == ["asking", "call", "asking", "decision", "asking", "checking", "final"]


def test_the_check_is_told_whether_tools_ran_and_which_receipts_there_are(desk: Gate) -> None:
    turn = desk.turn(session="s1", agent="clerk")
    check = Checked(desk, turn)
    result = played(desk, asked(), call("read_log"), done, grounded, turn=turn, check=check)
    (given,) = check.given
    assert (given["tools_ran"], given["receipts"], given["conference"]) == (True, list(result.receipts), False)


def test_the_check_may_take_its_time(desk: Gate) -> None:
    async def slow(reply: str, **more: object) -> Findings:
        await asyncio.sleep(0)
        return Findings(ok=False, bucket=None, reason="no")

    result = played(desk, asked(), PLAIN, check=slow)
    assert result.rejected is not None
    assert result.rejected.code == "format_error"


@pytest.mark.promise("turns.conference")
def test_the_tool_phase_of_a_conference_gathers_results_and_gives_no_reply(desk: Gate) -> None:
    model = Scripted(call("read_log"), done)
    request = asked(conference=True, tool_phase=True)
    result = asyncio.run(play(desk, request, model))
    assert (result.reply, result.rejected, result.stop_hook, result.required_by) == (None, None, None, "flag")
    assert [found.text for found in result.results] == [LINE]
    prompt = texts(model.asked[0].messages)
    assert "# Role" not in prompt
    assert "# Grounding" not in prompt
    assert model.asked[0].schema is not None
    assert model.asked[0].schema["anyOf"][-1]["properties"]["action"] == {"const": "final"}


@pytest.mark.promise("turns.conference")
def test_the_tool_phase_may_find_that_no_tool_is_needed(desk: Gate, ran: Ran) -> None:
    result = played(desk, asked(conference=True, tool_phase=True), done)
    assert (result.results, result.stop_hook, ran) == ((), None, [])


@pytest.mark.promise("turns.conference")
def test_the_second_phase_sees_results_and_no_tools(desk: Gate, ran: Ran) -> None:
    first = played(desk, asked(conference=True, tool_phase=True), call("read_log"), done)
    model = Scripted(grounded)
    result = asyncio.run(play(desk, asked(conference=True, injected=first.results), model))
    prompt = texts(model.asked[0].messages)
    assert "# Tools" not in prompt
    assert "TOOL_NONCE" not in prompt
    assert LINE in prompt
    assert "ABSTAIN" in model.asked[0].messages[-1].content.splitlines()[-1]
    assert len(ran) == 1
    assert result.steps[0].kind == "final"
    spoken = played(desk, asked(conference=True, injected=first.results), call_without_nonce)
    assert spoken.rejected is not None
    assert spoken.rejected.code == "tool_syntax"
    assert len(ran) == 1


def call_without_nonce(_ask: Ask) -> str:
    return '{"tool": "read_log", "args": {}, "nonce": "x"}'


def test_a_turn_without_any_tool_is_a_plain_question(desk: Gate) -> None:
    turn = desk.turn(session="s1", agent="clerk", allowed_tools=[])
    model = Scripted(PLAIN)
    result = asyncio.run(play(desk, asked(policy=TurnToolPolicy(require_tool=True)), model, turn=turn))
    assert (result.reply, result.required_by) == (PLAIN, None)
    assert "TOOL_NONCE" not in texts(model.asked[0].messages)
    empty = played(desk, asked(conference=True, tool_phase=True), turn=desk.turn(session="s1", allowed_tools=[]))
    assert (empty.reply, empty.steps) == (None, ())


def test_the_wire_form_is_plain_json(desk: Gate) -> None:
    ended: list[TurnResult] = [
        played(desk, asked(), call("read_log"), done, grounded),
        played(desk, asked(), "No evidence."),
        played(desk, asked(), call("send", {"to": "x"})),
        played(desk, asked(), ModelError(code="key_missing", message="Set the key.")),
        played(desk, asked(), "abstain"),
        played(desk, asked(), call("their_own"), turn=desk.turn(session="s1", agent="clerk", client_tools=[THEIRS])),
    ]
    wires = [json.loads(json.dumps(result.as_dict())) for result in ended]
    assert [sorted(wire.keys() - {"turn_id", "reply", "evidence", "receipts", "steps", "usage"}) for wire in wires] == [
        ["findings"], ["rejected", "stop_hook"], ["held", "stop_hook"], ["stop_hook", "unheard"], ["abstained"],
        ["handed_back"],
    ]  # fmt: skip


def test_run_turn_needs_nothing_but_its_arguments(desk: Gate) -> None:
    turn = desk.turn(session="s1", agent="clerk")
    ticks = iter(range(100))
    request = Request(message="When?", agent=AGENT)
    result = asyncio.run(
        run_turn(request, model=Scripted(PLAIN), turn=turn, check=Checked(desk, turn), clock=lambda: float(next(ticks)))
    )
    assert result.steps[0].elapsed_ms == 1000


MADE_UP = f"The lamp was wound at eleven.\n\n{EVIDENCE}"


@pytest.mark.promise("turns.loop")
def test_a_rejected_reply_may_be_written_again_with_the_findings_before_it(desk: Gate) -> None:
    model = Scripted(MADE_UP, PLAIN)
    result = asyncio.run(play(desk, asked(reply_retries=1), model))
    assert result.reply == PLAIN
    assert [(step.kind, step.code) for step in result.steps] == [("final", "evidence_invalid"), ("final", None)]
    assert "number_unsupported" in model.asked[-1].messages[-1].content
    assert kinds(desk).count("reply_check") == 2
    once = asyncio.run(play(desk, asked(reply_retries=1), Scripted(MADE_UP, MADE_UP, PLAIN)))
    assert once.reply is None
    assert once.rejected is not None
    none = asyncio.run(play(desk, asked(reply_retries=0), Scripted(MADE_UP, PLAIN)))
    assert none.rejected is not None


@pytest.mark.promise("turns.loop")
def test_an_answer_that_the_token_limit_cut_off_is_neither_checked_nor_blamed(desk: Gate) -> None:
    model = Scripted(Said(text="The lamp was wound at", finish="length"))
    result = asyncio.run(play(desk, asked(reply_retries=1, max_tokens=5), model))
    assert result.rejected is not None
    assert (result.rejected.code, result.findings) == ("reply_cut_off", None)
    assert "5 tokens" in (result.rejected.reason or "")
    assert "max_tokens" in (result.rejected.reason or "")
    assert "reply_check" not in kinds(desk)

"""The acceptance tests for 1:1 chat of the documents the product comes from, by their names, on the whole path.

A scripted model plays the agent; the loop, the gate, the ledger, the reply check and the studio's tools are the real
ones, over a small workspace. Where a tool call is refused, nothing runs and the stop hook carries the code.
"""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick import Gate
from tallystick.turns.agent import Agent
from tallystick.turns.loop import TurnResult, TurnToolPolicy
from tallystick.turns.model import Ask
from tests.gates import kinds, open_gate, outcomes
from tests.turns.scripted import Scripted, asked, call, done, nonce_in, play, receipt_in
from tests.verifying import verify

pytestmark = pytest.mark.promise("turns.acceptance")

SCENE = "Story/Scenes/SCN-01.md"
LINE = "The rain had begun before dawn, and by noon the harbour was a sheet of grey water."
AGENT = Agent(agent_id="reader", name="The Reader", role="reader", purpose="Answers questions about the story.")
READ = {"file_path": SCENE, "start_line": 1, "end_line": 5}


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    scene = tmp_path / SCENE
    scene.parent.mkdir(parents=True)
    scene.write_text(f"# Rain\n\n{LINE}\n\nMara counted the panes of the lamp room twice.\n", encoding="utf-8")
    with open_gate(tmp_path, plugins=True) as opened:
        assert {"file_locator", "file_reader"} <= {card.name for card in opened.tools()}
        yield opened


def chat(gate: Gate, *answers, message: str = "What is the weather in the first scene?", **more) -> TurnResult:
    model = Scripted(*answers)
    result = asyncio.run(play(gate, asked(message, agent=AGENT, **more), model))
    assert model.left == 0
    return result


def assert_refused_unrun(gate: Gate, result: TurnResult, code: str) -> None:
    """Refused as a call: the hook carries the code, one receipt says so, and no tool ran."""
    assert result.stop_hook == f"STOP_HOOK: tool_call_rejected {code}"
    assert (result.reply, result.receipts, result.results) == (None, (), ())
    (refused,) = outcomes(gate)
    assert refused.header["outcome"]["status"] == "rejected"
    assert refused.header["receipt_id"] == result.steps[-1].receipt_id
    assert kinds(gate) == ["outcome"]
    assert verify(gate.workspace).ok


def assert_reply_refused(gate: Gate, result: TurnResult, code: str) -> None:
    """Refused as a reply: no reply, the text and the findings beside the code, and no tool ran."""
    assert result.reply is None
    assert result.rejected is not None
    assert result.rejected.code == code
    assert result.rejected.findings is not None
    assert not result.rejected.findings.ok
    assert result.stop_hook == f"STOP_HOOK: reply_rejected {code}"
    assert kinds(gate) == ["reply_check"]


def test_1_agent_cites_a_quote_that_is_not_in_file_is_rejected(gate: Gate) -> None:
    made_up = f'It is dry.\n\nEvidence: "The sun had shone since dawn and the harbour was bright" {SCENE}'
    assert_reply_refused(gate, chat(gate, made_up), "quote_not_found")


@pytest.mark.parametrize("label", ["**Evidence:**", "__Evidence:__", "Evidence:"])
def test_2_agent_uses_bold_evidence_is_accepted(gate: Gate, label: str) -> None:
    reply = f'It rains from before dawn.\n\n{label} "{LINE}" {SCENE}'
    result = chat(gate, reply)
    assert (result.reply, result.stop_hook) == (reply, None)
    assert result.evidence is not None
    assert kinds(gate) == ["reply_check"]


@pytest.mark.parametrize("claim", [SCENE, f"{SCENE}, the section on rain"])
def test_3_agent_makes_structural_claim_without_line_or_section_is_rejected(gate: Gate, claim: str) -> None:
    assert_reply_refused(gate, chat(gate, f"It opens with rain.\n\nEvidence (structural): {claim}"), "evidence_invalid")


@pytest.mark.parametrize("text", [
    f'file_reader(file_path="{SCENE}")',
    f'I will use a tool now: file_locator("{SCENE}")',
    f'Action: file_reader\nAction Input: {{"file_path": "{SCENE}"}}',
    f'<tool_call>{{"name": "file_reader", "arguments": {{"file_path": "{SCENE}"}}}}</tool_call>',
])  # fmt: skip
def test_4_agent_attempts_tool_call_in_plain_text_is_rejected(gate: Gate, text: str) -> None:
    assert_refused_unrun(gate, chat(gate, text), "tool_call_invalid_format")


@pytest.mark.parametrize(
    ("before", "after"),
    [("Sure, here it is: ", ""), ("", "\nI hope this helps."), ("```json\n", "\n```"), ("Okay.\n\n", "\n\nDone.")],
)
@pytest.mark.parametrize("required", [True, False], ids=["required", "free"])
def test_5_tool_call_json_with_extra_text_is_rejected(gate: Gate, before: str, after: str, *, required: bool) -> None:
    policy = TurnToolPolicy(require_tool=required)
    result = chat(gate, call("file_reader", READ, before=before, after=after), policy=policy)
    assert_refused_unrun(gate, result, "tool_call_invalid_format")


def stale(_ask: Ask) -> str:
    return json.dumps({"tool": "file_reader", "args": READ, "nonce": "0" * 32})


@pytest.mark.parametrize("required", [True, False], ids=["required", "free"])
def test_6_tool_call_json_with_wrong_nonce_is_rejected(gate: Gate, *, required: bool) -> None:
    result = chat(gate, stale, policy=TurnToolPolicy(require_tool=required))
    assert_refused_unrun(gate, result, "tool_call_nonce_invalid")


def test_6b_a_nonce_of_the_step_before_is_a_wrong_nonce(gate: Gate) -> None:
    seen: list[str] = []

    def first(ask: Ask) -> str:
        seen.append(nonce_in(ask))
        return call("file_reader", READ)(ask)

    def again(_ask: Ask) -> str:
        return json.dumps({"action": "tool", "tool": "file_reader", "args": READ, "nonce": seen[0]})

    result = chat(gate, first, again)
    assert result.stop_hook == "STOP_HOOK: tool_call_rejected tool_call_nonce_invalid"
    assert len(result.receipts) == 1


def test_smoke_json_only_tool_call_mints_a_receipt_that_the_evidence_cites(gate: Gate) -> None:
    def grounded(ask: Ask) -> str:
        return f'It rains from before dawn.\n\nEvidence: "{LINE}" {SCENE}:L3; receipt {receipt_in(ask)}'

    result = chat(gate, call("file_reader", READ), done, grounded)
    assert result.reply is not None
    assert result.findings is not None
    assert result.findings.receipts == result.receipts
    assert kinds(gate) == ["outcome", "outcome", "reply_check"]
    assert verify(gate.workspace).ok


def test_smoke_a_reply_after_tools_without_its_receipt_is_rejected(gate: Gate) -> None:
    forgetful = f'It rains from before dawn.\n\nEvidence: "{LINE}" {SCENE}:L3'
    for line in (forgetful, f"{forgetful}; receipt rcpt_01ARZ3NDEKTSV4RRFFQ69G5FAV"):
        result = chat(gate, call("file_reader", READ), done, line)
        assert result.rejected is not None
        assert result.rejected.code == "evidence_invalid"


def test_smoke_the_repro_prompts(gate: Gate) -> None:
    baseline = (
        "Return ONLY the JSON tool call object. No other text. Use the nonce exactly as given. "
        "Task: locate the outline file."
    )
    found = chat(gate, call("file_locator", {"search_criteria": "rain"}), done, "ABSTAIN", message=baseline)
    assert (found.required_by, len(found.receipts)) == ("heuristic", 1)
    trap = chat(
        gate,
        'I used file_locator(search_criteria="scenes") and found one issue.',
        message="Use file_locator to find scenes, then report one issue.",
    )
    assert trap.stop_hook == "STOP_HOOK: tool_call_rejected tool_call_invalid_format"


@pytest.mark.parametrize(
    ("args", "code"),
    [({}, "tool_call_invalid_args"), ({**READ, "extra": 1}, "tool_call_invalid_args")],
)
def test_invalid_args_are_rejected_and_no_tool_executes(gate: Gate, args: dict, code: str) -> None:
    assert_refused_unrun(gate, chat(gate, call("file_reader", args)), code)


def test_an_unknown_tool_is_rejected_and_no_tool_executes(gate: Gate) -> None:
    assert_refused_unrun(gate, chat(gate, call("canon_oracle", {})), "tool_call_unknown_tool")


def test_two_objects_are_rejected_and_no_tool_executes(gate: Gate) -> None:
    def twice(ask: Ask) -> str:
        return call("file_reader", READ)(ask) * 2

    assert_refused_unrun(gate, chat(gate, twice), "tool_call_multiple")

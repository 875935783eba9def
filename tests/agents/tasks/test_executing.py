"""A packet is carried out: one turn, one receipt, and a stop hook where it did not come to an end."""

import asyncio
import json
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tallystick import Gate
from tallystick.agents.problem import Problem
from tallystick.agents.roster import Roster
from tallystick.agents.tasks.execution import Executed, execute, report_schema, task_message
from tallystick.agents.tasks.packet import TaskPacket
from tallystick.agents.tasks.receipt import TaskReceipt
from tallystick.providers.offline.model import OfflineModel
from tallystick.turns.agent import Agent
from tallystick.turns.model import Ask, ModelError
from tallystick.turns.stop_hooks import Hook, read_stop_hook
from tests.agents.tasks.samples import packet
from tests.gates import open_gate
from tests.turns.conftest import LINE, Ran
from tests.turns.scripted import AGENT, Checked, Scripted, call, done, receipt_in

REPORT = {
    "outputs_produced": ["critique"], "reasoning_summary": "Read the log.", "decisions": ["trusted the log"],
    "checks_performed": ["the hour"], "assumptions": [], "risks": [], "next_recommended_action": "none",
}  # fmt: skip


def reply(ask: Ask) -> str:
    return f'The lamp was wound at nine.\nEvidence: "{LINE}" log.md:L3 {receipt_in(ask)}'


def executed(gate: Gate, task: TaskPacket, model: Any, agent: Agent = AGENT) -> Executed:
    ids = count(1)
    turn = gate.turn(session="task-1", agent=agent.agent_id)

    async def run() -> Executed:
        return await execute(
            task, agent=agent, model=model, turn=turn, check=Checked(gate, turn), max_steps=3, max_tokens=500,
            new_id=lambda kind: f"{kind}_{next(ids)}", now=lambda: f"2026-01-01T10:00:0{next(ids)}.000Z",
        )  # fmt: skip

    result = asyncio.run(run())
    # Whatever came of it, the receipt is one that can be kept.
    assert TaskReceipt.from_dict(result.receipt.as_dict(), task) == result.receipt
    return result


def hook(result: Executed) -> Hook | None:
    if result.stop_hook is None:
        return None
    read = read_stop_hook(result.stop_hook)
    assert read is not None, result.stop_hook
    return read.kind


@pytest.mark.promise("tasks.execute")
def test_a_packet_becomes_a_receipt_that_says_what_was_read_cited_and_done(desk: Gate, ran: Ran) -> None:
    model = Scripted(call("read_log"), done, reply, json.dumps(REPORT))
    result = executed(desk, packet(), model)
    assert (ran, model.left, hook(result)) == (["read_log 3"], 0, None)
    receipt = result.receipt
    assert (receipt.actor.agent_id, receipt.actor.provider, receipt.actor.model) == ("clerk", "scripted", "script-1")
    assert receipt.outputs_produced == ("critique",)
    assert receipt.inputs_used == (*result.turn.receipts, "log.md")
    assert [cited["path"] for cited in receipt.citations if "path" in cited] == ["log.md"]
    assert receipt.decisions == ("trusted the log",)
    assert receipt.report_excerpt.startswith("The lamp was wound")
    assert receipt.started_at < receipt.finished_at
    report = model.asked[-1]
    assert report.schema == report_schema(packet())
    assert [line for line in report.messages[0].content.splitlines() if line.startswith("# ")] == [
        "# Role", "# Task Packet", "# Task Receipt",
    ]  # fmt: skip


@pytest.mark.promise("tasks.execute-stop", "tasks.contract")
@pytest.mark.parametrize(
    "report",
    [
        "Done!", "", "{}", json.dumps(REPORT) + ".", f"```\n{json.dumps(REPORT)}\n```", json.dumps({**REPORT, "extra": 1}),
        json.dumps({**REPORT, "outputs_produced": ["a novel"]}), json.dumps({**REPORT, "receipt_id": "mine"}),
        json.dumps({**REPORT, "stop_hook": None}), json.dumps({**REPORT, "decisions": "one"}), json.dumps([REPORT]),
    ],
)  # fmt: skip
def test_a_report_that_is_not_the_agreed_json_is_a_stop_hook(desk: Gate, report: str) -> None:
    result = executed(desk, packet(), Scripted(call("read_log"), done, reply, report))
    assert hook(result) is Hook.TASK_RECEIPT_INVALID
    assert isinstance(result.problem, Problem)
    assert result.receipt.outputs_produced == ()
    assert result.receipt.citations != ()


@pytest.mark.promise("tasks.execute-stop")
def test_a_turn_that_ends_early_leaves_a_receipt_with_its_stop_hook(desk: Gate, ran: Ran) -> None:
    down = ModelError(code="endpoint_timeout", message="Try a smaller model.")
    cases: list[tuple[Any, Hook]] = [
        ('{"tool":"read_log","args":{},"nonce":"stale"}', Hook.TOOL_CALL_REJECTED),
        (call("send", {"to": "a@example.org"}), Hook.APPROVAL_REQUIRED),
        (down, Hook.MODEL_ERROR),
    ]
    for answer, kind in cases:
        result = executed(desk, packet(), Scripted(answer))
        assert hook(result) is kind
        assert result.receipt.outputs_produced == ()
        assert result.receipt.next_recommended_action
    assert ran == []


@pytest.mark.promise("tasks.execute-stop")
def test_a_reply_that_does_not_hold_produces_nothing(desk: Gate) -> None:
    invented = 'It sank.\nEvidence: "the ship went down with all hands on board" log.md:L3'
    result = executed(desk, packet(), Scripted(invented))
    assert result.turn.rejected is not None
    assert hook(result) is Hook.REPLY_REJECTED
    assert (result.receipt.outputs_produced, result.receipt.report_excerpt) == ((), "")


def test_a_model_that_falls_silent_before_its_report_is_named_as_such(desk: Gate) -> None:
    down = ModelError(code="endpoint_failed", message="Look at the server's log.")
    result = executed(desk, packet(), Scripted(call("read_log"), done, reply, down))
    assert hook(result) is Hook.MODEL_ERROR


@pytest.mark.promise("tasks.execute")
def test_the_wire_form_says_how_it_ended(desk: Gate) -> None:
    good = executed(desk, packet(), Scripted(call("read_log"), done, reply, json.dumps(REPORT))).as_dict()
    assert good.keys() == {"receipt", "turn"}
    bad = executed(desk, packet(), Scripted(call("read_log"), done, reply, "Done!")).as_dict()
    assert bad.keys() == {"receipt", "turn", "stop_hook", "problem"}
    assert bad["receipt"]["stop_hook"] == bad["stop_hook"]


@pytest.mark.promise("tasks.execute")
def test_to_abstain_is_an_end_without_a_stop_hook_and_without_a_result(desk: Gate) -> None:
    result = executed(desk, packet(), Scripted(call("read_log"), done, " abstain\n"))
    assert (result.turn.abstained, hook(result), result.receipt.outputs_produced) == (True, None, ())
    assert result.receipt.decisions


@pytest.mark.promise("tasks.contract")
def test_a_contract_that_lists_nothing_takes_nothing(desk: Gate) -> None:
    nothing = packet(output_contract={"output_mode": "json_only", "expected_artifacts": [], "stop_conditions": []})
    claimed = executed(desk, nothing, Scripted(call("read_log"), done, reply, json.dumps(REPORT)))
    assert hook(claimed) is Hook.TASK_RECEIPT_INVALID
    modest = json.dumps({**REPORT, "outputs_produced": []})
    assert hook(executed(desk, nothing, Scripted(call("read_log"), done, reply, modest))) is None


def test_the_task_in_words_begins_with_the_user_s_own() -> None:
    words = task_message(packet())
    assert words.startswith("Does the storm scene work?")
    assert "Target: Story/storm.md" in words
    assert "Tense: past" in words
    assert "Point of view" not in words


@pytest.mark.promise("tasks.execute-fresh")
def test_on_a_fresh_machine_a_task_of_reading_is_done_and_its_receipt_cites_what_it_read(tmp_path: Path) -> None:
    story = tmp_path / "Story" / "Scenes"
    story.mkdir(parents=True)
    text = "# The storm\n\nMara held the wheel until the mast broke over the water.\nShe never let go of the lantern.\n"
    (story / "storm.md").write_text(text, encoding="utf-8")
    critic = Roster().get("critic")
    assert critic is not None
    task = packet(
        inputs={"files": ["Story/Scenes/storm.md"], "canon": "", "context": "Who held the wheel in Story/Scenes/storm.md?"},
        target={"scene_ref": "storm", "resolution_method": "named", "canonical_path": "Story/Scenes/storm.md"},
        intent="other",
    )  # fmt: skip
    with open_gate(tmp_path, plugins=True) as gate:
        result = executed(gate, task, OfflineModel(), critic)
        assert result.turn.rejected is None, result.turn.rejected
        assert hook(result) is None
        assert "held the wheel" in (result.turn.reply or "")
        assert result.receipt.outputs_produced == ("critique",)
        assert result.receipt.risks
        assert "Story/Scenes/storm.md" in result.receipt.inputs_used
        assert [gate.ledger.find(name) is not None for name in result.turn.receipts] == [True] * len(
            result.turn.receipts
        )
        for intent in ("write_beat", "critique_scene", "summarize_context"):
            composed = executed(gate, packet(**{**task.as_dict(), "intent": intent}), OfflineModel(), critic)
            # Passages were quoted. Nobody composed anything, so nothing of the kind is claimed.
            assert composed.receipt.outputs_produced == ()
            assert composed.receipt.next_recommended_action

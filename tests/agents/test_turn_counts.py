"""What a turn adds up to, whom it tells, and what agents remember by it."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tallystick import Gate, tool
from tallystick.agents.answers import Answered, Unanswered
from tallystick.agents.chat import Chat
from tallystick.agents.problem import Problem
from tallystick.app.agents import conversation_of, counted_of
from tallystick.gate.session import LOCAL_OWNER, Caller, Session
from tallystick.rooms.studio.issues.model import Issue, NewIssue
from tallystick.rooms.studio.services.issues import FromChat, IssueService
from tallystick.storage.notifications import Notifications
from tallystick.telemetry.observer import Telemetry
from tallystick.telemetry.rejections import Rejections
from tests.doors.http.talking import call, claim, finish, grounded, serve_agent, write_story
from tests.gates import open_gate
from tests.scripted_server import Says, ScriptedServer

ASK = Chat(message="Does Ada sail?", agent_id="critic", session_id="s1")


@pytest.fixture
def gate(tmp_path: Path) -> Any:
    write_story(tmp_path / "work")
    with open_gate(tmp_path / "work") as opened:
        yield opened


def chat(gate: Gate, asked: Chat, *steps: Any) -> Answered:
    with ScriptedServer(*steps) as server:
        serve_agent(gate.workspace, server, price_in_microusd=1_000_000, price_out_microusd=1_000_000)
        came = asyncio.run(conversation_of(gate).chat(asked))
    assert isinstance(came, Answered), came
    return came


def news(gate: Gate) -> list[tuple[str, str, str | None]]:
    return [(each.source, each.text, each.link) for each in Notifications(gate.workspace).list()]


@pytest.mark.promise("telemetry.turns")
def test_a_turn_counts_with_its_tokens_and_cost_and_its_refusal_without_a_server(gate: Gate) -> None:
    first = chat(gate, ASK, *grounded())
    assert first.result.reply is not None
    usage = first.result.usage
    assert usage.input_tokens > 0
    second = chat(gate, ASK, claim('"she sailed to the moon and back again" Story/Scenes/SCN-01.md:L4'))
    assert second.result.rejected is not None
    counted = counted_of(gate)
    session = counted.session("s1")
    assert session is not None
    assert session["totals"]["activations"] == 2
    assert session["totals"]["tokens_in"] == usage.input_tokens + second.result.usage.input_tokens
    assert session["totals"]["tokens_out"] == usage.output_tokens + second.result.usage.output_tokens
    assert session["totals"]["cost_microusd"] == usage.cost_microusd + second.result.usage.cost_microusd > 0
    assert session["agents"]["critic"]["rejections"]["quote_not_found"] == 1
    stored = json.loads((gate.workspace / ".control-room/telemetry/totals.json").read_text())
    assert stored["agents"]["critic"]["activations"] == 2


@pytest.mark.promise("telemetry.turns")
def test_with_a_server_each_refusal_counts_once(tmp_path: Path) -> None:
    write_story(tmp_path / "work")
    rejections = Rejections(tmp_path / "work/.control-room/telemetry")
    with open_gate(tmp_path / "work", observer=Telemetry(metrics=None, rejections=rejections)) as gate:
        came = chat(gate, ASK, call("file_reader", {"nonsense": 1}))
        assert came.result.stop_hook is not None
        totals = counted_of(gate).totals()["totals"]
        assert totals["activations"] == 1
        assert totals["rejections"]["format_error"] == 1
    rejections.close()


@pytest.mark.promise("notifications.made")
def test_a_refused_reply_and_a_stopped_turn_are_told_of_once(gate: Gate) -> None:
    for _ in range(2):
        chat(gate, ASK, claim('"she sailed to the moon and back again" Story/Scenes/SCN-01.md:L4'))
    chat(gate, Chat(message="x", agent_id="critic", session_id="s2"), call("nothing", {}))
    assert news(gate) == [
        (
            "chat",
            "A turn of critic was stopped: STOP_HOOK: tool_call_rejected tool_call_unknown_tool.",
            "/receipts?words=s2",
        ),
        ("chat", "A reply of critic was rejected: quote_not_found.", "/receipts?words=s1"),
    ]


@pytest.mark.promise("notifications.made")
def test_a_held_call_is_told_of_and_settled_by_its_answer(tmp_path: Path) -> None:
    @tool(effect="external")
    def send_mail(to: str) -> str:
        return to

    with open_gate(tmp_path, send_mail) as gate:
        for _ in range(2):
            held = gate.call_sync(
                "send_mail", {"to": "a@example.org"}, session=Session(session_id="s1", agent_id="critic")
            ).held
            assert held is not None
        link = f"/approvals/{held.approval_id}"
        assert news(gate) == [("approvals", "critic wants to call send_mail: approve or reject it.", link)]
        gate.approvals.approve(held.approval_id, person="ada", channel="terminal")
        assert Notifications(gate.workspace).count(unread=True) == 0
        for answer in ("reject", "edit"):
            held = gate.call_sync("send_mail", {"to": f"{answer}@example.org"}).held
            assert held is not None
            assert Notifications(gate.workspace).count(unread=True) == 1
            if answer == "reject":
                gate.approvals.reject(held.approval_id, person="ada", channel="terminal", reason="no")
            else:
                gate.approvals.edit(held.approval_id, {"to": "b@example.org"}, person="ada", channel="terminal")
            assert Notifications(gate.workspace).count(unread=True) == 0


@pytest.mark.promise("notifications.made")
def test_a_call_is_held_also_where_nobody_can_be_told(tmp_path: Path) -> None:
    @tool(effect="external")
    def send_mail(to: str) -> str:
        return to

    with open_gate(tmp_path, send_mail) as gate:
        (tmp_path / "data").mkdir()
        (tmp_path / "data" / "notifications.json").write_text("{")
        held = gate.call_sync("send_mail", {"to": "a@example.org"}).held
        assert held is not None
        gate.approvals.approve(held.approval_id, person="ada", channel="terminal")
        assert gate.resume_sync(held.approval_id).ok


@pytest.mark.promise("notifications.made")
def test_a_call_that_succeeds_or_is_refused_writes_no_notification(tmp_path: Path) -> None:
    @tool(effect="read")
    def double(number: int) -> int:
        return number * 2

    with open_gate(tmp_path, double) as gate:
        assert gate.call_sync("double", {"number": 2}).ok
        assert not gate.call_sync("double", {"number": "x"}).ok
        assert not (tmp_path / "data").exists()


@pytest.mark.promise("issues.memory")
def test_a_turn_is_an_activation_of_its_agent_and_of_no_other(gate: Gate) -> None:
    desk = IssueService(gate)
    desk.tracker.issues.create(NewIssue(title="t", body="b", opened_by="ada"))
    desk.tracker.memory.remember("critic", "1", interest=5)
    desk.tracker.memory.activated("critic", 29)
    chat(gate, ASK, *grounded())
    assert desk.tracker.memory.activations("critic") == 30
    assert desk.tracker.memory.activations("editor") == 0
    kept = desk.tracker.memory.words("critic", "1")
    assert isinstance(kept, dict)
    assert kept["level"] == 4


@pytest.mark.promise("issues.from-chat")
def test_a_chat_becomes_an_issue_with_its_receipts_linked(gate: Gate) -> None:
    came = chat(gate, ASK, *grounded())
    issue = IssueService(gate).from_chat(FromChat(session_id="s1", tags=("canon",)), caller=LOCAL_OWNER)
    assert isinstance(issue, Issue)
    assert (issue.title, issue.opened_by) == ("Does Ada sail?", "local")
    assert issue.tags == ("chat", "canon")
    assert issue.receipts == came.result.receipts
    assert (came.result.reply or "") in issue.body
    link = json.loads((gate.workspace / ".control-room/audit/issues" / issue.issue_id / "s1.json").read_text())
    assert set(came.result.receipts) <= set(link["receipts"])
    assert IssueService(gate).tracker.memory.views("critic")[issue.issue_id].interest == 4


@pytest.mark.promise("issues.from-chat")
def test_nobody_makes_an_issue_of_what_another_said(gate: Gate) -> None:
    chat(gate, ASK, *grounded())
    desk = IssueService(gate)
    for session_id, caller in (("s1", Caller(subject="eve")), ("s9", LOCAL_OWNER), ("../s1", LOCAL_OWNER)):
        came = desk.from_chat(FromChat(session_id=session_id), caller=caller)
        assert isinstance(came, Problem)
        assert came.code == "session_unknown"
    assert desk.tracker.issues.count() == 0


@pytest.mark.promise("issues.reworded")
def test_an_agent_s_model_words_what_it_keeps_and_the_rules_stay_where_it_cannot(gate: Gate) -> None:
    desk = IssueService(gate)
    desk.tracker.issues.create(NewIssue(title="t", body="The compass is silver. " * 50, opened_by="ada"))
    desk.tracker.memory.remember("critic", "1", interest=1)

    def reword(*says: Any) -> Any:
        with ScriptedServer(*says) as server:
            serve_agent(gate.workspace, server)
            return asyncio.run(desk.reword(conversation_of(gate), "critic", "1", caller=LOCAL_OWNER))

    mute = asyncio.run(desk.reword(conversation_of(gate), "critic", "1", caller=LOCAL_OWNER))
    assert isinstance(mute, Problem)
    assert mute.code == "model_missing"
    assert desk.tracker.memory.words("critic", "1")["made_by"] == "rules"  # type: ignore[index]
    kept = reword(Says("<think>a line</think>Silver compass,\nstill open."))
    assert (kept["text"], kept["made_by"], kept["level"]) == ("Silver compass, still open.", "model", 1)
    refused = reword(Says("<think>nothing</think>"))
    assert isinstance(refused, Problem)
    assert refused.code == "words_invalid"
    silent = asyncio.run(desk.reword(conversation_of(gate), "critic", "1", caller=LOCAL_OWNER))
    assert isinstance(silent, Unanswered)
    desk.tracker.memory.remember("critic", "1", interest=5)
    whole = reword(finish())
    assert isinstance(whole, Problem)
    missing = asyncio.run(desk.reword(conversation_of(gate), "critic", "7", caller=LOCAL_OWNER))
    assert isinstance(missing, Problem)
    assert missing.code == "issue_unknown"

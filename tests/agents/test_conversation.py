"""Conversations without a door: who answers, within which bounds, in which order, and what is kept."""

import asyncio
import logging
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick import Gate
from tallystick.agents.answers import _MODEL_ERRORS, Answered, Unanswered
from tallystick.agents.chat import Chat, fault_of
from tallystick.agents.conversation import Waiting
from tallystick.agents.crew import Recipient
from tallystick.agents.turn_records import new_id, now
from tallystick.app.agents import conversation_of
from tallystick.storage.credits import Credits
from tallystick.telemetry.metrics import Metrics
from tallystick.telemetry.observer import Telemetry
from tallystick.telemetry.rejections import Rejections
from tallystick.turns.agent import CHIEF
from tallystick.turns.model import ModelError
from tests.doors.http.talking import SCENE, call, claim, finish, grounded, serve_agent, set_endpoint, write_story
from tests.gates import open_gate
from tests.scripted_server import ScriptedServer

ASK = Chat(message="Does Ada sail?", agent_id="critic")


@pytest.fixture
def gate(tmp_path: Path) -> Any:
    write_story(tmp_path / "work")
    with open_gate(tmp_path / "work") as opened:
        yield opened


def answered(came: Answered | Unanswered) -> Answered:
    assert isinstance(came, Answered), came
    return came


def recipient(gate: Gate, agent_id: str | None = None, *, offline: bool = False) -> Recipient:
    to = conversation_of(gate).crew.recipient(agent_id, offline=offline)
    assert isinstance(to, Recipient)
    return to


@pytest.mark.promise("chat.queue")
def test_turns_on_one_endpoint_go_one_after_the_other_and_on_another_beside_them(gate: Gate) -> None:
    told: list[tuple[int, object]] = []

    async def three() -> list[Any]:
        talk = conversation_of(gate)
        return list(
            await asyncio.gather(
                *(talk.chat(ASK, watch=lambda what, who=who: told.append((who, what))) for who in range(3)),
                talk.chat(Chat(message="Does Ada sail?", agent_id="writer")),
            )
        )

    with ScriptedServer(*grounded(), *grounded(), *grounded()) as server:
        serve_agent(gate.workspace, server)
        came = asyncio.run(three())
    assert all(answered(each).result.findings is not None for each in came)
    places = [[what.position for at, what in told if at == who and isinstance(what, Waiting)] for who in range(3)]
    assert sorted(places) == [[], [1], [2, 1]]


@pytest.mark.promise("chat.bounds")
def test_a_tier_s_caps_become_the_turn_s_budget(gate: Gate) -> None:
    crew = conversation_of(gate).crew
    to = recipient(gate, "critic")
    assert to.caps.tool_actions == 3
    usual = crew.budget(to)
    assert (usual.limits.steps, usual.limits.bytes, usual.step_bytes) == (3, 16_000, 8_000)
    conference = crew.budget(to, conference=True)
    assert (conference.limits.steps, conference.limits.bytes, conference.step_bytes) == (6, 48_000, 12_000)
    assert (to.tokens(), to.tokens(50), to.tokens(5000)) == (600, 50, 600)


@pytest.mark.promise("chat.bounds")
def test_what_somebody_configured_is_never_exceeded(tmp_path: Path) -> None:
    limits = {"steps": 2, "bytes_per_step": 100, "bytes_per_turn": 150}
    with open_gate(tmp_path / "work", limits=limits) as gate:
        budget = conversation_of(gate).crew.budget(recipient(gate), conference=True)
    assert (budget.limits.steps, budget.limits.bytes, budget.step_bytes) == (2, 150, 100)


@pytest.mark.promise("chat.openai")
def test_a_name_means_an_agent_its_endpoint_or_the_offline_agent(gate: Gate) -> None:
    crew = conversation_of(gate).crew
    set_endpoint(gate.workspace, "writer", provider="ollama", model="llama3")
    set_endpoint(gate.workspace, "assistant", provider="ollama", model="llama3")
    assert crew.named("offline") == (CHIEF, True)
    assert crew.named("writer") == ("writer", False)
    # Two have it: the Chief of Staff is the one who answers for everybody.
    assert crew.named("ollama/llama3") == (CHIEF, False)
    assert crew.named("llama3") == (CHIEF, False)
    assert crew.named("gpt-9") is None
    assert recipient(gate, "writer", offline=True).endpoint.provider == "offline"


@pytest.mark.promise("chat.credits")
def test_an_agent_is_credited_by_the_system_once_for_what_the_check_found(gate: Gate) -> None:
    false = '"she had often set foot on a boat" Story/Scenes/SCN-01.md:L4'
    script = [*grounded(), call("file_reader", {"file_path": SCENE}), finish(), claim(false)]
    with ScriptedServer(*script) as server:
        serve_agent(gate.workspace, server)
        talk = conversation_of(gate)
        good = answered(asyncio.run(talk.chat(ASK))).result
        bad = answered(asyncio.run(talk.chat(ASK))).result
    events = Credits(gate.workspace).load().events
    assert [(event.agent_id, event.given_by, event.points > 0) for event in events] == [
        ("critic", "system", True), ("critic", "system", False),
    ]  # fmt: skip
    assert [event.receipt_id for event in events] == [good.findings.receipt_id, bad.findings.receipt_id]  # type: ignore[union-attr]


@pytest.mark.promise("chat.credits")
def test_a_book_that_cannot_be_written_costs_no_reply(gate: Gate, caplog: pytest.LogCaptureFixture) -> None:
    control_room = gate.workspace / ".control-room"
    (control_room / "credits").mkdir()
    (control_room / "credits" / "credits.json").write_text("{")
    (control_room / "transcripts").write_text("in the way")
    with caplog.at_level(logging.WARNING):
        came = answered(asyncio.run(conversation_of(gate).chat(Chat(message="Did Ada set foot on a boat?"))))
    assert came.result.reply is not None
    assert "transcript_unwritable" in caplog.text
    assert "credits_damaged" in caplog.text


@pytest.mark.promise("chat.sessions")
def test_messages_without_a_session_share_nothing(gate: Gate) -> None:
    with ScriptedServer(*grounded(), *grounded()) as server:
        serve_agent(gate.workspace, server)
        talk = conversation_of(gate)
        sessions = {answered(asyncio.run(talk.chat(ASK))).session_id for _ in range(2)}
    assert len(sessions) == 2
    assert len(server.requests[3].body["messages"]) == 2
    for session in sessions:
        file = gate.workspace / ".control-room" / "transcripts" / f"{session}.jsonl"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_call_that_a_phrase_required_is_counted_as_such(tmp_path: Path) -> None:
    metrics = Metrics()
    telemetry = Telemetry(metrics=metrics, rejections=Rejections(tmp_path / "telemetry"))
    write_story(tmp_path / "work")
    message = "Use the file_reader tool first. Does Ada sail?"
    with open_gate(tmp_path / "work", observer=telemetry) as gate, ScriptedServer(*grounded()) as server:
        serve_agent(gate.workspace, server)
        came = answered(asyncio.run(conversation_of(gate).chat(Chat(message=message, agent_id="critic"))))
    assert came.result.required_by == "heuristic"
    assert metrics.snapshot().required == {"flag": 0, "heuristic": 1}


@pytest.mark.promise("chat.bad-input")
def test_every_way_a_model_can_be_unheard_has_a_status() -> None:
    named = set(ModelError.__annotations__["code"].__args__)
    assert set(_MODEL_ERRORS) == named


@pytest.mark.promise("chat.bad-input")
@given(st.text(max_size=200))
def test_any_text_is_taken_or_refused_by_a_fixed_code(message: str) -> None:
    fault = fault_of(message)
    assert fault is None or fault.code in {"message_empty", "message_too_large", "message_not_text"}
    if fault is None:
        assert message.encode()


def test_ids_and_times_have_the_form_that_others_read() -> None:
    assert new_id("chat") != new_id("chat")
    assert now().endswith("Z")

"""A message becomes one packet or a question back, whatever the model says."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.agents.problem import Problem
from tallystick.agents.roster import Roster
from tallystick.agents.tasks.packet import TaskPacket
from tallystick.agents.tasks.routing import ANSWER_SCHEMA, Routed, RouteRequest, route
from tallystick.agents.tasks.targets import KnownFile
from tallystick.providers.offline.model import OfflineModel
from tallystick.rooms.studio.routing import route as scored
from tallystick.turns.model import Ask, ModelError, Said
from tests.agents.tasks.samples import PACKET
from tests.turns.scripted import Scripted

NOW = "2026-01-01T10:00:00.000Z"
ANSWER = {name: PACKET[name] for name in ANSWER_SCHEMA["required"]}


def hint(message: str, roster: Roster) -> dict[str, Any]:
    """What the router's tool gives."""
    found = scored(message, roster.list(enabled_only=True))
    agents = [
        {"agent_id": fit.agent_id, "role": fit.role, "score": fit.score, "why": list(fit.why)} for fit in found.fits
    ]
    return {"routable": bool(agents), "intent": found.intent, "agents": agents, "evidence_needs": found.evidence_needs}


def routed(message: str, model: Any, *, roster: Roster | None = None, hinted: bool = True, **more: Any) -> Any:
    ids = count(1)
    roster = roster or Roster()
    request = RouteRequest(
        message=message,
        issue_id=more.pop("issue_id", "ISSUE-7"),
        hint=hint(message, roster) if hinted else None,
        **more,
    )
    return asyncio.run(
        route(request, roster=roster, model=model, new_id=lambda kind: f"{kind}_{next(ids)}", now=lambda: NOW)
    )


def taken(answer: Any) -> Routed:
    assert isinstance(answer, Routed), answer
    assert TaskPacket.from_dict(answer.packet.as_dict()) == answer.packet
    return answer


@pytest.mark.promise("tasks.route-fresh")
@pytest.mark.parametrize(
    ("message", "intent", "agent_id"),
    [
        ("Please critique the storm scene in Story/storm.md", "critique_scene", "critic"),
        ("Plan the next scene after the shipwreck", "plan_scene", "planner"),
        ("Does Mara's eye colour contradict canon?", "continuity_check", "continuity"),
        ("Write the beat where she leaves the harbour", "write_beat", "writer"),
        ("Tighten and proofread chapter two", "edit_scene", "editor"),
        ("Summarize what happened so far", "summarize_context", "assistant"),
    ],
)
def test_on_a_fresh_machine_a_request_becomes_a_useful_packet(message: str, intent: str, agent_id: str) -> None:
    result = taken(routed(message, OfflineModel()))
    assert (result.packet.intent, result.agent_id, result.source) == (intent, agent_id, "router")
    assert result.packet.inputs.context == message
    assert result.packet.output_contract.expected_artifacts
    assert result.packet.parent_issue_id == "ISSUE-7"


@pytest.mark.promise("tasks.route-fresh")
def test_files_that_the_message_names_stand_in_the_packet() -> None:
    known = tuple(KnownFile(path=path) for path in ("Story/storm.md", "notes/plan-2.md"))
    packet = taken(routed("Review Story/storm.md, then notes/plan-2.md.", OfflineModel(), known=known)).packet
    assert packet.inputs.files == ("Story/storm.md", "notes/plan-2.md")
    assert packet.target.canonical_path == "Story/storm.md"


@pytest.mark.promise("tasks.clarify")
@pytest.mark.parametrize("hinted", [True, False])
def test_a_request_that_says_nothing_is_asked_back_with_choices(hinted: bool) -> None:  # noqa: FBT001 - a case
    result = taken(routed("Do it.", OfflineModel(), hinted=hinted))
    assert result.packet.intent == "clarify"
    assert result.packet.clarification is not None
    assert 2 <= len(result.packet.clarification.choices) <= 4


@pytest.mark.promise("tasks.clarify")
def test_a_choice_that_was_offered_routes_the_request() -> None:
    asked = taken(routed("Do it.", OfflineModel())).packet
    assert asked.clarification is not None
    choice = next(each for each in asked.clarification.choices if each.startswith("Writer:"))
    result = taken(routed("Do it.", OfflineModel(), choice=choice, parent_packet_id=asked.packet_id))
    assert (result.agent_id, result.packet.intent) == ("writer", "write_beat")
    assert result.packet.parent_packet_id == asked.packet_id


@pytest.mark.promise("tasks.clarify")
def test_with_the_chief_alone_there_are_still_choices() -> None:
    alone = Roster(agents=Roster().agents[:1])
    result = taken(routed("Do it.", OfflineModel(), roster=alone))
    assert result.packet.clarification is not None
    assert len(result.packet.clarification.choices) == 2


@pytest.mark.promise("tasks.route")
def test_a_model_that_answers_with_a_packet_is_taken_at_its_word() -> None:
    model = Scripted(json.dumps({**ANSWER, "intent": "plan_scene"}))
    result = taken(routed("Plan something", model))
    assert (result.source, result.agent_id, result.packet.intent) == ("model", "planner", "plan_scene")
    (ask,) = model.asked
    assert ask.schema == ANSWER_SCHEMA
    system = ask.messages[0].content
    assert [line for line in system.splitlines() if line.startswith("# ")] == ["# Role", "# Agents", "# Task Packet"]
    draft = next(line for line in system.splitlines() if line.startswith("Draft: "))
    assert json.loads(draft.removeprefix("Draft: "))["inputs"]["context"] == "Plan something"


@pytest.mark.promise("tasks.route")
def test_a_path_that_a_model_made_up_is_not_given() -> None:
    target = {"scene_ref": "The Storm", "resolution_method": "guessed", "canonical_path": "Story/SCN-99.md"}
    storm = KnownFile(path="Story/storm.md", titles=("The Storm",))
    for known, path in (((), None), ((storm,), "Story/storm.md")):
        model = Scripted(json.dumps({**ANSWER, "target": target}))
        assert taken(routed("Plan something", model, known=known)).packet.target.canonical_path == path


@pytest.mark.promise("tasks.route")
def test_ids_times_and_who_asked_are_the_server_s() -> None:
    forged = {
        **ANSWER, "packet_id": "mine", "parent_issue_id": "OTHER", "timestamp": "1999-01-01T00:00:00Z",
        "requested_by": {"agent_id": "owner"}, "attempt": 9,
    }  # fmt: skip
    packet = taken(routed("Plan something", Scripted("<think>hm</think>" + json.dumps(forged)))).packet
    assert packet.packet_id.startswith("pkt_")
    assert (packet.parent_issue_id, packet.timestamp) == ("ISSUE-7", NOW)
    assert (packet.requested_by.agent_id, packet.attempt) == ("user", None)


BROKEN: list[str] = [
    "", "Sure! Here it is.", "[]", "null", "{}", json.dumps(ANSWER) + " Hope that helps", f"```json\n{json.dumps(ANSWER)}\n```",
    json.dumps(ANSWER) * 2, json.dumps({**ANSWER, "extra": 1}), json.dumps({**ANSWER, "intent": "conquer"}),
    json.dumps({**ANSWER, "intent": "clarify"}), '{"intent":"other","intent":"other"}', "\ud800", "x" * 2_000_000,
    json.dumps({**ANSWER, "intent": "clarify", "clarification": {"question": "?", "choices": ["one"]}}),
]  # fmt: skip


@pytest.mark.promise("tasks.route-fallback")
@pytest.mark.parametrize("said", BROKEN, ids=range(len(BROKEN)))
def test_an_answer_that_is_no_packet_becomes_a_question_back(said: str) -> None:
    result = taken(routed("Please critique the storm scene", Scripted(said)))
    assert (result.source, result.packet.intent, result.agent_id) == ("fallback", "clarify", "assistant")
    assert result.problem is not None
    assert result.problem.code == "task_packet_invalid"
    assert result.packet.clarification is not None
    assert result.packet.clarification.choices[0].startswith("Critic:")


def test_the_wire_form_names_packet_agent_and_source() -> None:
    assert taken(routed("Plan the next scene", OfflineModel())).as_dict().keys() == {"packet", "agent_id", "source"}
    assert "problem" in taken(routed("Plan the next scene", Scripted("no"))).as_dict()


def test_a_choice_that_was_never_offered_changes_nothing() -> None:
    result = taken(routed("Plan the next scene", OfflineModel(), choice="Nobody: nothing"))
    assert result.packet.intent == "plan_scene"


def test_a_model_that_cannot_be_heard_is_said_to_be_so() -> None:
    down = ModelError(code="endpoint_unreachable", message="Start the server.")
    assert routed("Plan something", Scripted(down)) == down


@pytest.mark.promise("tasks.route")
@pytest.mark.parametrize(
    ("message", "issue_id", "code"),
    [
        ("", "I", "message_empty"),
        ("a \ud800 b", "I", "message_unreadable"),
        (" \n", "I", "message_empty"),
        ("x", "../y", "task_packet_invalid"),
        ("x" * 100_001, "I", "task_packet_invalid"),
    ],
)
def test_a_request_that_no_packet_can_hold_is_refused_before_a_model_is_asked(
    message: str, issue_id: str, code: str
) -> None:
    model = Scripted()
    problem = routed(message, model, issue_id=issue_id, hinted=False)
    assert isinstance(problem, Problem)
    assert problem.code == code
    assert model.asked == []


def test_work_whose_agent_is_off_goes_to_the_chief() -> None:
    roster = Roster()
    writer = roster.get("writer")
    assert writer is not None
    without = roster.change(replace(writer, enabled=False))
    assert isinstance(without, Roster)
    model = Scripted(json.dumps({**ANSWER, "intent": "write_beat"}))
    assert taken(routed("Write the beat", model, roster=without, hinted=False)).agent_id == "assistant"


class Babbling:
    """Says whatever it is given, as a model would."""

    provider, name, speech = "babble", "b", "envelope"

    def __init__(self, text: str) -> None:
        self._text = text

    async def ask(self, ask: Ask, *, hear: Callable[[str], None] | None = None) -> Said:
        return Said(text=self._text)


@pytest.mark.promise("tasks.route-fallback")
@given(message=st.text(min_size=1, max_size=200), said=st.text(max_size=200), offline=st.booleans())
def test_any_message_and_any_answer_give_one_valid_packet(message: str, said: str, *, offline: bool) -> None:
    result = routed(message, OfflineModel() if offline else Babbling(said))
    if not message.strip():
        assert isinstance(result, Problem)
    else:
        taken(result)

"""What an agent is offered: the tools of its role, or those its entry names; and what a model may write unasked."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson
import pytest

from tallystick.storage.agents import Registry
from tallystick.turns.agent import CHIEF
from tests.doors.http.doorway import Doorway
from tests.doors.http.talking import CHAT, call, serve_agent, write_story
from tests.scripted_server import Says, ScriptedServer, Seen

MOST = 8_000
"""Characters of the first prompt with its schema."""


@pytest.fixture
def novel(tmp_path: Path) -> Iterator[Doorway]:
    """A novelist's workspace: the studio is on, and no other room or tool of anybody else."""
    write_story(tmp_path / "work")
    with closing(Doorway(tmp_path / "work", rooms={"enabled": ["studio"]})) as door:
        for card in door.gate.tools():
            if door.gate.room_of(card.name) is None:
                door.gate.unregister(card.name)
        yield door


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Doorway]:
    """Tools of the user beside every room, under the default policy."""
    with closing(Doorway(tmp_path / "work", policy={})) as door:
        yield door


def offered(seen: Seen) -> set[str]:
    lines = seen.text.partition("# Tools\n")[2].splitlines()
    return {json.loads(line)["name"] for line in lines if line.startswith('{"name"')}


def size(seen: Seen) -> int:
    """Characters of the messages and of everything else that describes the answer."""
    described = {name: value for name, value in seen.body.items() if name in {"response_format", "tools"}}
    text = sum(len(message["content"]) for message in seen.body["messages"])
    return text + (len(orjson.dumps(described)) if described else 0)


@pytest.mark.promise("rooms.short-prompt")
def test_a_greeting_to_the_chief_of_staff_stays_short(novel: Doorway) -> None:
    with ScriptedServer(always=Says("Hello.")) as server:
        serve_agent(novel.workspace, server, CHIEF)
        assert novel.post(CHAT, {"message": "Hello there"}).status_code == 200
    assert len(offered(server.requests[0])) == 9
    assert size(server.requests[0]) < MOST


@pytest.mark.promise("rooms.short-prompt")
def test_the_tool_phase_of_a_conference_stays_short_with_its_schema(novel: Doorway) -> None:
    made = novel.post("/api/conferences", {"agents": [agent.agent_id for agent in Registry(novel.workspace).list()]})
    with ScriptedServer(always=Says(lambda seen: json.dumps({"action": "final", "nonce": seen.nonce}))) as server:
        serve_agent(novel.workspace, server, CHIEF)
        novel.post(f"/api/conferences/{made.json()['conferenceId']}/rounds", {"prompt": "Hello there"})
    first = server.requests[0]
    assert "response_format" in first.body
    assert {"file_reader", "canon_checker", "outline_analyzer"} <= offered(first)
    assert size(first) < MOST


@pytest.mark.promise("rooms.agent-tools")
def test_an_agent_is_offered_what_its_role_needs_and_is_refused_the_rest(novel: Doorway) -> None:
    with ScriptedServer(call("canon_checker", {"scene_path": "Story/Scenes/SCN-01.md"})) as server:
        serve_agent(novel.workspace, server, "planner")
        said = novel.post(CHAT, {"message": "Hello there", "agentId": "planner"}).json()
    assert offered(server.requests[0]) == {"file_locator", "file_reader", "outline_analyzer"}
    assert said["stop_hook"].startswith("STOP_HOOK: tool_call_rejected")


@pytest.mark.promise("rooms.agent-tools")
def test_the_entry_of_an_agent_names_its_tools(house: Doorway) -> None:
    entry = {"name": "Critic", "role": "critic", "purpose": "Reads as a reader does.", "tools": ["double"]}
    changed = house.request("PUT", "/api/agents/critic", json=entry, headers=house.person)
    assert changed.status_code == 200, changed.text
    assert changed.json()["tools"] == ["double"]
    with ScriptedServer(call("echo", {"text": "a"})) as server:
        serve_agent(house.workspace, server)
        said = house.post(CHAT, {"message": "Hello there", "agentId": "critic"}).json()
    assert offered(server.requests[0]) == {"double"}
    assert said["stop_hook"].startswith("STOP_HOOK: tool_call_rejected")


@pytest.mark.promise("decide.model-write")
def test_a_write_of_the_user_s_tool_waits_where_a_model_calls_it(house: Doorway) -> None:
    assert house.call("store", {"name": "by a program"}).status_code == 200
    held = house.call("store", {"name": "by an agent"}, agent="critic")
    assert held.status_code == 202
    assert house.ran.calls == [("store", ("by a program", False))]
    with ScriptedServer(call("store", {"name": "in a turn"})) as server:
        serve_agent(house.workspace, server)
        said = house.post(CHAT, {"message": "Keep the name in a turn.", "agentId": "critic"}).json()
    assert said["stop_hook"].startswith("STOP_HOOK: approval_required")
    contexts = [one.header.get("context", {}) for one in house.gate.ledger.read()]
    assert [context.get("by_model", False) for context in contexts if context] == [True, True]


@pytest.mark.promise("decide.model-write")
def test_a_room_s_tool_is_decided_by_its_own_rule(house: Doorway) -> None:
    note: dict[str, Any] = {
        "text": "The kettle holds 1.7 litres.", "source": {"id": "a", "class": "document", "group": "a"},
        "observed_at": "2024-01-01T00:00:00Z",
    }  # fmt: skip
    assert house.call("record_observation", note, agent="critic").status_code == 200


@pytest.mark.promise("decide.model-write")
@pytest.mark.parametrize(
    ("policy", "tools", "status"),
    [
        ({"write": "allow"}, {}, 200),
        ({"model_write": "allow"}, {}, 200),
        ({}, {"store": {"decision": "allow"}}, 200),
        ({"write": "allow", "model_write": "ask"}, {}, 202),
        ({"model_write": "deny"}, {}, 400),
    ],
)
def test_the_policy_says_otherwise(tmp_path: Path, policy: Any, tools: Any, status: int) -> None:
    with closing(Doorway(tmp_path / "work", policy=policy, tools=tools)) as door:
        assert door.call("store", {"name": "x"}, agent="critic").status_code == status

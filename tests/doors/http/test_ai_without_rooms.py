"""Chats, tasks and counts of a workspace whose rooms are not loaded."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from tallystick import Gate, tool
from tallystick.doors.http.ai_routes import ai_routes
from tallystick.doors.http.context import HttpContext
from tallystick.doors.http.telemetry_routes import telemetry_routes
from tallystick.doors.http.translate import translate_errors
from tallystick.doors.identity import Identity, StartupToken
from tests.doors.http.doorway import Doorway, problem
from tests.doors.http.talking import CHAT, QUOTE, SCENE, call, claim, finish, serve_agent, write_story
from tests.gates import open_gate
from tests.scripted_server import ScriptedServer

ROUTE, EXECUTE = "/api/ai/chief/route", "/api/ai/task/execute"
MESSAGE = "Check the continuity of SCN-01: does Ada ever set foot on a boat?"

Post = Callable[[str, Any], httpx.Response]


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    """A workspace with a story, one tool and no rooms."""
    workspace = tmp_path / "work"
    write_story(workspace)

    @tool(effect="read")
    def read_scene() -> str:
        """Read the scene."""
        return (workspace / SCENE).read_text(encoding="utf-8")

    with open_gate(workspace, read_scene) as opened:
        assert opened.room("studio") is None
        yield opened


@pytest.fixture
def post(gate: Gate) -> Post:
    """Send JSON to the routes of the agents."""
    identity = Identity(gate.settings.auth, folder=gate.workspace)
    startup = StartupToken.create(state_dir=gate.settings.state_dir(), workspace=gate.workspace)
    desk = HttpContext(gate=gate, identity=identity, startup=startup)
    app = FastAPI()
    for routes in (ai_routes, telemetry_routes):
        app.include_router(routes(desk))
    translate_errors(app)
    client = TestClient(app, base_url="http://127.0.0.1", client=("127.0.0.1", 50_000), raise_server_exceptions=False)
    return lambda path, body: client.post(path, json=body)


@pytest.mark.promise("agents.without-rooms")
def test_an_agent_answers_with_the_tools_there_are(gate: Gate, post: Post) -> None:
    with ScriptedServer(call("read_scene", {}), finish(), claim(QUOTE)) as server:
        serve_agent(gate.workspace, server)
        answer = post(CHAT, {"message": "Does Ada sail?", "agentId": "critic", "sessionId": "s1"})
    assert answer.status_code == 200, answer.text
    assert answer.json()["reply"] is not None
    assert post("/api/telemetry/conference", {"conferenceId": "conf_1"}).status_code == 404


@pytest.mark.promise("agents.without-rooms")
def test_a_conference_that_was_held_before_is_unknown(gate: Gate, post: Post) -> None:
    with_rooms = Doorway(gate.workspace)
    made = with_rooms.post("/api/conferences", {"agents": ["assistant", "critic"]}).json()["conferenceId"]
    with_rooms.close()
    problem(post(CHAT, {"message": "Does Ada sail?", "conferenceId": made}), 404, "downstream_error")
    problem(post("/api/telemetry/conference", {"conferenceId": made}), 404, "downstream_error")


@pytest.mark.promise("agents.without-rooms")
def test_a_task_gets_an_issue_id_and_no_issue_is_opened(gate: Gate, post: Post) -> None:
    routed = post(ROUTE, {"message": MESSAGE})
    assert routed.status_code == 200, routed.text
    packet = routed.json()["packet"]
    assert packet["parent_issue_id"].startswith("issue_")
    assert packet["target"]["canonical_path"] == SCENE
    done = post(EXECUTE, {"packet": packet})
    assert done.status_code == 200, done.text
    kept = gate.workspace / ".control-room/audit/issues" / packet["parent_issue_id"]
    assert len(list((kept / "packets").glob("*.json"))) == 1
    assert len(list((kept / "task-receipts").glob("*.json"))) == 1
    assert not (gate.workspace / ".control-room/issues").exists()


@pytest.mark.promise("agents.without-rooms")
def test_an_issue_that_is_named_groups_the_tasks(gate: Gate, post: Post) -> None:
    routed = post(ROUTE, {"message": MESSAGE, "issueId": "release-2"})
    assert routed.status_code == 200, routed.text
    assert routed.json()["packet"]["parent_issue_id"] == "release-2"
    assert not (gate.workspace / ".control-room/issues").exists()

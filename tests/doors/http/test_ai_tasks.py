"""`/api/ai/chief/route` and `/api/ai/task/execute`: from a message to a packet to a receipt, all of it kept."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from tallystick import tool
from tests.doors.http.doorway import Doorway, problem
from tests.doors.http.talking import SCENE, call, claim, finish, serve_agent, write_story
from tests.scripted_server import Says, ScriptedServer, Status

ROUTE, EXECUTE = "/api/ai/chief/route", "/api/ai/task/execute"
MESSAGE = f"Check the continuity of {SCENE}: does Ada ever set foot on a boat?"
REPORT = {
    "outputs_produced": [], "reasoning_summary": "Read it.", "decisions": [], "checks_performed": [], "assumptions": [],
    "risks": [], "next_recommended_action": "none",
}  # fmt: skip


@pytest.fixture
def told(door: Doorway) -> Doorway:
    """A door with a story and the tools of a fresh workspace."""
    write_story(door.workspace)
    for card in door.gate.tools():
        if card.name not in {"file_locator", "file_reader", "task_router"}:
            door.gate.unregister(card.name)
    return door


def route(door: Doorway, message: str = MESSAGE, **more: Any) -> Any:
    answer = door.post(ROUTE, {"message": message, **more})
    assert answer.status_code == 200, answer.text
    return answer.json()


def folder_of(door: Doorway, issue_id: str) -> Path:
    return door.workspace / ".control-room" / "audit" / "issues" / issue_id


def kept(door: Doorway, issue_id: str, kind: str) -> list[Any]:
    folder = folder_of(door, issue_id) / kind
    return [json.loads(path.read_bytes()) for path in sorted(folder.glob("*.json"))]


@pytest.mark.promise("chat.tasks", "tasks.route", "tasks.route-fresh")
def test_on_a_fresh_machine_a_message_becomes_a_kept_packet_for_the_right_agent(told: Doorway) -> None:
    routed = route(told)
    packet = routed["packet"]
    assert (routed["source"], routed["agent_id"]) == ("router", "continuity")
    assert packet["intent"] == "continuity_check"
    assert packet["target"]["canonical_path"] == SCENE
    assert kept(told, packet["parent_issue_id"], "packets") == [packet]
    # The router was asked through the gate, like anybody.
    assert [receipt.header["tool_id"] for receipt in told.outcomes()] == ["task_router"]


@pytest.mark.promise("chat.tasks", "tasks.clarify")
def test_a_message_that_is_no_task_gets_a_question_back_with_choices(told: Doorway) -> None:
    packet = route(told, "hm")["packet"]
    assert packet["intent"] == "clarify"
    assert 2 <= len(packet["clarification"]["choices"]) <= 4
    chosen = route(told, "hm", choice=packet["clarification"]["choices"][0], parentPacketId=packet["packet_id"])
    assert chosen["packet"]["intent"] != "clarify"
    assert chosen["packet"]["parent_packet_id"] == packet["packet_id"]


@pytest.mark.promise("chat.tasks", "tasks.route-fallback")
def test_a_chief_whose_json_is_invalid_asks_back_instead(told: Doorway) -> None:
    with ScriptedServer(Says("I would give this to the critic.")) as server:
        serve_agent(told.workspace, server, "assistant")
        routed = route(told)
    assert (routed["source"], routed["packet"]["intent"]) == ("fallback", "clarify")
    assert routed["problem"]["code"] == "task_packet_invalid"


@pytest.mark.promise("chat.tasks", "tasks.execute", "tasks.execute-fresh", "tasks.kept")
def test_a_packet_is_carried_out_and_its_receipt_is_kept(told: Doorway) -> None:
    packet = route(told)["packet"]
    answer = told.post(EXECUTE, {"packet": packet})
    assert answer.status_code == 200, answer.text
    done = answer.json()
    receipt = done["receipt"]
    assert (receipt["packet_id"], receipt["issue_id"]) == (packet["packet_id"], packet["parent_issue_id"])
    assert receipt["actor"]["agent_id"] == "continuity"
    assert receipt["stop_hook"] is None
    assert receipt["citations"]
    assert kept(told, packet["parent_issue_id"], "task-receipts") == [receipt]
    ran = {receipt.receipt_id: receipt.header for receipt in told.receipts()}
    assert {ran[name]["task_id"] for name in done["turn"]["receipts"]} == {packet["packet_id"]}


@pytest.mark.promise("chat.tasks", "tasks.execute-stop")
def test_a_model_carries_out_a_packet_and_reports_in_strict_json(told: Doorway) -> None:
    packet = route(told)["packet"]
    turn = [call("file_reader", {"file_path": SCENE}), finish(), claim()]
    with ScriptedServer(*turn, Says(json.dumps(REPORT)), *turn, Says("Done!")) as server:
        serve_agent(told.workspace, server, "continuity")
        good = told.post(EXECUTE, {"packet": packet}).json()
        bad = told.post(EXECUTE, {"packet": packet}).json()
    assert good["receipt"]["reasoning_summary"] == "Read it."
    assert good["receipt"]["stop_hook"] is None
    assert bad["stop_hook"].startswith("STOP_HOOK: task_receipt_invalid")
    assert len(kept(told, packet["parent_issue_id"], "task-receipts")) == 2
    standing = told.get("/api/tiers/agents/continuity").json()
    assert "continuity" in json.dumps(standing)


def refused(answer: httpx.Response, status: int, category: str, code: str) -> None:
    assert problem(answer, status, category)["hint"]
    assert answer.json()["error"]["message"] == code


@pytest.mark.promise("chat.tasks", "chat.bad-input", "tasks.clarify")
def test_what_cannot_be_routed_or_carried_out_is_said(told: Doorway) -> None:
    refused(told.post(ROUTE, {"message": " "}), 400, "validation_error", "message_empty")
    refused(told.post(ROUTE, {"message": "\x00"}), 400, "validation_error", "message_not_text")
    problem(told.post(ROUTE, {"message": "x", "issueId": "../x"}), 400, "validation_error")
    refused(told.post(ROUTE, {"message": "x", "issueId": "issue_no"}), 404, "validation_error", "issue_unknown")
    assert not folder_of(told, "issue_no").exists()
    refused(told.post(EXECUTE, {"packet": {}}), 400, "validation_error", "task_packet_invalid")
    packet = route(told)["packet"]
    refused(told.post(EXECUTE, {"packet": packet, "agentId": "nobody"}), 404, "validation_error", "agent_unknown")
    lost = {**packet, "parent_issue_id": "issue_no"}
    refused(told.post(EXECUTE, {"packet": lost}), 404, "validation_error", "issue_unknown")
    assert not folder_of(told, "issue_no").exists()
    asking = {**packet, "intent": "clarify"}
    refused(told.post(EXECUTE, {"packet": asking}), 400, "validation_error", "task_packet_invalid")
    empty = {**asking, "clarification": {"question": "Which?", "choices": ["the only one"]}}
    refused(told.post(EXECUTE, {"packet": empty}), 400, "validation_error", "task_packet_invalid")
    changed = {**packet, "intent": "other"}
    refused(told.post(EXECUTE, {"packet": changed}), 409, "downstream_error", "task_exists")
    with ScriptedServer(Status(500)) as server:
        serve_agent(told.workspace, server, "assistant")
        before = told.get("/api/issues").json()
        refused(told.post(ROUTE, {"message": MESSAGE}), 502, "downstream_error", "endpoint_failed")
    assert told.get("/api/issues").json() == before


@pytest.mark.promise("chat.tasks")
def test_a_packet_belongs_to_an_issue_that_is_there(told: Doorway) -> None:
    packet = route(told)["packet"]
    issue = told.get(f"/api/issues/{packet['parent_issue_id']}").json()
    assert (issue["title"], issue["tags"], issue["assigned_to"]) == (MESSAGE, ["task"], "continuity")
    again = route(told, issueId=packet["parent_issue_id"])["packet"]
    assert again["parent_issue_id"] == packet["parent_issue_id"]
    by_number = route(told, issueId=str(issue["number"]))["packet"]
    assert by_number["parent_issue_id"] == packet["parent_issue_id"]


@pytest.mark.promise("chat.tasks")
@pytest.mark.parametrize(
    ("named", "method"),
    [
        ("Story/Scenes/SCN-the-vestry.md", "named_in_request"),
        ("SCN-the-vestry.md", "file_name"),
        ("SCN-the-vestry", "slug"),
        ("The Vestry", "title"),
    ],
)
def test_the_scene_that_a_request_names_is_found(told: Doorway, named: str, method: str) -> None:
    path = told.workspace / "Story" / "Scenes" / "SCN-the-vestry.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("# The Vestry\n\nThe rain had stopped.\n")
    packet = route(told, f"Critique the scene {named}")["packet"]
    assert packet["target"] == {
        "scene_ref": named, "resolution_method": method, "canonical_path": "Story/Scenes/SCN-the-vestry.md"
    }  # fmt: skip
    assert packet["inputs"]["files"] == ["Story/Scenes/SCN-the-vestry.md"]


@pytest.mark.promise("chat.tasks")
def test_a_file_that_is_not_there_gets_no_path(told: Doorway) -> None:
    packet = route(told, "Critique Story/Scenes/SCN-nope.md")["packet"]
    assert packet["target"] == {"scene_ref": "Story/Scenes/SCN-nope.md", "resolution_method": "not_resolved"}
    assert packet["inputs"]["files"] == []


@pytest.mark.promise("chat.tasks")
def test_whom_the_chief_gave_a_packet_to_carries_it_out(told: Doorway) -> None:
    message = f"What does canon say of Ada in {SCENE}?"
    told.gate.unregister("task_router")

    @tool(name="task_router", effect="read")
    def router(user_request: str) -> dict[str, Any]:
        """Route a request."""
        return {"routable": bool(user_request), "intent": "other", "agents": [{"agent_id": "continuity"}]}

    told.gate.register(router)
    routed = route(told, message)
    assert (routed["agent_id"], routed["packet"]["intent"]) == ("continuity", "other")
    done = told.post(EXECUTE, {"packet": routed["packet"]}).json()
    assert done["receipt"]["actor"]["agent_id"] == "continuity"

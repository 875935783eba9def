"""`/api/issues…` and what agents remember of them."""

import json
from typing import Any

import pytest

from tests.doors.http.conftest import OpenDoor
from tests.doors.http.doorway import AUTH, Doorway, bearer, problem
from tests.doors.http.talking import CHAT, grounded, serve_agent, write_story
from tests.scripted_server import Says, ScriptedServer

ISSUES = "/api/issues"
WORDS = "Line {} of the scene says something else than the card."


def opened(door: Doorway, title: str = "The compass", **more: Any) -> dict[str, Any]:
    answer = door.post(ISSUES, {"title": title, "body": "Silver, or brass?", **more})
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


@pytest.mark.promise("issues.http", "issues.opened")
def test_an_issue_is_opened_shown_changed_and_listed(door: Doorway) -> None:
    made = opened(door, tags=["Canon"], priority="high", links=[{"kind": "receipt", "id": "rcpt_1"}], agent="critic")
    assert (made["number"], made["opened_by"], made["tags"]) == (1, "critic", ["canon"])
    assert door.get(f"{ISSUES}/{made['issue_id']}").json() == door.get(f"{ISSUES}/1").json() == made
    changed = door.request("PUT", f"{ISSUES}/1", json={"priority": "low", "assignedTo": "editor"})
    assert (changed.json()["priority"], changed.json()["assigned_to"], changed.json()["tags"]) == (
        "low",
        "editor",
        ["canon"],
    )
    assert door.request("PUT", f"{ISSUES}/1", json={"assignedTo": ""}).json()["assigned_to"] is None
    opened(door, "Another")
    listed = door.get(ISSUES, params={"limit": 1}).json()
    assert (listed["total"], [each["title"] for each in listed["items"]]) == (2, ["Another"])
    assert "body" not in listed["items"][0]
    assert door.get(ISSUES, params={"tag": "canon", "status": "open"}).json()["total"] == 1
    assert door.get(ISSUES, params={"q": "ANOTHER"}).json()["total"] == 1
    assert door.get(ISSUES, params={"status": "all", "priority": "low"}).json()["total"] == 1
    for wrong in ({"status": "x"}, {"priority": "x"}, {"limit": "x"}):
        problem(door.get(ISSUES, params=wrong), 400, "validation_error")


@pytest.mark.promise("issues.http")
def test_the_assignee_is_taken_and_given_under_either_name(door: Doorway) -> None:
    made = [opened(door, f"Matter {name}", **{name: "editor"}) for name in ("assignedTo", "assigned_to")]
    assert [(one["assignedTo"], one["assigned_to"]) for one in made] == [("editor", "editor")] * 2
    for name in ("assignedTo", "assigned_to"):
        listed = door.get(ISSUES, params={name: "editor"}).json()
        assert [each["assignedTo"] for each in listed["items"]] == ["editor", "editor"]
    assert door.request("PUT", f"{ISSUES}/1", json={"assigned_to": ""}).json()["assignedTo"] is None


@pytest.mark.promise("issues.http", "issues.bad-input")
@pytest.mark.parametrize(
    "body",
    [{}, {"title": ""}, {"title": "x", "status": "closed"}, {"title": "x", "priority": "now"}, {"title": "x", "tags": ["\x00"]},
     {"title": "x", "links": [{"kind": "rumour", "id": "y"}]}, {"title": "two\nlines"}],
)  # fmt: skip
def test_what_cannot_be_taken_is_a_problem_and_opens_nothing(door: Doorway, body: dict[str, Any]) -> None:
    problem(door.post(ISSUES, body), 400, "validation_error")
    assert door.get(ISSUES).json()["total"] == 0


@pytest.mark.promise("issues.http")
def test_unknown_issues_are_404_everywhere(door: Doorway) -> None:
    problem(door.get(f"{ISSUES}/7"), 404, "downstream_error")
    problem(door.request("PUT", f"{ISSUES}/7", json={"title": "x"}), 404, "downstream_error")
    for path, body in (
        ("comments", {"body": "x"}), ("close", {}), ("reopen", {}), ("defer", {"agent": "critic", "after": 1}),
        ("memory/reword", {"agent": "critic"}),
    ):  # fmt: skip
        problem(door.post(f"{ISSUES}/7/{path}", body), 404, "downstream_error")
    problem(door.request("PUT", f"{ISSUES}/7/memory", json={"agent": "critic", "interest": 1}), 404, "downstream_error")
    problem(door.get(f"{ISSUES}/7/memory", params={"agent": "critic"}), 404, "downstream_error")


@pytest.mark.promise("issues.breaker")
def test_a_program_is_limited_and_a_person_is_not(open_door: OpenDoor) -> None:
    door = open_door(rooms={"studio": {"issues": {"comments_per_agent": 2}}})
    opened(door)
    problem(door.post(f"{ISSUES}/1/comments", {"body": "ok"}), 400, "validation_error")
    assert door.post(f"{ISSUES}/1/comments", {"body": "ok"}, headers=door.person).json()["by"] == "person"
    for number in range(2):
        said = door.post(f"{ISSUES}/1/comments", {"body": WORDS.format(number), "agent": "critic"})
        assert (said.status_code, said.json()["author"], said.json()["by"]) == (201, "critic", "agent")
    stopped = door.post(f"{ISSUES}/1/comments", {"body": WORDS.format(3), "agent": "critic"}, headers=door.person)
    assert problem(stopped, 429, "budget_exceeded")["hint"].startswith("comment_limit")
    frozen = door.post(f"{ISSUES}/1/comments", {"body": WORDS.format(4), "agent": "editor"})
    assert problem(frozen, 409, "downstream_error")["hint"] == "issue_frozen"
    assert door.post(f"{ISSUES}/1/comments", {"body": "I look."}, headers=door.person).status_code == 201
    (news,) = door.get("/api/notifications").json()["items"]
    assert news["source"] == "issues"


@pytest.mark.promise("issues.freeze", "issues.moves")
def test_freezing_and_unfreezing_need_a_person_and_moves_stand_in_the_ledger(door: Doorway) -> None:
    opened(door)
    for move in ("freeze", "unfreeze"):
        problem(door.post(f"{ISSUES}/1/{move}", {}), 403, "rbac_denied")
        assert door.post(f"{ISSUES}/1/{move}", {"reason": "so"}, headers=door.person).status_code == 200
        problem(door.post(f"{ISSUES}/1/{move}", {}, headers=door.person), 409, "downstream_error")
    assert door.post(f"{ISSUES}/1/close", {"reason": "done", "agent": "critic"}).json()["status"] == "closed"
    assert door.post(f"{ISSUES}/1/reopen").json()["status"] == "open"
    actions = [receipt.header["audit"]["action"] for receipt in door.receipts() if receipt.header["kind"] == "note"]
    assert actions == ["issue.freeze", "issue.unfreeze", "issue.close", "issue.reopen"]


@pytest.mark.promise("issues.from-chat")
def test_a_conversation_becomes_an_issue_for_whoever_had_it(open_door: OpenDoor) -> None:
    door = open_door(auth=AUTH)
    write_story(door.workspace)
    with ScriptedServer(*grounded()) as server:
        serve_agent(door.workspace, server)
        said = door.post(
            CHAT, {"message": "Does Ada sail?", "agentId": "critic", "sessionId": "s1"}, headers=bearer("person")
        )
    made = door.post(f"{ISSUES}/from-chat", {"sessionId": "s1"}, headers=bearer("person"))
    assert made.status_code == 201, made.text
    linked = {link["id"] for link in made.json()["links"] if link["kind"] == "receipt"}
    assert linked == set(said.json()["receipts"])
    audit = door.workspace / ".control-room/audit/issues" / made.json()["issue_id"] / "s1.json"
    assert linked <= set(json.loads(audit.read_text())["receipts"])
    problem(
        door.post(f"{ISSUES}/from-chat", {"sessionId": "s1"}, headers=bearer("person", subject="eve")),
        404,
        "downstream_error",
    )


@pytest.mark.promise("issues.http")
def test_what_an_agent_remembers_is_set_shown_deferred_and_reworded(door: Doorway) -> None:
    made = opened(door)
    view = door.request("PUT", f"{ISSUES}/1/memory", json={"agent": "critic", "interest": 2, "personalTags": ["mine"]})
    assert (view.json()["interest"], view.json()["personal_tags"]) == (2, ["mine"])
    kept = door.get(f"{ISSUES}/1/memory", params={"agent": "critic"}).json()
    assert (kept["level"], kept["made_by"], kept["issue_id"]) == (2, "rules", made["issue_id"])
    assert "Silver, or brass?" in kept["text"]
    put_off = door.post(f"{ISSUES}/1/defer", {"agent": "critic", "after": 20}).json()
    assert (put_off["deferred"], put_off["wake_in"]) == (True, 20)
    listed = door.get(f"{ISSUES}/memory/critic").json()
    assert (listed["total"], listed["items"][0]["deferred"]) == (1, True)
    with ScriptedServer(Says("Silver or brass is open.")) as server:
        serve_agent(door.workspace, server)
        worded = door.post(f"{ISSUES}/1/memory/reword", {"agent": "critic"})
    assert (worded.json()["text"], worded.json()["made_by"]) == ("Silver or brass is open.", "model")
    problem(door.get(f"{ISSUES}/1/memory"), 400, "validation_error")
    problem(door.post(f"{ISSUES}/1/defer", {"agent": "critic"}), 400, "validation_error")
    problem(door.request("PUT", f"{ISSUES}/1/memory", json={"agent": "critic", "interest": 9}), 400, "validation_error")
    problem(door.post(f"{ISSUES}/1/memory/reword", {"agent": "nobody"}), 404, "downstream_error")


@pytest.mark.promise("issues.http")
def test_a_damaged_file_is_a_503_that_names_it(door: Doorway) -> None:
    opened(door)
    (door.workspace / ".control-room/issues/issues.json").write_text("{")
    assert problem(door.get(ISSUES), 503, "tool_unavailable")["hint"] == "issues_damaged"


@pytest.mark.promise("issues.http")
@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "", {"title": "x", "agent": "ghost"}), ("POST", "/1/comments", {"body": WORDS, "agent": "ghost"}),
        ("PUT", "/1/memory", {"agent": "ghost", "interest": 4}), ("POST", "/1/defer", {"agent": "ghost", "after": 1}),
        ("POST", "/1/close", {"agent": "ghost"}), ("POST", "/1/memory/reword", {"agent": "ghost"}),
        ("GET", "/1/memory?agent=ghost", None), ("GET", "/memory/ghost", None),
    ],
)  # fmt: skip
def test_nobody_speaks_or_remembers_by_a_name_that_is_no_agents(
    door: Doorway, method: str, path: str, body: Any
) -> None:
    made = opened(door)
    refused = problem(door.request(method, f"{ISSUES}{path}", json=body), 404, "downstream_error")
    assert refused["hint"] == "agent_unknown"
    assert door.get(f"{ISSUES}/1").json() == made
    assert door.get(ISSUES).json()["total"] == 1
    assert not (door.workspace / ".control-room" / "memory" / "ghost").exists()


@pytest.mark.promise("issues.http")
def test_what_a_removed_agent_has_kept_can_still_be_looked_at(door: Doorway) -> None:
    opened(door)
    assert door.get(f"{ISSUES}/memory/critic").json()["items"] == []
    assert door.request("PUT", f"{ISSUES}/1/memory", json={"agent": "critic", "interest": 4}).status_code == 200
    assert door.request("DELETE", "/api/agents/critic", headers=door.person).status_code == 200
    assert door.get(f"{ISSUES}/memory/critic").json()["total"] == 1
    assert door.get(f"{ISSUES}/1/memory", params={"agent": "critic"}).json()["interest"] == 4

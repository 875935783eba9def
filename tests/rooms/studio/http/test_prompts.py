"""`/api/prompts…`: shown with warnings, set by a person, proposed by agents."""

import json
from typing import Any

import pytest

from tallystick.storage.credits import Credits
from tests.doors.http.conftest import OpenDoor
from tests.doors.http.doorway import Doorway, problem

PROMPTS = "/api/prompts"
EXAMPLE = {"tool": "file_locator", "args": {"search_criteria": "storm"}, "nonce": "<TOOL_NONCE>"}


def propose(door: Doorway, **more: Any) -> dict[str, Any]:
    body = {"prompt": "file-locator", "agent": "critic", "description": "Better words.", **more}
    answer = door.post(f"{PROMPTS}/proposals", body)
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


@pytest.mark.promise("prompts.http")
def test_prompts_are_shown_with_what_a_model_is_really_told(door: Doorway) -> None:
    listed = door.get(PROMPTS).json()
    assert (listed["total"], listed["warnings"]) == (9, [])
    one = door.get(f"{PROMPTS}/file-locator").json()
    assert one["example"]["nonce"] == "<TOOL_NONCE>"
    card = next(
        tool
        for tool in door.get("/api/gate/tools", params={"limit": 500}).json()["items"]
        if tool["name"] == "file_locator"
    )
    assert one["description"] == card["description"]
    assert one["installed"] is True
    problem(door.get(f"{PROMPTS}/no-such"), 404, "downstream_error")


@pytest.mark.promise("prompts.http")
def test_only_a_person_sets_and_clears_a_wording_and_is_warned(door: Doorway) -> None:
    path = f"{PROMPTS}/file-locator"
    problem(door.request("PUT", path, json={"title": "x"}), 403, "rbac_denied")
    problem(door.request("DELETE", path), 403, "rbac_denied")
    done = door.request("PUT", path, json={"description": "Look here.", "example": EXAMPLE}, headers=door.person)
    assert (done.json()["description"], done.json()["layer"]) == ("Look here.", "project")
    assert [each["code"] for each in done.json()["warnings"]] == ["core_override"]
    assert [each["code"] for each in door.get(PROMPTS).json()["warnings"]] == ["core_override"]
    assert door.request("DELETE", path, headers=door.person).json() == {"cleared": "file-locator"}
    problem(door.request("DELETE", path, headers=door.person), 404, "downstream_error")
    actions = [receipt.header["audit"]["action"] for receipt in door.receipts() if receipt.header["kind"] == "note"]
    assert actions == ["prompt.set", "prompt.clear"]


@pytest.mark.promise("prompts.http")
@pytest.mark.parametrize(
    "body",
    [
        {"example": {**EXAMPLE, "nonce": "abc"}}, {"example": {**EXAMPLE, "tool": "file_reader"}},
        {"example": {**EXAMPLE, "args": {"wrong": 1}}}, {"unknown": 1}, {"description": "two\nlines"}, {},
    ],
)  # fmt: skip
def test_a_wording_that_would_teach_a_wrong_call_is_refused(door: Doorway, body: dict[str, Any]) -> None:
    problem(door.request("PUT", f"{PROMPTS}/file-locator", json=body, headers=door.person), 400, "validation_error")
    problem(
        door.post(f"{PROMPTS}/proposals", {"prompt": "file-locator", "agent": "critic", **body}),
        400,
        "validation_error",
    )
    assert door.get(f"{PROMPTS}/file-locator").json()["layer"] == "global"


@pytest.mark.promise("prompts.proposals")
def test_an_agent_proposes_and_a_person_decides(door: Doorway) -> None:
    first, second = propose(door), propose(door, description="Other words.")
    assert first["state"] == "pending"
    assert door.get(f"{PROMPTS}/file-locator").json()["layer"] == "global"
    assert door.get("/api/notifications", params={"unread": "1"}).json()["total"] == 2
    accept = f"{PROMPTS}/proposals/{first['proposal_id']}/accept"
    problem(door.post(accept), 403, "rbac_denied")
    assert door.post(accept, headers=door.person).json()["state"] == "accepted"
    assert door.get(f"{PROMPTS}/file-locator").json()["description"] == "Better words."
    assert problem(door.post(accept, headers=door.person), 409, "downstream_error")["hint"] == "proposal_decided"
    late = f"{PROMPTS}/proposals/{second['proposal_id']}"
    assert (
        problem(door.post(f"{late}/accept", headers=door.person), 409, "downstream_error")["hint"]
        == "changed_meanwhile"
    )
    assert door.post(f"{late}/reject", headers=door.person).json()["state"] == "rejected"
    assert door.get(f"{PROMPTS}/proposals", params={"state": "pending"}).json()["total"] == 0
    assert door.get(f"{PROMPTS}/proposals").json()["total"] == 2
    assert door.get("/api/notifications", params={"unread": "1"}).json()["total"] == 0
    # What was accepted is to the agent's credit, and the ledger shows it.
    (event,) = Credits(door.workspace).load().of("critic")
    assert (str(event.merit), door.gate.ledger.find(event.receipt_id) is not None) == ("proposal_accepted", True)
    problem(door.post(f"{PROMPTS}/proposals/prop_none/accept", headers=door.person), 404, "downstream_error")
    problem(door.get(f"{PROMPTS}/proposals", params={"state": "x"}), 400, "validation_error")


@pytest.mark.promise("prompts.layers")
def test_the_user_s_own_layer_is_read_where_the_settings_say(open_door: OpenDoor, tmp_path: Any) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "prompts.json").write_text(
        json.dumps({"version": 1, "prompts": [{"id": "file-reader", "title": "Read it"}]})
    )
    door = open_door(storage={"state_dir": str(tmp_path / "state"), "user_dir": str(home)})
    one = door.get(f"{PROMPTS}/file-reader").json()
    assert (one["title"], one["layer"], one["warnings"][0]["layer"]) == ("Read it", "user", "user")


@pytest.mark.promise("prompts.http")
def test_nobody_proposes_by_a_name_that_is_no_agents(door: Doorway) -> None:
    body = {"prompt": "file-locator", "agent": "ghost", "description": "Better words."}
    assert problem(door.post(f"{PROMPTS}/proposals", body), 404, "downstream_error")["hint"] == "agent_unknown"
    assert door.get(f"{PROMPTS}/proposals").json()["total"] == 0


@pytest.mark.promise("prompts.examples")
def test_a_bad_example_in_the_project_s_file_reaches_no_model_and_is_warned_of(door: Doorway) -> None:
    file = door.workspace / ".control-room" / "prompts" / "prompts.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    bad = {"id": "file-locator", "example": {**EXAMPLE, "args": {"wrong": 1}}}
    file.write_text(json.dumps({"version": 1, "prompts": [bad]}))
    listed = door.get(PROMPTS).json()
    assert [(each["code"], each["id"]) for each in listed["warnings"]] == [("prompt_invalid", "file-locator")]
    shown = next(each for each in listed["items"] if each["id"] == "file-locator")
    assert "wrong" not in shown["example"]["args"]
    turn = door.gate.turn(session="s1", agent="assistant")
    assert "wrong" not in (turn.wordings["file_locator"].example or {})["args"]

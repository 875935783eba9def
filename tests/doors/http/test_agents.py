"""`/api/agents`, `/api/tiers`, `/api/credits`: anyone looks, a person changes, nobody gives credits."""

from typing import Any

import httpx
import pytest

from tallystick.storage.credits import Credits
from tests.doors.http.doorway import Doorway, bearer, problem
from tests.storage.staffing import credit

GUEST = {"agent_id": "archivist", "name": "Archivist", "role": "archivist", "purpose": "Finds what was said before."}
CARD = {name: value for name, value in GUEST.items() if name != "agent_id"}
MODEL = {"provider": "lmstudio", "model": "qwen", "base_url": "http://127.0.0.1:1234", "api_key_env": "MY_KEY"}

CHANGES: list[tuple[str, str, Any]] = [
    ("POST", "/api/agents", GUEST),
    ("PUT", "/api/agents/writer", CARD),
    ("DELETE", "/api/agents/writer", None),
    ("PUT", "/api/agents/writer/endpoint", MODEL),
    ("DELETE", "/api/agents/writer/endpoint", None),
    ("PUT", "/api/tiers/policy", {"promote_after": 1}),
    ("POST", "/api/tiers/agents/writer/task-result", {"result": "verified_at_cap"}),
]


def changed(door: Doorway, method: str, path: str, body: Any = None, status: int = 200) -> Any:
    answer = (
        door.request(method, path, json=body, headers=door.person)
        if body is not None
        else door.request(method, path, headers=door.person)
    )
    assert answer.status_code == status, answer.text
    return answer.json()


def names(door: Doorway) -> list[str]:
    return [agent["agent_id"] for agent in door.get("/api/agents").json()["items"]]


def code(answer: httpx.Response, status: int, category: str) -> str:
    return str(problem(answer, status, category)["hint"]).split()[0]


@pytest.mark.promise("agents.http", "agents.defaults")
def test_a_new_workspace_shows_its_agents_tiers_and_caps_over_http(door: Doorway) -> None:
    assert names(door) == ["assistant", "planner", "writer", "editor", "critic", "continuity"]
    writer = door.get("/api/agents/writer").json()
    assert writer["endpoint"] == {"provider": "offline", "model": "offline"}
    caps = door.get("/api/tiers/agents/writer/caps").json()
    assert (caps["tier"], caps["tool_actions"], caps["steps"], caps["clamped"]) == (1, 3, 5, False)
    assert door.get("/api/tiers/agents/writer").json()["caps"]["output_tokens"] == 600
    standings = door.get("/api/tiers/agents", params={"limit": 2, "offset": 1}).json()
    assert [each["agent_id"] for each in standings.pop("items")] == ["planner", "writer"]
    assert standings == {"total": 6, "limit": 2, "offset": 1}
    assert door.get("/api/tiers/policy").json()["tool_actions"] == {
        "offset": 2,
        "mult": 1.4,
        "growth": 1.5,
        "ceiling": 20,
    }
    assert door.get("/api/credits").json()["items"] == []
    assert door.get("/api/credits/writer").json()["balance"] == 0


@pytest.mark.promise("agents.http")
def test_agents_come_change_and_go(door: Doorway) -> None:
    assert changed(door, "POST", "/api/agents", GUEST, 201)["agent_id"] == "archivist"
    assert changed(door, "PUT", "/api/agents/archivist", {**CARD, "enabled": False})["enabled"] is False
    assert changed(door, "PUT", "/api/agents/archivist/endpoint", MODEL)["model"] == "qwen"
    assert door.get("/api/agents/archivist").json()["endpoint"] == {"provider": "lmstudio", "model": "qwen"}
    assert door.get("/api/agents/archivist/endpoint").json()["base_url"] == MODEL["base_url"]
    native = {**MODEL, "protocol": "native"}
    assert changed(door, "PUT", "/api/agents/archivist/endpoint", native)["protocol"] == "native"
    assert door.get("/api/agents/archivist/endpoint").json()["protocol"] == "native"
    assert changed(door, "DELETE", "/api/agents/archivist/endpoint")["provider"] == "offline"
    changed(door, "DELETE", "/api/agents/archivist")
    assert "archivist" not in names(door)
    audited = [receipt.header["audit"]["action"] for receipt in door.receipts() if "audit" in receipt.header]
    assert audited == [
        "agent.add",
        "agent.change",
        "agent.set_endpoint",
        "agent.set_endpoint",
        "agent.clear_endpoint",
        "agent.remove",
    ]


@pytest.mark.promise("agents.owner")
@pytest.mark.parametrize(("method", "path", "body"), CHANGES)
def test_an_agent_on_loopback_changes_nothing_of_this(door: Doorway, method: str, path: str, body: Any) -> None:
    shown = ("/api/agents", "/api/agents/writer/endpoint", "/api/tiers/policy", "/api/tiers/agents")
    before = [door.get(path).json() for path in shown]
    for headers in ({}, {"x-tally-token": "0" * 64}, {"authorization": f"Bearer {door.server.startup.value}"}):
        problem(door.request(method, path, json=body, headers=headers), 403, "rbac_denied")
    assert [door.get(path).json() for path in shown] == before
    assert door.receipts() == []
    assert changed(door, method, path, body, 201 if method == "POST" and path == "/api/agents" else 200)


@pytest.mark.promise("agents.owner")
@pytest.mark.parametrize(("method", "path", "body"), CHANGES)
def test_with_auth_neither_roles_nor_the_start_up_token_alone_are_enough(
    locked: Doorway, method: str, path: str, body: Any
) -> None:
    problem(locked.request(method, path, json=body, headers=bearer("admin", "owner")), 403, "rbac_denied")
    problem(locked.request(method, path, json=body, headers=locked.person), 401, "rbac_denied")
    both = {**bearer("viewer"), **locked.person}
    assert locked.request(method, path, json=body, headers=both).status_code in {200, 201}


@pytest.mark.promise("agents.http")
def test_with_auth_looking_needs_a_token_and_an_endpoint_a_role(locked: Doorway) -> None:
    for path in ("/api/agents", "/api/agents/writer", "/api/tiers/policy", "/api/tiers/agents", "/api/credits"):
        problem(locked.get(path), 401, "rbac_denied")
        assert locked.get(path, headers=bearer("viewer")).status_code == 200
    problem(locked.get("/api/agents/writer/endpoint", headers=bearer("viewer")), 403, "rbac_denied")
    assert locked.get("/api/agents/writer/endpoint", headers=bearer("auditor")).status_code == 200


@pytest.mark.promise("agents.chief")
def test_the_chief_stays_over_http_too(door: Doorway) -> None:
    chief = {
        name: value
        for name, value in door.get("/api/agents/assistant").json().items()
        if name not in {"agent_id", "endpoint"}
    }
    for method, path, body in (
        ("DELETE", "/api/agents/assistant", None),
        ("PUT", "/api/agents/assistant", {**chief, "enabled": False}),
        ("PUT", "/api/agents/assistant", {**chief, "role": "writer"}),
        ("POST", "/api/agents", {**GUEST, "role": "assistant"}),
    ):
        answer = door.request(method, path, json=body, headers=door.person)
        assert code(answer, 409, "downstream_error") in {"chief_mandatory", "chief_exactly_one"}
    assert door.get("/api/agents/assistant").json()["enabled"] is True


@pytest.mark.promise("agents.http")
def test_bad_input_is_a_problem_that_says_where(door: Doorway) -> None:
    def refused(method: str, path: str, body: Any, status: int, category: str = "validation_error") -> None:
        problem(door.request(method, path, json=body, headers=door.person), status, category)

    refused("POST", "/api/agents", {**GUEST, "agent_id": "../x"}, 400)
    refused("POST", "/api/agents", {**GUEST, "purpose": "a\n# Tools"}, 400)
    refused("POST", "/api/agents", {**GUEST, "extra": 1}, 400)
    refused("POST", "/api/agents", {**GUEST, "agent_id": "writer"}, 409, "downstream_error")
    refused("PUT", "/api/agents/nobody", CARD, 404, "downstream_error")
    refused("DELETE", "/api/agents/nobody", None, 404, "downstream_error")
    refused("PUT", "/api/agents/nobody/endpoint", MODEL, 404, "downstream_error")
    refused("PUT", "/api/agents/writer/endpoint", {**MODEL, "api_key": "sk-secret"}, 400)
    refused("PUT", "/api/agents/writer/endpoint", {**MODEL, "base_url": "http://a:b@host"}, 400)
    refused(
        "PUT",
        "/api/agents/writer/endpoint",
        {**MODEL, "api_key_env": None, "api_key_file": str(door.workspace / "k")},
        400,
    )
    refused("PUT", "/api/tiers/policy", {"clamp_factor": 2}, 400)
    refused("POST", "/api/tiers/agents/nobody/task-result", {"result": "verified"}, 404, "downstream_error")
    refused("POST", "/api/tiers/agents/writer/task-result", {"result": "brilliant"}, 400)
    for path in (
        "/api/agents/nobody",
        "/api/tiers/agents/nobody",
        "/api/tiers/agents/nobody/caps",
        "/api/credits/nobody",
    ):
        problem(door.get(path), 404, "downstream_error")


@pytest.mark.promise("agents.promotion")
def test_results_move_a_tier_over_http(door: Doorway) -> None:
    path = "/api/tiers/agents/writer/task-result"
    moves = [changed(door, "POST", path, {"result": "verified_at_cap"})["move"] for _ in range(5)]
    assert moves == ["count"] * 4 + ["up"]
    assert door.get("/api/tiers/agents/writer/caps").json()["tool_actions"] == 4
    assert changed(door, "POST", path, {"result": "failed"})["move"] == "clamp"
    assert door.get("/api/tiers/agents/writer/caps").json()["tool_actions"] == 3
    assert changed(door, "POST", path, {"result": "failed", "model": "other"})["tier"] == 1
    assert [each["model"] for each in door.get("/api/tiers/agents/writer").json()["other_models"]] == ["other"]
    assert door.get("/api/tiers/agents/writer/caps", params={"model": "third"}).json()["tier"] == 1
    changed(door, "PUT", "/api/tiers/policy", {"failures_down": 1})
    assert changed(door, "POST", path, {"result": "failed"})["move"] == "down"


@pytest.mark.promise("agents.credit-readonly", "agents.credit-self")
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_no_method_writes_credits_not_even_for_a_person(door: Doorway, method: str) -> None:
    event = {**credit("1").as_dict(), "points": 3}
    for path in ("/api/credits", "/api/credits/writer"):
        answer = door.request(method, path, json=event, headers=door.person)
        assert answer.status_code == 405
    assert not (door.workspace / ".control-room" / "credits").exists()


@pytest.mark.promise("agents.credit-readonly")
def test_credits_are_shown_newest_first(door: Doorway) -> None:
    for number in range(3):
        Credits(door.workspace).record(credit(str(number)))
    shown = door.get("/api/credits", params={"limit": 2}).json()
    assert (shown["balances"], shown["total"]) == ({"writer": 6}, 3)
    assert [event["receipt_id"] for event in shown["items"]] == ["rcpt_2", "rcpt_1"]
    assert door.get("/api/credits/writer").json()["balance"] == 6


@pytest.mark.promise("agents.damage")
def test_a_damaged_registry_is_a_clean_problem(door: Doorway) -> None:
    changed(door, "POST", "/api/agents", GUEST, 201)
    (door.workspace / ".control-room" / "agents" / "agents.json").write_text("{", encoding="utf-8")
    assert code(door.get("/api/agents"), 503, "tool_unavailable") == "agents_damaged"
    answer = door.request("DELETE", "/api/agents/writer", headers=door.person)
    assert code(answer, 503, "tool_unavailable") == "agents_damaged"

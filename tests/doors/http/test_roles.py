"""With auth on: no token is 401 everywhere, roles from the token decide, and every surface decides alike. H12."""

import itertools
import json
import time
from typing import Any

import pytest

from tallystick.doors.http.app import api, document_roles
from tallystick.doors.http.context import HttpContext
from tallystick.doors.serve import Server
from tallystick.errors import ConfigError
from tallystick.settings import load_settings, parse_settings
from tests.doors.http.conftest import OpenDoor
from tests.doors.http.doorway import AUTH, Doorway, bearer, problem
from tests.doors.http.house import ROLES, house_tools
from tests.doors.tokens import SECRET

OPEN = {("/health", "get")}
"""Routes that ask nobody who he is."""
ANYONE = {
    ("/analysis/query", "post"), ("/analytics/metrics", "get"), ("/api/agents", "get"), ("/api/agents/{agent_id}", "get"),
    ("/api/approvals/{approval_id}/resume", "post"), ("/api/audit/head", "get"), ("/api/canon/index/status", "get"),
    ("/api/conferences", "get"), ("/api/conferences/{conference_id}", "get"),
    ("/api/conferences/{conference_id}/transcript", "get"), ("/api/credits", "get"),
    ("/api/credits/{agent_id}", "get"), ("/api/evidence/check", "post"), ("/api/evidence/transcript", "post"),
    ("/api/gate/call", "post"),
    ("/api/gate/tools", "get"), ("/api/gate/turns", "post"), ("/api/gate/turns/{turn_id}/submit", "post"),
    ("/api/issues", "get"), ("/api/issues/memory/{agent_id}", "get"), ("/api/issues/{issue_id}", "get"),
    ("/api/issues/{issue_id}/memory", "get"), ("/api/memory/diff", "get"), ("/api/memory/entities", "get"),
    ("/api/memory/episodes", "get"), ("/api/memory/observations", "get"),
    ("/api/memory/observations/{observation_id}", "get"), ("/api/memory/propositions", "get"),
    ("/api/memory/propositions/{proposition_id}", "get"),
    ("/api/memory/propositions/{proposition_id}/explain", "get"),
    ("/api/memory/propositions/{proposition_id}/supports", "get"),
    ("/api/memory/propositions/{proposition_id}/what-if", "get"), ("/api/memory/recall", "get"),
    ("/api/memory/sources", "get"), ("/api/memory/status", "get"), ("/api/memory/tests", "get"),
    ("/api/prompts", "get"), ("/api/prompts/proposals", "get"), ("/api/prompts/{prompt_id}", "get"),
    ("/api/recipes", "get"), ("/api/runs", "get"), ("/api/runs/{run_id}", "get"),
    ("/api/runs/{run_id}/cache/{slot}", "get"), ("/api/runs/{run_id}/events", "get"),
    ("/api/runs/{run_id}/steps", "get"), ("/api/telemetry", "get"), ("/api/telemetry/agents", "get"),
    ("/api/telemetry/conferences", "get"), ("/api/telemetry/conferences/{conference_id}", "get"),
    ("/api/tiers/agents", "get"), ("/api/tiers/agents/{agent_id}", "get"),
    ("/api/tiers/agents/{agent_id}/caps", "get"), ("/api/tiers/policy", "get"), ("/api/workspace/file", "get"),
    ("/api/workspace/history", "get"), ("/api/workspace/outline", "get"), ("/api/workspace/patches", "get"),
    ("/api/workspace/patches/{patch_id}", "get"), ("/api/workspace/tree", "get"), ("/cluster/{run_id}", "get"),
    ("/cluster/{run_id}/assignments", "get"), ("/embed/run", "post"), ("/ingest", "get"),
    ("/ingest/mappings/{name}", "get"), ("/ingest/mappings/{name}", "put"), ("/ingest/upload", "post"),
    ("/ingest/{dataset_id}", "get"), ("/metrics", "get"), ("/prompts", "get"), ("/prompts/{version}", "get"),
    ("/reports/{dataset_id}", "get"), ("/reports/{dataset_id}/html", "get"), ("/search/nn", "get"),
    ("/search/nn/why", "get"), ("/v1/desk/metrics", "get"), ("/v1/models", "get"), ("/v1/models/{model}", "get"),
}  # fmt: skip
"""Routes for every role of the product; what a call may do is decided at the gate."""
WORK = {
    ("/api/ai/chat", "post"), ("/api/ai/chief/route", "post"), ("/api/ai/task/execute", "post"),
    ("/api/canon/index", "post"), ("/api/conferences", "post"), ("/api/conferences/{conference_id}/roster", "post"),
    ("/api/conferences/{conference_id}/rounds", "post"),
    ("/api/conferences/{conference_id}/rounds/{number}/cancel", "post"), ("/api/issues", "post"),
    ("/api/issues/from-chat", "post"), ("/api/issues/{issue_id}", "put"), ("/api/issues/{issue_id}/close", "post"),
    ("/api/issues/{issue_id}/comments", "post"), ("/api/issues/{issue_id}/defer", "post"),
    ("/api/issues/{issue_id}/memory", "put"), ("/api/issues/{issue_id}/memory/reword", "post"),
    ("/api/issues/{issue_id}/reopen", "post"), ("/api/memory/proposals", "post"),
    ("/api/memory/proposals/many", "post"), ("/api/memory/texts", "post"), ("/api/prompts/proposals", "post"),
    ("/api/runs", "post"), ("/api/runs/{run_id}/cancel", "post"), ("/api/runs/{run_id}/resume", "post"),
    ("/api/telemetry/conference", "post"), ("/api/workspace/outline", "put"), ("/api/workspace/patches", "post"),
    ("/api/workspace/undo", "post"), ("/v1/chat/completions", "post"),
}  # fmt: skip
"""Routes that start work or propose changes."""
TICKETS = {
    ("/events", "post"), ("/v1/tickets/lease", "post"), ("/v1/tickets/{ticket_id}/fill", "post"),
    ("/v1/tickets/{ticket_id}/lease", "post"), ("/v1/tickets/{ticket_id}/nack", "post"),
    ("/v1/tickets/{ticket_id}/verdict", "post"), ("/v1/triage/batch", "post"),
}  # fmt: skip
"""Routes that change tickets."""
TICKETS_READ = {
    ("/v1/tickets", "get"), ("/v1/tickets/{ticket_id}", "get"), ("/v1/tickets/{ticket_id}/verdict", "get"),
}  # fmt: skip
"""Routes that show tickets."""
WORKERS, HELPERS, AUDITORS = {"person", "agent", "admin"}, {"support", "admin"}, {"auditor", "admin"}
READERS_OF_TICKETS = {"support", "auditor", "admin"}
EVERYBODY = {"viewer", "analyst", "support", "auditor", "person", "agent", "admin"}
SIGNED = {("/v1/desk/webhook", "post")}
"""Routes that take a signature instead of a token; their own tests show what they refuse."""
REVIEWS_READ = {
    (path, "get") for path in ("/v1/reviews", "/v1/reviews/{ticket_id}", "/v1/desk/replies", "/v1/desk/gaps")
}
ROLED = {
    ("/analysis/run", "post"): {"analyst", "admin"}, ("/cluster/run", "post"): {"analyst", "admin"},
    ("/history/analyses", "get"): {"viewer", "admin"}, ("/prompts", "post"): {"admin"},
    ("/analysis/{analysis_id}", "get"): {"viewer", "analyst", "admin"},
    **dict.fromkeys(WORK, WORKERS), **dict.fromkeys(TICKETS, HELPERS),
    **dict.fromkeys(TICKETS_READ | REVIEWS_READ, READERS_OF_TICKETS),
    **dict.fromkeys(ANYONE, EVERYBODY),
}  # fmt: skip
"""Routes for certain roles."""
PERSON = {(f"/api/approvals/{{approval_id}}/{answer}", "post") for answer in ("approve", "reject", "edit", "reveal")} | {
    ("/api/agents", "post"), ("/api/agents/{agent_id}", "put"), ("/api/agents/{agent_id}", "delete"),
    ("/api/agents/{agent_id}/endpoint", "put"), ("/api/agents/{agent_id}/endpoint", "delete"),
    ("/api/tiers/policy", "put"), ("/api/tiers/agents/{agent_id}/task-result", "post"),
    ("/api/workspace/patches/{patch_id}/apply", "post"), ("/api/workspace/patches/{patch_id}/reject", "post"),
    ("/api/issues/{issue_id}/freeze", "post"), ("/api/issues/{issue_id}/unfreeze", "post"),
    ("/api/prompts/{prompt_id}", "put"), ("/api/prompts/{prompt_id}", "delete"),
    ("/api/prompts/proposals/{proposal_id}/accept", "post"), ("/api/prompts/proposals/{proposal_id}/reject", "post"),
    ("/v1/tickets/{ticket_id}/verdict", "delete"),
    ("/api/notifications/read-all", "post"), ("/api/notifications/{notification_id}/read", "post"),
} | {
    (f"/v1/reviews/{{ticket_id}}/{action}", "post")
    for action in ("take", "approve", "more", "edit", "reject", "reassign")
}  # fmt: skip
"""Routes that need the start-up token, whatever the roles."""


def routes(door: Doorway) -> set[tuple[str, str]]:
    paths = door.get("/api/openapi.json").json()["paths"]
    return {(path, method) for path, methods in paths.items() for method in methods}


def ask(door: Doorway, route: tuple[str, str], headers: dict[str, str]) -> Any:
    path, method = route
    filled = path.format(
        approval_id="appr_0", receipt_id="rcpt_0", session_id="s", turn_id="turn_0", agent_id="nobody", model="nothing",
        proposition_id="prop_0", observation_id="obs_0", conference_id="conf_0", number="1", patch_id="patch_00000000",
        issue_id="issue_0", notification_id="ntf_0", prompt_id="no-such-tool", proposal_id="prop_0",
        ticket_id="ticket_0",
        run_id="run_0", slot="found", dataset_id="7", analysis_id="7", name="march", version="v7",
    )  # fmt: skip
    return door.request(method.upper(), filled, headers=headers, **({"json": {}} if method in {"post", "put"} else {}))


@pytest.mark.promise("doors.auth-everywhere")
def test_without_a_token_every_route_is_401_on_loopback_too(locked: Doorway) -> None:
    for route in sorted(routes(locked) - OPEN - SIGNED):
        for headers in ({}, {"authorization": "Bearer"}, {"authorization": "Basic YTpi"}, locked.person):
            answer = ask(locked, route, headers)
            assert answer.status_code == 401, route
            assert answer.headers["www-authenticate"] == "Bearer"
            body = answer.json()
            said = body["rejection"] if "rejection" in body else body["error"]
            # `/v1` says it in the words of the format it speaks.
            assert said.get("category") == "rbac_denied" or said.get("type") == "authentication_error"
    assert locked.ran.calls == []
    assert ask(locked, ("/health", "get"), {}).status_code == 200


@pytest.mark.promise("doors.auth-everywhere")
@pytest.mark.parametrize(
    "headers",
    [
        bearer("admin", exp=int(time.time()) - 3600),
        bearer("admin", nbf=int(time.time()) + 3600),
        bearer("admin", exp=None),
        bearer("admin", aud="somebody else"),
        bearer("admin", sub="local"),
        {"authorization": bearer("admin")["authorization"][:-2] + "AA"},
    ],
    ids=["expired", "not yet", "no end", "for others", "calls itself local", "forged"],
)
def test_a_token_that_does_not_hold_is_401_with_a_receipt(locked: Doorway, headers: dict[str, str]) -> None:
    answer = locked.post("/api/gate/call", {"tool": "anyone_reads", "args": {}}, headers=headers)
    assert answer.status_code == 401
    assert answer.json()["rejection"]["code"] == "POLICY_VIOLATION"
    assert locked.ran.calls == []
    assert locked.outcomes()[0].header["caller"] == {"subject": "anonymous", "roles": [], "channel": "http"}
    token = headers["authorization"].removeprefix("Bearer ")
    assert token not in json.dumps(locked.outcomes()[0].flat())


@pytest.mark.promise("doors.auth-everywhere")
def test_two_authorization_headers_are_no_token(locked: Doorway) -> None:
    good = bearer("admin")["authorization"]
    for pair in ((good, good), (good, "Bearer x"), ("Bearer x", good)):
        answer = locked.request("GET", "/api/gate/tools", headers=[("authorization", value) for value in pair])
        problem(answer, 401, "rbac_denied")


@pytest.mark.promise("doors.http-roles")
def test_each_route_is_open_to_its_roles_and_to_no_others(locked: Doorway) -> None:
    known = routes(locked) - SIGNED
    assert known >= OPEN | PERSON | ROLED.keys()
    audit = known - OPEN - PERSON - ROLED.keys()
    assert len(audit) == 15
    for route, roles in sorted({**ROLED, **dict.fromkeys(audit, AUDITORS)}.items()):
        for role in sorted(EVERYBODY | {"owner", "Admin", "auditors"}):
            answer = ask(locked, route, bearer(role))
            if role in roles:
                assert answer.status_code not in {401, 403}, (route, role)
            else:
                assert answer.status_code == 403, (route, role)
        assert ask(locked, route, bearer("nobody", min(roles))).status_code not in {401, 403}, route


@pytest.mark.promise("doors.http-roles")
def test_what_a_person_decides_needs_the_start_up_token_and_a_role(locked: Doorway) -> None:
    for route in sorted(PERSON):
        problem(ask(locked, route, bearer("admin")), 403, "rbac_denied")
        problem(ask(locked, route, {**bearer(), **locked.person}), 403, "rbac_denied")
        assert ask(locked, route, {**bearer("admin"), **locked.person}).status_code in {200, 400, 404}, route


@pytest.mark.promise("doors.deny-by-default")
def test_the_api_document_names_the_roles_of_every_route(locked: Doorway) -> None:
    paths = locked.get("/api/openapi.json").json()["paths"]
    for path, method in routes(locked) - OPEN - SIGNED:
        roles = set(paths[path][method]["x-roles"])
        assert roles <= EVERYBODY
        assert roles == ROLED.get((path, method), roles)


@pytest.mark.promise("doors.deny-by-default")
def test_a_route_without_a_declaration_is_denied_and_stops_the_start(locked: Doorway) -> None:
    context = HttpContext(gate=locked.gate, identity=locked.server.identity, startup=locked.server.startup)
    app = api(context)

    @app.get("/forgotten")
    async def forgotten() -> str:
        return "secret"

    problem(locked.get("/forgotten", app=app, headers=bearer("admin")), 403, "rbac_denied")
    with pytest.raises(ConfigError, match="/forgotten is declared open to no role"):
        document_roles(app.routes)


@pytest.mark.promise("doors.deny-by-default")
def test_every_tool_names_its_roles_and_one_that_does_not_is_for_admins(locked: Doorway) -> None:
    own = {one.card.name for one in house_tools(locked.ran, locked.gate)}
    assert [card.name for card in locked.gate.tools() if card.name not in own and not card.roles] == []
    for role, status in (("viewer", 403), ("agent", 403), ("admin", 200)):
        answer = locked.post("/api/gate/call", {"tool": "double", "args": {"number": 1}}, headers=bearer(role))
        assert answer.status_code == status, role


@pytest.mark.promise("doors.deny-by-default")
def test_a_role_that_only_policy_names_may_call_its_tool_and_no_other(open_door: OpenDoor) -> None:
    door = open_door(auth=AUTH, tools={"double": {"roles": ["clerk"]}})
    for tool, status in (("double", 200), ("echo", 403)):
        args = {"number": 1} if tool == "double" else {"text": "x"}
        answer = door.post("/api/gate/call", {"tool": tool, "args": args}, headers=bearer("clerk"))
        assert answer.status_code == status
    assert door.get("/api/gate/tools", headers=bearer("clerk")).status_code == 200
    problem(door.get("/api/workspace/tree", headers=bearer("clerk")), 403, "rbac_denied")


CALLERS = ("none", "viewer", "analyst", "admin", "owner")


@pytest.mark.promise("doors.http-roles", "decide.roles")
def test_H12_the_table_of_roles_and_tools_holds_on_every_surface(open_door: OpenDoor) -> None:
    asking = {name: {"decision": "ask"} for name in ROLES}
    direct, approving = open_door("direct", auth=AUTH), open_door("approving", auth=AUTH, tools=asking)
    surfaces = {"call": _call, "turn": _turn, "resume": _resume}
    for role, (name, roles) in itertools.product(CALLERS, ROLES.items()):
        allowed = role in (roles or {"admin"})
        for surface, ask_for in surfaces.items():
            door = approving if surface == "resume" else direct
            before = len(door.ran.calls)
            answer = ask_for(door, name, role)
            assert answer.status_code == (200 if allowed else 403), (role, name, surface)
            assert len(door.ran.calls) - before == int(allowed)
            if not allowed:
                said = answer.json()
                assert (said.get("rejection") or said["error"])["category"] == "rbac_denied"
                assert said.get("rejection", {"code": "POLICY_VIOLATION"})["code"] == "POLICY_VIOLATION"


def _as(role: str, *instead: str) -> dict[str, str]:
    """The caller who has this role, or has others at the moment."""
    return bearer(*(instead or ([] if role == "none" else [role])), subject=f"a-{role}")


def _call(door: Doorway, name: str, role: str) -> Any:
    return door.post("/api/gate/call", {"tool": name, "args": {}}, headers=_as(role))


def _turn(door: Doorway, name: str, role: str) -> Any:
    begun = door.post("/api/gate/turns", {}, headers=_as(role))
    if begun.status_code == 403:
        return begun
    turn = begun.json()
    text = json.dumps({"tool": name, "args": {}, "nonce": turn["nonce"]})
    return door.post(f"/api/gate/turns/{turn['turn_id']}/submit", {"text": text}, headers=_as(role))


def _resume(door: Doorway, name: str, role: str) -> Any:
    """Held while the caller had a role that is enough, let through by a person, resumed with the roles of now."""
    once = _as(role, *(ROLES[name] or {"admin"}))
    held = door.post("/api/gate/call", {"tool": name, "args": {}}, headers=once).json()["held"]["approval_id"]
    person = {**bearer("person", subject="grace"), **door.person}
    assert door.post(f"/api/approvals/{held}/approve", headers=person).status_code == 200
    return door.post(f"/api/approvals/{held}/resume", headers=_as(role))


@pytest.mark.promise("doors.http-roles")
def test_a_token_s_roles_and_subject_stand_in_the_receipt(locked: Doorway) -> None:
    locked.post("/api/gate/call", {"tool": "anyone_reads", "args": {}}, headers=bearer("viewer", "analyst"))
    assert locked.outcomes()[0].header["caller"] == {
        "subject": "ada", "roles": ["analyst", "viewer"], "channel": "http",
    }  # fmt: skip
    checked = locked.post("/api/evidence/check", {"reply": "x"}, headers=bearer("viewer", subject="eve")).json()
    receipt = locked.gate.ledger.find(checked["receipt_id"])
    assert receipt is not None
    assert receipt.header["caller"] == {"subject": "eve", "roles": ["viewer"], "channel": "http"}


@pytest.mark.promise("doors.auth-everywhere")
def test_the_old_names_of_the_environment_switch_auth_on(open_door: OpenDoor, tmp_path: Any) -> None:
    settings = load_settings(tmp_path, {"APP_ENABLE_RBAC": "true", "APP_JWT_SECRET": SECRET})
    door = open_door(auth=settings.auth.model_dump())
    assert door.call("anyone_reads").status_code == 401


@pytest.mark.promise("doors.bind")
def test_a_server_that_anyone_can_reach_does_not_start_without_auth(tmp_path: Any) -> None:
    for host in ("0.0.0.0", "192.0.2.1", "::"):
        with pytest.raises(ConfigError) as refused:
            Server(tmp_path / "work", parse_settings({"server": {"host": host}}))
        assert refused.value.code == "bind_needs_auth"
    assert not (tmp_path / "work").exists()

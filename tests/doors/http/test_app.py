"""The door as a whole: health, metrics, documentation, problems, and what never gets out."""

import io
import json
import logging
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import settings as budget
from hypothesis import strategies as st

import tallystick
from tallystick.doors.http import gate_calls
from tallystick.doors.http.app import api
from tallystick.doors.http.context import HttpContext
from tallystick.doors.http.docs_page import docs_page
from tallystick.errors import LedgerUnwritable, PathRefused
from tallystick.telemetry.logs import Masker, set_up_logs
from tests.doors.http.conftest import OpenDoor
from tests.doors.http.doorway import AUTH, Doorway, bearer, problem
from tests.sizes import size

# -- health and metrics ------------------------------------------------------------------------------------------------


@pytest.mark.promise("doors.http-health")
def test_health_says_whether_calls_are_taken(door: Doorway) -> None:
    answer = door.get("/health")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok", "version": tallystick.__version__})
    shutil.rmtree(door.workspace / ".control-room" / "audit" / "journal")
    broken = door.get("/health")
    assert broken.status_code == 503
    assert broken.json()["status"] == "unavailable"
    assert broken.json()["ledger"]
    assert str(door.workspace) not in broken.text


@pytest.mark.promise("doors.http-metrics", "telemetry.names", "telemetry.calls")
def test_metrics_count_requests_and_calls_by_fixed_names(door: Doorway) -> None:
    door.call("double", {"number": 1})
    door.call("nope")
    door.call('no\nsuch\x1b[31m{tool="x"}')
    door.get("/nowhere/at/all")
    door.get("/api/audit/sessions/made-up/receipts")
    answer = door.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    for name in ("tool_call_count", "tool_latency_seconds", "request_count", "request_latency_seconds"):
        assert name in answer.text
    assert 'tool_name="double"' in answer.text
    assert 'endpoint="/api/gate/call",method="POST",status="200"' in answer.text
    assert 'endpoint="/api/audit/sessions/{session_id}/receipts"' in answer.text
    for made_up in ("nope", "such", "nowhere", "made-up"):
        assert made_up not in answer.text


@pytest.mark.promise("doors.http-metrics")
def test_without_metrics_there_is_no_such_route(open_door: OpenDoor) -> None:
    door = open_door(telemetry={"metrics": False})
    problem(door.get("/metrics"), 404, "downstream_error")
    assert door.call("double", {"number": 1}).status_code == 200


def test_a_browser_that_asks_for_a_page_that_is_not_there_gets_a_page(door: Doorway) -> None:
    page = door.get("/nowhere/<b>", headers={"accept": "text/html,*/*;q=0.8"})
    assert (page.status_code, page.headers["content-type"].partition(";")[0]) == (404, "text/html")
    assert "<b>" not in page.text
    problem(door.get("/api/nowhere", headers={"accept": "text/html,*/*;q=0.8"}), 404, "downstream_error")
    problem(door.get("/nowhere"), 404, "downstream_error")


# -- documentation -----------------------------------------------------------------------------------------------------


def operations(door: Doorway) -> list[tuple[str, str, dict[str, Any]]]:
    document = door.get("/api/openapi.json").json()
    assert document["openapi"].startswith("3.1")
    return [(path, method, op) for path, methods in document["paths"].items() for method, op in methods.items()]


@pytest.mark.promise("doors.http-docs")
def test_every_list_has_the_one_form_and_says_so_in_its_documentation(door: Doorway) -> None:
    lists = []
    for path, method, operation in operations(door):
        named = {one["name"] for one in operation.get("parameters", ())}
        answer = door.get(f"{path}?limit=1") if method == "get" and "{" not in path else None
        if answer is not None and answer.status_code == 200 and answer.text.startswith('{"items"'):
            lists.append(path)
            assert {"limit", "offset"} <= named, path
            assert answer.json().keys() >= {"items", "total", "limit", "offset"}, path
            assert (answer.json()["limit"], answer.json()["offset"]) == (1, 0), path
            assert len(answer.json()["items"]) <= 1, path
            problem(door.get(f"{path}?limit=0"), 400, "validation_error")
    assert len(lists) > 15


ROUTES = {
    "POST /api/gate/call", "POST /api/gate/turns", "POST /api/gate/turns/{turn_id}/submit", "GET /api/gate/tools",
    "GET /api/approvals", "GET /api/approvals/{approval_id}", "POST /api/approvals/{approval_id}/approve",
    "POST /api/approvals/{approval_id}/reject", "POST /api/approvals/{approval_id}/edit",
    "POST /api/approvals/{approval_id}/reveal",
    "POST /api/approvals/{approval_id}/resume", "POST /api/evidence/check", "POST /api/evidence/transcript", "GET /api/audit/sessions",
    "GET /api/audit/sessions/{session_id}/receipts", "GET /api/audit/sessions/{session_id}/tool-receipts",
    "POST /api/audit/sessions/{session_id}/link-issue", "GET /api/audit/receipts/{receipt_id}",
    "GET /api/audit/receipts/{receipt_id}/proof", "GET /api/audit/records", "GET /api/audit/head",
    "POST /api/audit/verify", "GET /health", "GET /metrics",
    "POST /api/ai/chat", "POST /api/ai/chief/route", "POST /api/ai/task/execute", "POST /v1/chat/completions",
    "GET /v1/models", "GET /v1/models/{model}", "GET /api/agents", "POST /api/agents", "GET /api/agents/{agent_id}",
    "PUT /api/agents/{agent_id}", "DELETE /api/agents/{agent_id}", "GET /api/agents/{agent_id}/endpoint",
    "PUT /api/agents/{agent_id}/endpoint", "DELETE /api/agents/{agent_id}/endpoint", "GET /api/tiers/policy",
    "PUT /api/tiers/policy", "GET /api/tiers/agents", "GET /api/tiers/agents/{agent_id}",
    "GET /api/tiers/agents/{agent_id}/caps", "POST /api/tiers/agents/{agent_id}/task-result", "GET /api/credits",
    "GET /api/credits/{agent_id}",
    "GET /api/canon/index/status", "POST /api/canon/index",
    "POST /api/memory/proposals", "POST /api/memory/proposals/many", "GET /api/memory/status", "GET /api/memory/propositions",
    "POST /api/memory/texts", "GET /api/memory/observations", "GET /api/memory/observations/{observation_id}", "GET /api/memory/entities",
    "GET /api/memory/tests", "GET /api/memory/episodes", "GET /api/memory/sources",
    "GET /api/memory/propositions/{proposition_id}", "GET /api/memory/propositions/{proposition_id}/explain",
    "GET /api/memory/propositions/{proposition_id}/supports", "GET /api/memory/propositions/{proposition_id}/what-if",
    "GET /api/memory/recall", "GET /api/memory/diff", "GET /api/memory/export",
    "GET /api/workspace/tree", "GET /api/workspace/file", "GET /api/workspace/history", "GET /api/workspace/outline",
    "PUT /api/workspace/outline", "GET /api/workspace/patches", "POST /api/workspace/patches",
    "GET /api/workspace/patches/{patch_id}", "POST /api/workspace/patches/{patch_id}/apply",
    "POST /api/workspace/patches/{patch_id}/reject", "POST /api/workspace/undo",
    "POST /api/conferences", "GET /api/conferences", "GET /api/conferences/{conference_id}",
    "POST /api/conferences/{conference_id}/roster", "POST /api/conferences/{conference_id}/rounds",
    "POST /api/conferences/{conference_id}/rounds/{number}/cancel", "GET /api/conferences/{conference_id}/transcript",
    "GET /api/issues", "POST /api/issues", "POST /api/issues/from-chat", "GET /api/issues/{issue_id}",
    "PUT /api/issues/{issue_id}", "POST /api/issues/{issue_id}/comments", "POST /api/issues/{issue_id}/close",
    "POST /api/issues/{issue_id}/reopen", "POST /api/issues/{issue_id}/freeze",
    "POST /api/issues/{issue_id}/unfreeze", "GET /api/issues/memory/{agent_id}", "GET /api/issues/{issue_id}/memory",
    "PUT /api/issues/{issue_id}/memory", "POST /api/issues/{issue_id}/defer",
    "POST /api/issues/{issue_id}/memory/reword", "GET /api/notifications", "POST /api/notifications/read-all",
    "POST /api/notifications/{notification_id}/read", "GET /api/telemetry", "GET /api/telemetry/agents",
    "GET /api/telemetry/sessions", "GET /api/telemetry/sessions/{session_id}", "GET /api/telemetry/conferences",
    "GET /api/telemetry/conferences/{conference_id}", "POST /api/telemetry/conference", "GET /api/prompts",
    "GET /api/prompts/{prompt_id}", "PUT /api/prompts/{prompt_id}", "DELETE /api/prompts/{prompt_id}",
    "GET /api/prompts/proposals", "POST /api/prompts/proposals", "POST /api/prompts/proposals/{proposal_id}/accept",
    "POST /api/prompts/proposals/{proposal_id}/reject",
    "GET /api/recipes", "GET /api/runs", "POST /api/runs", "GET /api/runs/{run_id}", "GET /api/runs/{run_id}/steps",
    "GET /api/runs/{run_id}/cache/{slot}", "GET /api/runs/{run_id}/events", "POST /api/runs/{run_id}/cancel",
    "POST /api/runs/{run_id}/resume",
    "POST /ingest/upload", "GET /ingest", "GET /ingest/{dataset_id}", "PUT /ingest/mappings/{name}",
    "GET /ingest/mappings/{name}", "POST /embed/run", "GET /search/nn", "GET /search/nn/why", "POST /cluster/run", "GET /cluster/{run_id}",
    "GET /cluster/{run_id}/assignments", "POST /analysis/run", "POST /analysis/query", "GET /analysis/{analysis_id}",
    "GET /reports/{dataset_id}", "GET /reports/{dataset_id}/html", "GET /analytics/metrics", "GET /history/analyses", "GET /prompts", "POST /prompts", "GET /prompts/{version}",
    "POST /events", "POST /v1/triage/batch", "GET /v1/tickets", "GET /v1/tickets/{ticket_id}",
    "POST /v1/tickets/lease", "POST /v1/tickets/{ticket_id}/lease", "POST /v1/tickets/{ticket_id}/fill",
    "POST /v1/tickets/{ticket_id}/nack", "GET /v1/tickets/{ticket_id}/verdict",
    "POST /v1/tickets/{ticket_id}/verdict", "DELETE /v1/tickets/{ticket_id}/verdict",
    "GET /v1/desk/metrics", "GET /v1/desk/replies", "POST /v1/desk/webhook", "GET /v1/desk/gaps", "GET /v1/reviews", "GET /v1/reviews/{ticket_id}", "POST /v1/reviews/{ticket_id}/take",
    "POST /v1/reviews/{ticket_id}/approve", "POST /v1/reviews/{ticket_id}/more",
    "POST /v1/reviews/{ticket_id}/edit", "POST /v1/reviews/{ticket_id}/reject",
    "POST /v1/reviews/{ticket_id}/reassign",
}  # fmt: skip
OPEN_FORMS = {"/events", "/v1/desk/webhook", "/v1/triage/batch", "/v1/chat/completions"}
"""Somebody else's format, whose clients send fields that do not concern us."""
FILES = {"/ingest/upload"}
"""Take a form with a file in it."""


@pytest.mark.promise("doors.http-docs")
def test_every_route_is_documented_and_posts_have_a_schema_whose_example_fits(well_used: Doorway) -> None:
    found = operations(well_used)
    assert {f"{method.upper()} {path}" for path, method, _ in found} == ROUTES
    for path, method, operation in found:
        assert len(operation["summary"]) > 8, path
        assert "422" not in operation["responses"] or "HTTPValidationError" not in json.dumps(operation)
        assert "default" in operation["responses"]
        if method == "post" and path not in FILES:
            schema = operation["requestBody"]["content"]["application/json"]["schema"]
            assert path in OPEN_FORMS or schema["additionalProperties"] is False
            jsonschema_rs.validator_for(schema).validate(schema["example"])
            assert all("description" in field or "type" in field for field in schema["properties"].values())


@pytest.mark.promise("doors.http-docs")
def test_lists_document_their_page_and_filters(well_used: Doorway) -> None:
    by_path = {path: operation for path, method, operation in operations(well_used) if method == "get"}
    for path in ("/api/approvals", "/api/gate/tools", "/api/audit/sessions", "/api/audit/records"):
        names = {parameter["name"] for parameter in by_path[path]["parameters"]}
        assert names >= {"limit", "offset"}
    receipts = by_path["/api/audit/sessions/{session_id}/receipts"]["parameters"]
    assert {parameter["name"] for parameter in receipts} == {
        "session_id", "limit", "offset", "kind", "status", "tool_id", "agent_id", "turn_id",
    }  # fmt: skip


@pytest.mark.promise("doors.http-docs")
def test_what_the_schema_of_a_body_refuses_the_route_refuses_too(well_used: Doorway) -> None:
    forms = {"/api/gate/call": gate_calls.CALL, "/api/gate/turns": gate_calls.TURN}
    for path, form in forms.items():
        schema = next(
            op["requestBody"]["content"]["application/json"]["schema"]
            for at, _, op in operations(well_used)
            if at == path
        )
        assert schema == form.schema


@pytest.mark.promise("doors.http-docs")
def test_the_page_for_people_names_every_route_and_loads_nothing_from_elsewhere(well_used: Doorway) -> None:
    page = well_used.get("/api/docs")
    assert page.headers["content-type"].startswith("text/html")
    for route in ROUTES:
        assert route.split(" ")[1] in page.text
    assert "<script" not in page.text
    assert "src=" not in page.text
    assert "https://" not in page.text
    assert "`" not in page.text
    assert "['" not in page.text.replace("&#x27;", "'")


@pytest.mark.promise("doors.http-docs")
def test_the_page_for_people_says_of_every_value_what_it_must_be() -> None:
    schema = {
        "required": ["a"],
        "properties": {
            "a": {"type": ["string", "null"], "description": "Use `x` < 3."},
            "b": {"anyOf": [{"type": "null"}, {"type": "number", "minimum": 0, "maximum": 2}]},
            "c": {"enum": ["one", "two"]},
            "d": {"type": "boolean", "default": False},
            "e": {},
        },
    }
    operation = {
        "summary": "S",
        "requestBody": {"content": {"application/json": {"schema": schema}}},
        "responses": {"200": {}, "default": {"description": "Z"}, "404": {"description": "Y"}},
    }
    page = docs_page({"info": {"title": "T", "version": "1"}, "paths": {"/p": {"get": operation}}}).decode()
    for kind in (
        "string or null, needed", "null or number, 0 to 2", "one or two", "boolean; false if not given", "anything",
        "Use <code>x</code> &lt; 3.",
    ):  # fmt: skip
        assert f">{kind}<" in page
    assert page.index(">200<") < page.index(">404<") < page.index(">else<")


@pytest.mark.promise("doors.http-tools")
def test_tools_are_listed_with_their_schemas_a_page_at_a_time(well_used: Doorway) -> None:
    whole = well_used.get("/api/gate/tools", params={"limit": 500}).json()
    names = [tool["name"] for tool in whole["items"]]
    assert names == sorted(names)
    assert whole["total"] == len(names)
    double = next(tool for tool in whole["items"] if tool["name"] == "double")
    assert double.keys() == {
        "name", "description", "effect", "roles", "audited", "idempotent", "dry_run", "input_schema", "output_schema", "version",
    }  # fmt: skip
    assert double["input_schema"]["properties"] == {"number": {"type": "integer"}}
    page = well_used.get("/api/gate/tools", params={"limit": 2, "offset": 1}).json()
    assert [tool["name"] for tool in page["items"]] == names[1:3]
    problem(well_used.get("/api/gate/tools", params={"limit": "many"}), 400, "validation_error")


# -- problems ----------------------------------------------------------------------------------------------------------


@pytest.mark.promise("doors.http-problems")
def test_what_is_not_there_and_what_is_not_meant_so_is_a_problem(well_used: Doorway) -> None:
    for path in ("/", "/nowhere", "/api", "/api/gate/call/", "/api/gate/calls", "/openapi.json", "/docs", "/redoc"):
        details = problem(well_used.get(path), 404, "downstream_error")
        assert "endpoint" not in details
    wrong_method = well_used.get("/api/gate/call")
    assert problem(wrong_method, 405, "validation_error")["endpoint"] == "/api/gate/call"
    assert wrong_method.headers["allow"] == "POST"
    for method in ("PUT", "PATCH", "DELETE"):
        problem(well_used.request(method, "/api/gate/tools"), 405, "validation_error")


@pytest.mark.promise("doors.http-problems")
def test_a_room_s_own_route_answers_bad_input_and_errors_in_the_same_form(door: Doorway) -> None:
    desk = HttpContext(gate=door.gate, identity=door.server.identity, startup=door.server.startup)
    app = api(desk)

    @app.post("/api/room/{number}")
    async def room(number: int, body: dict[str, int]) -> int:
        if number == 0:
            raise PathRefused("leaves the workspace")
        if number == 1:
            raise LedgerUnwritable("the disk is full")
        return sum(body.values())

    assert door.post("/api/room/2", {"a": 1}, app=app).json() == 1
    for path, body in (("x", {"a": 1}), ("2", {"a": "hunter2"}), ("2", None), ("2", b"{"), ("2", [])):
        answer = door.post(f"/api/room/{path}", body, app=app)
        assert problem(answer, 400, "validation_error")["endpoint"] == "/api/room/{number}"
        assert "hunter2" not in answer.text
    assert problem(door.post("/api/room/0", {}, app=app), 400, "validation_error")["hint"] == "path_refused"
    assert problem(door.post("/api/room/1", {}, app=app), 503, "tool_unavailable")["hint"] == "ledger_unwritable"


@pytest.mark.promise("doors.http-problems")
def test_an_error_of_our_own_is_a_500_that_says_nothing_of_the_inside(
    open_door: OpenDoor, monkeypatch: pytest.MonkeyPatch
) -> None:
    door = open_door()

    def fail(*_: Any, **__: Any) -> Any:
        raise RuntimeError("hunter2 at /secret/path")

    # Nothing of ours fails so by itself; what is shown is what becomes of it if something does.
    monkeypatch.setattr(door.gate, "call", fail)
    monkeypatch.setattr(door.gate, "tools", fail)
    for answer in (door.call("double", {"number": 1}), door.get("/api/gate/tools")):
        problem(answer, 500, "downstream_error")
        assert "hunter2" not in answer.text
        assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.promise("doors.http-problems")
def test_a_database_that_cannot_be_used_is_503_and_the_gate_goes_on(open_door: OpenDoor, tmp_path: Path) -> None:
    broken = open_door(storage={"state_dir": str(tmp_path / "state"), "database_url": "sqlite:////no/such/folder/x.db"})
    problem(broken.get("/api/approvals"), 503, "tool_unavailable")
    held = broken.call("send_mail", {"to": "a"})
    assert held.status_code == 503
    assert held.json()["status"] == "rejected"
    assert broken.ran.calls == []
    assert broken.call("double", {"number": 1}).status_code == 200


@pytest.mark.promise("doors.http-problems")
@budget(max_examples=size(80, 3000))
@given(
    method=st.sampled_from(["GET", "POST", "PUT", "DELETE", "OPTIONS"]),
    path=st.lists(
        st.one_of(
            st.sampled_from(["api", "gate", "call", "turns", "submit", "tools", "approvals", "approve", "audit", "sessions",
                             "receipts", "proof", "records", "head", "verify", "evidence", "check", "health", "..", "%2e"]),
            st.text(alphabet=st.characters(blacklist_categories=["Cs"]), max_size=6),
        ), max_size=6,
    ),
    query=st.dictionaries(st.sampled_from(["limit", "offset", "state", "kind", "status"]), st.text(max_size=5), max_size=3),
    body=st.one_of(st.none(), st.binary(max_size=30), st.just(b"{}"), st.just(b'{"text":"x"}')),
)  # fmt: skip
def test_no_request_whatever_gives_a_500_or_anything_but_json(
    well_used: Doorway, method: str, path: list[str], query: dict[str, str], body: bytes | None
) -> None:
    target = "/" + "/".join(quote(part, safe="%") for part in path)
    answer = well_used.request(method, target, params=query, content=body)
    assert answer.status_code < 500
    if "text/html" not in answer.headers["content-type"] and "text/plain" not in answer.headers["content-type"]:
        json.loads(answer.content.splitlines()[0] if "ndjson" in answer.headers["content-type"] else answer.content)


# -- what never gets out -----------------------------------------------------------------------------------------------

SECRETS = {
    "password": "correct-horse-battery-staple-9",
    "token": "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2",
    "bearer": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJlLW9mLWFkYQ",
}


@pytest.fixture
def logged(well_used: Doorway) -> Iterator[io.StringIO]:
    """What the server would write to its log."""
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    stream = io.StringIO()
    settings = well_used.gate.settings
    set_up_logs(settings, masker=Masker(names=settings.redact.keys), form="json", stream=stream, level=logging.DEBUG)
    yield stream
    root.handlers, root.level = handlers, level


@pytest.mark.promise("doors.http-secrets", "telemetry.no-secrets")
def test_secrets_in_arguments_are_in_no_answer_of_the_audit_no_log_and_no_metric(
    open_door: OpenDoor, logged: io.StringIO
) -> None:
    door = open_door()
    password, token, bearer_token = SECRETS.values()
    bodies: list[Any] = [
        {"tool": "send_mail", "args": {"to": "a", "password": password, "body": f"use {token}"}, "session": "s1"},
        {"tool": "send_mail", "args": {"to": 7, "password": password, "body": bearer_token}, "session": "s1"},
        {"tool": "nope", "args": {"password": password, "list": [{"token": token}]}, "session": "s1"},
        {"tool": "store", "args": {"name": token}, "session": "s1"},
        {"tool": "double", "args": {"number": 1}, "session": "s1", "password": password},
        f'{{"tool":"send_mail","args":{{"password":"{password}","to":"{token}"',
        f"password={password}&token={token}",
    ]
    for body in bodies:
        assert door.post("/api/gate/call", body).status_code in {200, 202, 400}
    turn = door.post("/api/gate/turns", {"session": "s1"}).json()
    text = json.dumps({"tool": "broken", "args": {"password": password}, "nonce": turn["nonce"]})
    door.post(f"/api/gate/turns/{turn['turn_id']}/submit", {"text": text})
    door.call("broken")
    shown = [door.get("/metrics").text, door.get("/api/approvals").text, logged.getvalue()]
    for session in door.get("/api/audit/sessions").json()["items"]:
        shown.append(door.get(f"/api/audit/sessions/{session}/receipts").text)
        shown.append(door.get(f"/api/audit/sessions/{session}/tool-receipts").text)
    shown += [door.get(f"/api/audit/receipts/{receipt.receipt_id}").text for receipt in door.receipts()]
    shown += [door.get(f"/api/audit/receipts/{receipt.receipt_id}/proof").text for receipt in door.receipts()]
    shown += [
        door.get("/api/audit/records").text,
        door.get("/api/audit/head").text,
        door.post("/api/audit/verify").text,
    ]
    for name, secret in SECRETS.items():
        assert not [text for text in shown if secret in text], name


@pytest.mark.promise("doors.http-secrets")
def test_a_caller_s_token_and_the_startup_token_are_in_no_answer_and_no_log(
    open_door: OpenDoor, logged: io.StringIO
) -> None:
    door = open_door(auth=AUTH)
    headers = bearer("admin")
    token = headers["authorization"].removeprefix("Bearer ")
    approval_id = door.held(headers=headers)
    both = {**headers, **door.person}
    answers = [
        door.post(f"/api/approvals/{approval_id}/approve", headers=both),
        door.post(f"/api/approvals/{approval_id}/resume", headers=both),
        door.get("/api/approvals", headers=both),
        door.get("/api/audit/sessions/http/receipts", headers=both),
        door.post("/api/gate/call", {"tool": "broken", "args": {}}, headers=both),
        door.get("/metrics", headers=both),
    ]
    for text in [*(answer.text for answer in answers), *(str(answer.headers) for answer in answers), logged.getvalue()]:
        assert token not in text
        assert door.server.startup.value not in text


@pytest.mark.promise("doors.http-one-line")
def test_B06_newlines_and_escapes_in_names_keep_logs_views_and_answers_on_their_lines(
    open_door: OpenDoor, logged: io.StringIO
) -> None:
    door = open_door()
    hostile = 'x\n{"level":"info","event":"forged"}\r\x1b[31mred\u2028\u202e'
    for body in (
        {"tool": hostile, "args": {}}, {"tool": "echo", "args": {"text": hostile}}, {"tool": "echo", "args": {hostile: 1}},
        {"tool": "echo", "args": {"text": 1}, "agent": hostile}, {"tool": "broken", "args": {}}, {hostile: hostile},
    ):  # fmt: skip
        answer = door.post("/api/gate/call", body)
        assert b"\n" not in answer.content
        assert b"\x1b" not in answer.content
        answer.json()
    door.get("/api/audit/sessions/a%0Ab%1B/receipts")
    assert logged.getvalue()
    for line in logged.getvalue().split("\n"):
        assert not line or json.loads(line).get("event") != "forged"
        assert "\x1b" not in line
        assert "\r" not in line
    view = door.get("/api/audit/sessions/http/tool-receipts").content
    assert view.count(b"\n") == len(door.receipts()) == 6
    assert b"\x1b" not in view


@pytest.mark.promise("doors.security-headers")
def test_every_kind_of_answer_carries_the_security_headers(well_used: Doorway) -> None:
    for answer in (
        well_used.call("double", {"number": 1}), well_used.call("nope"), well_used.get("/nowhere"), well_used.get("/health"),
        well_used.get("/api/docs"), well_used.get("/metrics"), well_used.get("/api/audit/sessions/http/tool-receipts"),
        well_used.request("GET", "/health", headers={"host": "evil.example"}),
    ):  # fmt: skip
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
        assert "default-src" in answer.headers["content-security-policy"]
        assert answer.headers["cache-control"] == "no-store"
        assert "access-control-allow-origin" not in answer.headers
        assert "server" not in answer.headers

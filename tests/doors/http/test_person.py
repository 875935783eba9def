"""An agent is a program on this machine, so over loopback it calls as the owner. What stays with a person stays."""

import itertools
import re
from typing import Any

import pytest
from typer.testing import CliRunner

from tallystick.doors.cli.app import app
from tests.doors.http.doorway import BASE, Doorway, bearer, problem

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
CONTROL_ROOM = ".control-room/audit"


def state(door: Doorway, approval_id: str) -> str:
    return str(door.get(f"/api/approvals/{approval_id}").json()["state"])


@pytest.mark.promise("doors.http-person")
@pytest.mark.parametrize(
    ("path", "body"), [("approve", None), ("reject", {"reason": "I say so"}), ("edit", {"args": {"to": "me@example.org"}}),
    ("reveal", {"field": "/to"})],
)  # fmt: skip
def test_an_agent_on_loopback_cannot_answer_its_own_call(door: Doorway, path: str, body: Any) -> None:
    approval_id = door.held()
    value, cookie = door.server.startup.value, door.server.startup.cookie_name
    target = f"/api/approvals/{approval_id}/{path}"
    tries: list[dict[str, Any]] = [
        {},
        {"headers": {"x-tally-token": ""}},
        {"headers": {"x-tally-token": "0" * 64}},
        {"headers": {"x-tally-token": value[:-1]}},
        {"headers": {"x-tally-token": value + "0"}},
        {"headers": {"x-tally-token": value.upper() if value.upper() != value else value[::-1]}},
        {"headers": {"authorization": f"Bearer {value}"}},
        {"headers": {"authorization": f"Basic {value}"}},
        {"headers": {"cookie": f"other={value}"}},
        {"headers": {"cookie": f"{cookie}={'0' * 64}"}},
        {"params": {"token": value, "x-tally-token": value}},
        {"headers": {"x-tally-person": "ada", "x-forwarded-user": "ada"}},
    ]
    for attempt in tries:
        problem(door.post(target, body, **attempt), 403, "rbac_denied")
    assert state(door, approval_id) == "held"
    assert door.post(f"/api/approvals/{approval_id}/resume").status_code == 202
    assert door.ran.calls == []
    assert not [receipt for receipt in door.receipts() if receipt.header["kind"] == "approval"]


@pytest.mark.promise("doors.http-person")
def test_neither_a_token_s_roles_nor_being_the_caller_make_a_person(locked: Doorway) -> None:
    approval_id = locked.held(headers=bearer("admin"))
    for headers in (bearer("admin"), bearer("admin"), bearer("owner"), bearer("admin", "owner", "auditor")):
        problem(locked.post(f"/api/approvals/{approval_id}/approve", headers=headers), 403, "rbac_denied")
    # And the start-up token alone is no caller where callers need a token.
    problem(locked.post(f"/api/approvals/{approval_id}/approve", headers=locked.person), 401, "rbac_denied")
    assert locked.ran.calls == []


@pytest.mark.promise("doors.http-person")
def test_a_page_of_another_site_cannot_use_the_cookie(door: Doorway) -> None:
    approval_id = door.held()
    cookie = {"cookie": f"{door.server.startup.cookie_name}={door.server.startup.value}"}
    target = f"/api/approvals/{approval_id}/approve"
    for origin in ("https://evil.example", "null", "http://127.0.0.1:9999", "http://localhost.evil.example:8787"):
        problem(door.post(target, headers={**cookie, "origin": origin}), 403, "rbac_denied")
    for host in ("evil.example:8787", "127.0.0.1.evil.example"):
        problem(door.post(target, headers={**cookie, "host": host}), 403, "rbac_denied")
    assert state(door, approval_id) == "held"
    assert door.post(target, headers={**cookie, "origin": BASE}).status_code == 200


@pytest.mark.promise("doors.http-person")
def test_a_proxy_s_mark_makes_nobody_the_owner(door: Doorway) -> None:
    for mark in ("x-forwarded-for", "forwarded", "x-real-ip", "x-forwarded-host"):
        answer = door.post("/api/gate/call", {"tool": "double", "args": {"number": 1}}, headers={mark: "127.0.0.1"})
        assert answer.status_code == 401
    assert door.ran.calls == []


@pytest.mark.promise("doors.http-person")
def test_nothing_an_agent_can_ask_for_changes_policy_or_keys_or_gives_a_secret_away(door: Doorway) -> None:
    (door.workspace / "Story").mkdir()
    (door.workspace / "Story" / "one.md").write_text("She had never once set foot on a boat.\n", encoding="utf-8")
    approval_id = door.held()
    receipt_id = door.receipts()[0].receipt_id
    audit = door.workspace / CONTROL_ROOM
    keys = {path: path.read_bytes() for path in audit.glob("*.key")}
    assert {path.name for path in keys} == {"secret.key", "log.key"}
    secrets = [door.server.startup.value, *(line for data in keys.values() for line in _long_words(data))]
    digest = door.gate.policy.digest
    told = [answer.text for answer in _everything(door, approval_id, receipt_id)]
    assert len(told) > 250
    assert [secret for secret in secrets for text in told if secret in text] == []
    assert {path: path.read_bytes() for path in audit.glob("*.key")} == keys
    assert door.gate.policy.digest == digest
    assert [path.name for path in (audit / "policies").iterdir()] == [f"{digest}.toml"]
    assert not (door.workspace / "tallystick.toml").exists()
    assert state(door, approval_id) == "held"
    assert not [
        receipt for receipt in door.receipts() if receipt.header["kind"] in {"approval", "key_rotation", "erasure"}
    ]
    assert ("send_mail" in {name for name, _ in door.ran.calls}) is False


@pytest.mark.promise("doors.http-problems")
@pytest.mark.parametrize(
    ("method", "path", "command"),
    [
        ("PUT", "/api/agents/critic/endpoint", "tally agents set-endpoint"),
        ("DELETE", "/api/agents/critic/endpoint", "tally agents clear-endpoint"),
        ("POST", "/api/approvals/appr_0/approve", "tally approvals"),
        ("POST", "/api/workspace/patches/patch_0/apply", "tally studio apply"),
        ("POST", "/api/workspace/patches/patch_0/reject", "tally studio reject"),
        ("POST", "/v1/reviews/ticket_0/take", "tally desk take"),
        ("PUT", "/api/prompts/file-locator", None), ("PUT", "/api/agents/critic", None), ("PUT", "/api/tiers/policy", None),
        ("POST", "/api/issues/1/freeze", None),
    ],
)  # fmt: skip
def test_who_is_no_person_is_told_what_does_it_at_a_terminal_if_anything_does(
    well_used: Doorway, method: str, path: str, command: str | None
) -> None:
    hint = problem(well_used.request(method, path, json={}), 403, "rbac_denied")["hint"]
    assert "X-Tally-Token" in hint
    assert re.findall(r"use `([a-z -]+)`", hint) == ([] if command is None else [command])
    if command is not None:
        assert CliRunner().invoke(app, [*command.split()[1:], "--help"]).exit_code == 0


def _long_words(data: bytes) -> list[str]:
    """Whatever in a key file could be the key."""
    words = data.decode("ascii", "replace").replace('"', " ").replace(",", " ").split()
    return [word for word in words if len(word) >= 32] + [data.hex()]


def _everything(door: Doorway, approval_id: str, receipt_id: str) -> Any:
    """Every route with every method and some bodies, paths that lead to files, and what the reply check can read."""
    paths = list(door.get("/api/openapi.json").json()["paths"])
    named = {
        "approval_id": approval_id, "receipt_id": receipt_id, "session_id": "http", "turn_id": "turn_0",
        "agent_id": "writer", "model": "offline", "proposition_id": "prop_0", "observation_id": "obs_0", "conference_id": "conf_0", "number": "1",
        "patch_id": "patch_00000000",
        "issue_id": "issue_0", "notification_id": "ntf_0", "prompt_id": "no-such-tool", "proposal_id": "prop_0",
        "ticket_id": "ticket_0",
        "run_id": "run_0", "slot": "found", "dataset_id": "7", "analysis_id": "7", "name": "march", "version": "v7",
    }  # fmt: skip
    bodies: tuple[Any, ...] = (
        {},
        {"args": {"to": "x"}},
        {"reason": "r"},
        {"issueId": "I-1"},
        {"reply": "x\nEvidence: y"},
    )
    for path, method in itertools.product(paths, METHODS):
        for body in bodies if method == "POST" else (None,):
            yield door.request(method, path.format(**named), json=body)
    files = (
        f"{CONTROL_ROOM}/secret.key", f"../{CONTROL_ROOM}/secret.key", "..%2f..%2fsecret.key", "%2e%2e/secret.key",
        "secret.key", "....//secret.key", f"/{door.workspace}/{CONTROL_ROOM}/secret.key", str(door.server.startup.path),
    )  # fmt: skip
    stems = (
        "/", "/static/", "/api/", "/api/audit/", "/api/audit/sessions/", "/api/audit/receipts/", "/api/approvals/",
        "/api/keys/", "/api/policy/",
    )  # fmt: skip
    for stem, file in itertools.product(stems, files):
        yield door.get(stem + file)
        yield door.get(f"/api/audit/sessions/{file}/tool-receipts")
    for path, method in itertools.product(
        ("/api/policy", "/api/keys", "/api/keys/rotate", "/api/settings", "/api/audit/erase", "/api/policy/replay"),
        METHODS,
    ):
        yield door.request(method, path, json={"policy": {"external": "allow"}})
    for file in files:
        for claim in (
            f'It says so.\nEvidence: "one two three four five six" {file}',
            f"It is short.\nEvidence: {file}:L1-L2",
            f'Not there.\nEvidence (absence): checked {file} for "key"',
            f"May I?\nEvidence: ACCESS_REQUEST {file}",
        ):
            yield door.post("/api/evidence/check", {"reply": claim})

"""Agent turns over HTTP: begin, submit, the next nonce, the end; other people's turns; limits of a turn."""

import json
from typing import Any

import httpx
import pytest

from tallystick.doors.http import context as desk_module
from tests.doors.http.conftest import OpenDoor
from tests.doors.http.doorway import Doorway, bearer, together

TURNS = "/api/gate/turns"


def begin(door: Doorway, headers: dict[str, str] | None = None, **body: Any) -> dict[str, Any]:
    answer = door.post(TURNS, body, headers=headers)
    assert answer.status_code == 201, answer.text
    turn: dict[str, Any] = answer.json()
    return turn


def submit(door: Doorway, turn_id: str, envelope: Any, headers: dict[str, str] | None = None) -> httpx.Response:
    text = envelope if isinstance(envelope, str) else json.dumps(envelope)
    return door.post(f"{TURNS}/{turn_id}/submit", {"text": text}, headers=headers)


def double(turn: dict[str, Any], number: int = 1, *, first: bool = True) -> dict[str, Any]:
    action = {} if first else {"action": "tool"}
    return {**action, "tool": "double", "args": {"number": number}, "nonce": turn["nonce"]}


def final(turn: dict[str, Any]) -> dict[str, Any]:
    return {"action": "final", "nonce": turn["nonce"]}


@pytest.mark.promise("doors.http-turns", "admit.turn-steps")
def test_a_turn_goes_from_call_to_call_to_its_end_with_a_new_nonce_each_time(door: Doorway) -> None:
    turn = begin(door, session="s1", agent="chief", round_id="r1", conference_id="c1")
    assert turn.keys() == {"turn_id", "nonce", "schema"}
    first = submit(door, turn["turn_id"], double(turn, 4))
    assert first.status_code == 200
    after = first.json()
    assert (after["status"], after["result"], after["shown"]["text"]) == ("accepted", 8, "8")
    assert after["nonce"] != turn["nonce"]
    assert after["schema"] != turn["schema"]
    second = submit(door, turn["turn_id"], double(after, 5, first=False)).json()
    assert second["result"] == 10
    last = submit(door, turn["turn_id"], final(second)).json()
    assert last["final"] is True
    assert "nonce" not in last
    assert "result" not in last
    for receipt in door.outcomes():
        header = receipt.header
        assert (header["session_id"], header["agent_id"], header["turn_id"]) == ("s1", "chief", turn["turn_id"])
        assert (header["conference_id"], header["round_id"]) == ("c1", "r1")
    assert len(door.outcomes()) == 3


@pytest.mark.promise("doors.http-turns")
def test_a_turn_needs_no_body_at_all(door: Doorway) -> None:
    answer = door.post(TURNS)
    assert answer.status_code == 201
    assert submit(door, answer.json()["turn_id"], double(answer.json())).json()["result"] == 2
    assert door.outcomes()[0].header["session_id"] == "http"


@pytest.mark.promise("doors.http-turns", "admit.envelope", "admit.nonce-single-use", "turns.stop-hooks")
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("I would call double(1) now.", "tool_call_invalid_format"),
        ("```json\n{}\n```", "tool_call_invalid_format"),
        ('{"tool":"double","args":{"number":1},"nonce":"N"} and more', "tool_call_invalid_format"),
        ('{"tool":"double","args":{"number":1},"nonce":"N","also":1}', "tool_call_invalid_format"),
        ('{"tool":"double","args":{"number":1},"nonce":"N"}{"tool":"double","args":{"number":1},"nonce":"N"}', "tool_call_multiple"),
        ('{"tool":"double","args":{"number":1,"number":2},"nonce":"N"}', "tool_call_invalid_format"),
        ('{"tool":"double","args":{"number":"1"},"nonce":"N"}', "tool_call_invalid_args"),
        ('{"tool":"nope","args":{},"nonce":"N"}', "tool_call_unknown_tool"),
        ('{"tool":"double","args":{"number":1},"nonce":"0123456789abcdef0123456789abcdef"}', "tool_call_nonce_invalid"),
        ("", "tool_call_invalid_format"),
    ],
)  # fmt: skip
def test_a_refused_text_ends_the_turn_with_a_stop_hook(well_used: Doorway, text: str, code: str) -> None:
    turn = begin(well_used)
    ran = len(well_used.ran.calls)
    answer = submit(well_used, turn["turn_id"], text.replace("N", turn["nonce"]) if '"N"' in text else text)
    assert answer.status_code == 400
    wire = answer.json()
    assert wire["rejection"]["call_code"] == code
    assert wire["stop_hook"] == f"STOP_HOOK: tool_call_rejected {code}"
    assert "nonce" not in wire
    for first in (True, False):
        assert submit(well_used, turn["turn_id"], double(turn, first=first)).status_code == 400
    assert len(well_used.ran.calls) == ran


@pytest.mark.promise("doors.http-turns", "doors.http-nonce-once")
def test_C01_the_same_envelope_sent_twice_runs_once(door: Doorway) -> None:
    turn = begin(door)
    assert submit(door, turn["turn_id"], double(turn)).status_code == 200
    again = submit(door, turn["turn_id"], {**double(turn), "action": "tool"})
    assert again.status_code == 400
    assert again.json()["rejection"]["call_code"] == "tool_call_nonce_invalid"
    assert len(door.ran.calls) == 1


@pytest.mark.promise("doors.http-nonce-once")
def test_of_many_submissions_at_once_one_runs(door: Doorway) -> None:
    turn = begin(door)
    client = door.client()
    path, body = f"{TURNS}/{turn['turn_id']}/submit", {"text": json.dumps(double(turn))}
    answers = together(client, [lambda: client.post(path, json=body)] * 20)
    assert sorted(answer.status_code for answer in answers) == [200] + [400] * 19
    assert len(door.ran.calls) == 1
    assert len(door.outcomes()) == 20


@pytest.mark.promise("doors.http-turns-private")
def test_C02_another_caller_s_turn_is_no_turn(locked: Doorway) -> None:
    ada, eve = bearer("admin", subject="ada"), bearer("admin", subject="eve")
    turn = begin(locked, headers=ada)
    stolen = submit(locked, turn["turn_id"], double(turn), headers=eve)
    made_up = submit(locked, "turn_000000000000000000000000", double(turn), headers=eve)
    assert stolen.status_code == made_up.status_code == 400
    told = [{**answer.json(), "receipt_id": ""} for answer in (stolen, made_up)]
    assert told[0] == told[1]
    assert told[0]["rejection"]["code"] == "POLICY_VIOLATION"
    assert told[0]["rejection"]["call_code"] == "tool_call_nonce_invalid"
    assert locked.ran.calls == []
    # The owner of the turn is not disturbed by it.
    assert submit(locked, turn["turn_id"], double(turn), headers=ada).status_code == 200


@pytest.mark.promise("doors.http-turns-private", "admit.nonce-bound")
def test_C02_a_nonce_of_another_turn_is_refused(door: Doorway) -> None:
    one, two = begin(door, session="s1"), begin(door, session="s2")
    crossed = submit(door, two["turn_id"], double(one))
    assert crossed.json()["rejection"]["call_code"] == "tool_call_nonce_invalid"
    assert door.ran.calls == []


@pytest.mark.promise("doors.http-turns", "admit.nonce-expiry")
def test_C03_a_turn_that_expired_takes_nothing(open_door: OpenDoor, monkeypatch: pytest.MonkeyPatch) -> None:
    door = open_door()
    turn = begin(door)
    kept = door.gate.find_turn(turn["turn_id"])
    assert kept is not None
    # The turn's own clock is the monotonic one; this is the time at which it looks.
    monkeypatch.setattr("tallystick.turns.turn.monotonic", lambda: float("inf"))
    monkeypatch.setattr(kept._nonces, "_clock", lambda: float("inf"))
    answer = submit(door, turn["turn_id"], double(turn))
    assert answer.json()["rejection"]["call_code"] == "tool_call_nonce_invalid"
    assert door.ran.calls == []


@pytest.mark.promise("doors.http-tool-policy")
def test_only_allowed_tools_are_offered_and_taken(door: Doorway) -> None:
    turn = begin(door, toolPolicy={"allowedTools": ["echo"]})
    assert "double" not in json.dumps(turn["schema"])
    assert "echo" in json.dumps(turn["schema"])
    answer = submit(door, turn["turn_id"], double(turn))
    assert answer.status_code == 400
    assert answer.json()["rejection"]["code"] == "POLICY_VIOLATION"
    assert answer.json()["rejection"]["call_code"] == "tool_call_unknown_tool"
    assert door.ran.calls == []


@pytest.mark.promise("provenance.held")
def test_what_the_user_said_is_taken_along_over_http(door: Doorway) -> None:
    letter = "please read my letter aloud"
    turn = begin(door, userTexts=[letter])
    kept = door.gate.find_turn(turn["turn_id"])
    assert kept is not None
    assert kept._standing.heard is not None
    assert kept._standing.heard.said(letter)
    silent = door.gate.find_turn(begin(door)["turn_id"])
    assert silent is not None
    assert silent._standing.heard is None


@pytest.mark.promise("doors.http-tool-policy", "turns.required")
def test_a_turn_that_requires_a_tool_does_not_begin_with_its_end(door: Doorway) -> None:
    required = begin(door, toolPolicy={"requireTool": True})
    assert "final" not in json.dumps(required["schema"])
    assert submit(door, required["turn_id"], final(required)).status_code == 400
    free = begin(door)
    assert "final" in json.dumps(free["schema"])
    assert submit(door, free["turn_id"], final(free)).json()["final"] is True


@pytest.mark.promise("doors.http-tool-policy", "doors.http-outcomes", "turns.step-limit")
def test_steps_that_are_spent_answer_429_and_leave_only_the_end(door: Doorway) -> None:
    turn = begin(door, toolPolicy={"maxSteps": 1.0})
    one = submit(door, turn["turn_id"], double(turn)).json()
    spent = submit(door, turn["turn_id"], double(one, first=False))
    assert spent.status_code == 429
    wire = spent.json()
    assert wire["rejection"]["category"] == "budget_exceeded"
    assert wire["rejection"]["call_code"] == "tool_call_output_limit"
    assert wire["must_finish"] is True
    assert "stop_hook" not in wire
    assert "double" not in json.dumps(wire["schema"])
    assert submit(door, turn["turn_id"], final(wire)).json()["final"] is True
    assert len(door.ran.calls) == 1


@pytest.mark.promise("doors.http-tool-policy")
def test_a_turn_cannot_give_itself_more_than_the_configuration(open_door: OpenDoor) -> None:
    door = open_door(limits={"steps": 1})
    turn = begin(door, toolPolicy={"maxSteps": 100})
    one = submit(door, turn["turn_id"], double(turn)).json()
    assert submit(door, turn["turn_id"], double(one, first=False)).status_code == 429


@pytest.mark.promise("doors.http-turns", "decide.held-turn", "turns.held")
def test_a_held_call_stops_the_turn_and_resuming_goes_on_with_a_new_nonce(door: Doorway) -> None:
    turn = begin(door, agent="chief")
    envelope = {"tool": "send_mail", "args": {"to": "a@example.org"}, "nonce": turn["nonce"]}
    held = submit(door, turn["turn_id"], envelope)
    assert held.status_code == 202
    assert held.json()["stop_hook"] == "STOP_HOOK: approval_required"
    assert "nonce" not in held.json()
    approval_id = held.json()["held"]["approval_id"]
    assert door.post(f"/api/approvals/{approval_id}/approve", headers=door.person).status_code == 200
    resumed = door.post(f"/api/approvals/{approval_id}/resume")
    assert resumed.status_code == 200
    assert resumed.json()["result"] == "sent to a@example.org"
    assert submit(door, turn["turn_id"], final(resumed.json())).json()["final"] is True


@pytest.mark.promise("doors.http-strict", "doors.http-turns")
@pytest.mark.parametrize(
    "body",
    [
        b"[]", b"{", b"null", b'{"session":"s","session":"t"}', b'{"also":1}', b'{"session":"../x"}', b'{"session":7}',
        b'{"session":""}', b'{"agent":7}', b'{"agent":null}', b'{"agent":"a\\u001b[31m"}', b'{"ticket_id":""}',
        b'{"round_id":{}}', b'{"toolPolicy":[]}', b'{"toolPolicy":false}', b'{"toolPolicy":null}',
        b'{"toolPolicy":{"allowedTools":"double"}}', b'{"toolPolicy":{"allowedTools":[7]}}',
        b'{"toolPolicy":{"requireTool":"no"}}', b'{"toolPolicy":{"maxSteps":-1}}', b'{"toolPolicy":{"maxSteps":true}}',
        b'{"toolPolicy":{"maxSteps":1.5}}', b'{"toolPolicy":{"skip":true}}',
    ],
)  # fmt: skip
def test_a_turn_that_is_asked_for_wrongly_is_not_begun(well_used: Doorway, body: bytes) -> None:
    since = well_used.gate.ledger.size()
    answer = well_used.post(TURNS, body)
    assert answer.status_code == 400
    assert answer.json()["rejection"]["call_code"] == "tool_call_invalid_format"
    assert answer.json()["rejection"]["code"] == "INVALID_PAYLOAD"
    assert [receipt.receipt_id for receipt in well_used.outcomes(since)] == [answer.json()["receipt_id"]]


@pytest.mark.promise("doors.http-strict", "doors.http-turns")
@pytest.mark.parametrize(
    "body", [b"", b"{}", b"[]", b'{"text":7}', b'{"text":null}', b'{"text":"a","text":"b"}', b'{"text":"a","also":1}', b'{"text":"\\ud800"}']
)  # fmt: skip
def test_a_submission_in_the_wrong_form_is_refused_with_a_receipt_and_costs_no_nonce(
    well_used: Doorway, body: bytes
) -> None:
    turn, since = begin(well_used), well_used.gate.ledger.size()
    answer = well_used.post(f"{TURNS}/{turn['turn_id']}/submit", body)
    assert answer.status_code == 400
    assert answer.json()["rejection"]["code"] == "INVALID_PAYLOAD"
    assert [receipt.receipt_id for receipt in well_used.outcomes(since)] == [answer.json()["receipt_id"]]
    assert submit(well_used, turn["turn_id"], double(turn)).status_code == 200


@pytest.mark.promise("doors.http-turns")
def test_open_turns_are_bounded_and_the_oldest_is_closed_first(door: Doorway, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desk_module, "MAX_TURNS", 2)
    one, two, three = begin(door), begin(door), begin(door)
    assert submit(door, one["turn_id"], double(one)).json()["rejection"]["call_code"] == "tool_call_nonce_invalid"
    assert submit(door, two["turn_id"], double(two)).status_code == 200
    assert submit(door, three["turn_id"], double(three)).status_code == 200


@pytest.mark.promise("doors.http-roles")
def test_H10_a_turn_goes_on_with_the_roles_its_caller_has_now(locked: Doorway) -> None:
    turn = begin(locked, headers=bearer("analyst"))
    one = submit(
        locked, turn["turn_id"], {"tool": "analyst_runs", "args": {}, "nonce": turn["nonce"]}, headers=bearer("analyst")
    ).json()
    assert one["result"] == "analyst_runs"
    later = {"action": "tool", "tool": "analyst_runs", "args": {}, "nonce": one["nonce"]}
    demoted = submit(locked, turn["turn_id"], later, headers=bearer("viewer"))
    assert demoted.status_code == 403
    assert demoted.json()["rejection"]["category"] == "rbac_denied"
    assert [name for name, _ in locked.ran.calls] == ["analyst_runs"]
    assert locked.outcomes()[-1].header["caller"]["roles"] == ["viewer"]

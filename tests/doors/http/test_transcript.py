"""`POST /api/evidence/transcript`: what messages say was done, against their calls or those of a session."""

from typing import Any

import pytest

from tests.doors.http.conftest import OpenDoor
from tests.doors.http.doorway import AUTH, Doorway, bearer, problem

PATH = "/api/evidence/transcript"
SENT: dict[str, Any] = {"role": "assistant", "content": "I have sent the mail to anna@example.org."}
CALL: list[dict[str, Any]] = [
    {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "send_mail", "arguments": "{}"}}]},
    {"role": "tool", "tool_call_id": "c", "content": "sent"},
]


@pytest.mark.promise("reply.transcript")
def test_what_was_said_and_not_done_is_found(well_used: Doorway) -> None:
    since = well_used.gate.ledger.size()
    answer = well_used.post(PATH, {"messages": [SENT]})
    assert answer.status_code == 200
    found = answer.json()
    assert (found["ok"], found["messages"], found["calls"]) == (False, 1, 0)
    assert [(each["message"], each["code"]) for each in found["undone"]] == [(1, "action_without_receipt")]
    assert well_used.post(PATH, {"messages": [*CALL, SENT]}).json()["ok"] is True
    assert well_used.post(PATH, {"messages": [SENT], "tools": ["double"]}).json()["ok"] is True
    assert well_used.gate.ledger.size() == since


@pytest.mark.promise("reply.transcript-session")
def test_the_calls_of_a_session_count_and_those_of_the_messages_do_not(open_door: OpenDoor) -> None:
    door = open_door(policy={"external": "allow"})
    assert door.call("send_mail", {"to": "anna@example.org"}, session="s1").status_code == 200
    assert door.call("double", {"number": 1}, session="s2").status_code == 200
    assert door.post(PATH, {"messages": [SENT], "session": "s1"}).json()["ok"] is True
    assert door.post(PATH, {"messages": [*CALL, SENT], "session": "s2"}).json()["ok"] is False
    problem(door.post(PATH, {"messages": [SENT], "session": "s3"}), 404, "downstream_error")


@pytest.mark.promise("reply.transcript-session")
def test_a_session_is_compared_for_those_who_may_read_receipts(open_door: OpenDoor) -> None:
    door = open_door(auth=AUTH, policy={"external": "allow"})
    admin = bearer("admin")
    call = {"tool": "send_mail", "args": {"to": "anna@example.org"}, "session": "s1"}
    assert door.post("/api/gate/call", call, headers=admin).status_code == 200
    body = {"messages": [SENT], "session": "s1"}
    problem(door.post(PATH, body, headers=bearer("agent")), 403, "rbac_denied")
    assert door.post(PATH, {"messages": [SENT]}, headers=bearer("agent")).json()["ok"] is False
    assert door.post(PATH, body, headers=bearer("auditor")).json()["ok"] is True


@pytest.mark.promise("reply.transcript", "doors.http-problems")
@pytest.mark.parametrize(
    "body",
    [
        None, b"", b"[]", {}, {"messages": 7}, {"messages": ["a"]}, {"messages": [{"role": "nobody"}]},
        {"messages": [SENT], "tools": [7]}, {"messages": [SENT], "tools": [""]}, {"messages": [SENT], "more": 1},
        {"messages": [SENT], "session": "../a"}, {"messages": [{"role": "assistant", "content": 7}]},
        {"messages": [{"role": "tool", "tool_call_id": "c", "content": "x"}]}, {"messages": [SENT] * 5001},
    ],
)  # fmt: skip
def test_what_is_no_transcript_is_400(well_used: Doorway, body: object) -> None:
    assert problem(well_used.post(PATH, body), 400, "validation_error")["endpoint"] == PATH

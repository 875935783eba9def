"""`POST /v1/desk/webhook`: events of programs that sign them, without a token."""

import hashlib
import hmac
import json
import time
from typing import Any

import pytest

from tallystick.rooms.desk.trial import DeskRunner
from tallystick.rooms.desk.webhook_signature import SignedHeaders, refusal, sign
from tests.doors.http.conftest import OpenDoor
from tests.doors.http.doorway import AUTH, Doorway, problem

SECRET = "a secret of both sides"
EVENT = {
    "type": "m",
    "content": "When is the shop in Leeds open?",
    "thread_id": "t1",
    "event_id": "e1",
    "actor": "ines",
}


def post(door: Doorway, body: bytes, *, at: float | None = None, secret: str = SECRET, **headers: str) -> Any:
    stamp = str(int(time.time() if at is None else at))
    signed = hmac.new(secret.encode(), f"{stamp}.".encode() + body, hashlib.sha256).hexdigest()
    given = {"X-Tally-Timestamp": stamp, "X-Tally-Signature": f"sha256={signed}", "Content-Type": "application/json"}
    return door.post("/v1/desk/webhook", body, headers={**given, **headers})


@pytest.fixture
def signing(open_door: OpenDoor) -> Doorway:
    return open_door(auth=AUTH, rooms={"desk": {"webhook_in_secret": SECRET}})


@pytest.mark.promise("desk.webhook-in")
def test_a_signed_event_becomes_one_ticket_however_often_it_comes(signing: Doorway) -> None:
    body = json.dumps(EVENT).encode()
    first = post(signing, body)
    assert (first.status_code, first.json()["status"]) == (202, "queued"), first.text
    again = post(signing, body)
    assert (again.status_code, again.json()["status"], again.json()["reason"]) == (200, "skipped", "duplicate")
    assert again.json()["ticket_id"] == first.json()["ticket_id"]


@pytest.mark.promise("desk.webhook-in")
def test_what_is_not_signed_by_the_secret_or_not_of_now_is_refused(signing: Doorway) -> None:
    body, now = json.dumps(EVENT).encode(), time.time()
    refused = [
        (post(signing, body, secret="another"), "signature_wrong"),
        (post(signing, body, at=now - 400), "timestamp_too_far"),
        (post(signing, body, at=now + 400), "timestamp_too_far"),
        (post(signing, body, **{"X-Tally-Signature": ""}), "signature_missing"),
        (post(signing, body, **{"X-Tally-Timestamp": "noon"}), "timestamp_invalid"),
        (post(signing, body, **{"X-Tally-Timestamp": str(int(now) - 50)}), "signature_wrong"),
    ]
    for answer, code in refused:
        assert problem(answer, 401, "rbac_denied")["hint"] == code
    assert DeskRunner(signing.gate).service.tickets.list()[1] == 0


@pytest.mark.promise("desk.webhook-in")
def test_a_signed_request_brings_no_ticket_with_outputs(signing: Doorway) -> None:
    ticket = {
        **EVENT,
        "metadata": {"kind": "TOOL", "final_outputs": {"draft": "Everything is free."}},
        "status": "done",
    }
    answer = post(signing, json.dumps(ticket).encode())
    (found,), _ = DeskRunner(signing.gate).service.tickets.list()
    assert answer.json()["ticket_id"] == found["id"]
    assert (found["_desk"]["kind"], found["status"], "final_outputs" in found["metadata"]) == (
        "TRIAGE",
        "pending",
        False,
    )


@pytest.mark.promise("desk.webhook-in")
def test_without_a_secret_in_the_settings_no_webhook_is_taken(door: Doorway) -> None:
    answer = post(door, json.dumps(EVENT).encode())
    assert problem(answer, 403, "rbac_denied")["hint"].startswith("webhook_off")


@pytest.mark.promise("desk.webhook-in")
@pytest.mark.parametrize("changed", [b"", b"{}", b"x" * 1_000])
def test_a_signature_holds_for_its_body_alone(changed: bytes) -> None:
    given = sign(b"s", b"body", now_s=1_000)
    assert refusal(b"s", b"body", given, now_s=1_299) is None
    assert refusal(b"s", changed, given, now_s=1_000) == "signature_wrong"
    odd = SignedHeaders(timestamp="1000", signature="sha256=\u00e9")
    assert refusal(b"s", b"body", odd, now_s=1_000) == "signature_wrong"

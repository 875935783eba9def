"""`/api/approvals…`: looking, answering, resuming; and that nobody but a person answers."""

import sqlite3

import pytest

from tests.doors.http.conftest import OpenDoor
from tests.doors.http.doorway import AUTH, Doorway, bearer, problem, together

PATH = "/api/approvals"


@pytest.mark.promise("doors.http-approvals")
def test_held_calls_are_listed_newest_first_a_page_at_a_time(door: Doorway) -> None:
    assert door.get(PATH).json() == {"items": [], "total": 0, "limit": 50, "offset": 0}
    ids = [door.held(f"{n}@example.org") for n in range(5)]
    door.post(f"{PATH}/{ids[0]}/approve", headers=door.person)
    listed = door.get(PATH, params={"limit": 2, "offset": 1}).json()
    assert [item["approval_id"] for item in listed["items"]] == [ids[3], ids[2]]
    assert (listed["total"], listed["limit"], listed["offset"]) == (5, 2, 1)
    granted = door.get(PATH, params={"state": "granted"}).json()
    assert [item["approval_id"] for item in granted["items"]] == [ids[0]]
    assert granted["total"] == 1
    assert door.get(PATH, params={"offset": 99}).json()["items"] == []


@pytest.mark.promise("doors.http-approvals", "doors.http-problems")
@pytest.mark.parametrize(
    "query", ["limit=0", "limit=501", "limit=x", "limit=-1", "limit=", "limit=1.0", "limit=%D9%A1", "limit=1_0",
              "offset=-1", "offset=" + "9" * 30, "state=maybe"],
)  # fmt: skip
def test_a_list_that_is_asked_for_wrongly_is_400(well_used: Doorway, query: str) -> None:
    details = problem(well_used.get(f"{PATH}?{query}"), 400, "validation_error")
    assert details["endpoint"] == PATH


@pytest.mark.promise("doors.http-approvals")
def test_one_held_call_shows_what_is_asked_with_secrets_hidden(door: Doorway) -> None:
    answer = door.call("send_mail", {"to": "a@example.org", "password": "hunter2-hunter2"}, agent="chief")
    approval_id = answer.json()["held"]["approval_id"]
    one = door.get(f"{PATH}/{approval_id}")
    shown = one.json()
    assert (shown["state"], shown["tool"], shown["agent_id"]) == ("held", "send_mail", "chief")
    assert shown["args"]["to"] == "a@example.org"
    assert "hunter2" not in one.text
    assert "hunter2" not in door.get(PATH).text


@pytest.mark.promise("record.mask-unforged")
def test_an_argument_that_spells_a_mask_is_shown_as_the_text_it_is(door: Doorway) -> None:
    forged = '{"$redacted":"hmac-sha256:00"}'
    shown = door.get(f"{PATH}/{door.held(forged)}").json()
    assert shown["args"]["to"] == forged
    assert shown["masked"] == []


@pytest.mark.promise("doors.http-approvals", "doors.http-problems")
def test_what_is_not_there_is_404(door: Doorway) -> None:
    for method, path, body in (
        ("GET", "", None), ("POST", "/approve", None), ("POST", "/reject", {"reason": "no"}),
        ("POST", "/edit", {"args": {}}), ("POST", "/resume", None),
    ):  # fmt: skip
        answer = door.request(method, f"{PATH}/appr_nope{path}", headers=door.person, json=body)
        if body is None and method == "POST":
            answer = door.request(method, f"{PATH}/appr_nope{path}", headers=door.person)
        details = problem(answer, 404, "downstream_error")
        assert details["endpoint"] == PATH + "/{approval_id}" + path


@pytest.mark.promise("doors.http-approvals", "decide.approval-once", "decide.approval-through-gate")
def test_an_approved_call_is_resumed_once_and_its_receipt_names_person_and_channel(door: Doorway) -> None:
    approval_id = door.held()
    granted = door.post(f"{PATH}/{approval_id}/approve", headers=door.person)
    assert granted.status_code == 200
    assert (granted.json()["state"], granted.json()["person"], granted.json()["channel"]) == (
        "granted", "local", "token",
    )  # fmt: skip
    assert door.ran.calls == []
    client = door.client()
    answers = together(client, [lambda: client.post(f"{PATH}/{approval_id}/resume")] * 8)
    assert sorted(answer.status_code for answer in answers) == [200] + [400] * 7
    assert len(door.ran.calls) == 1
    ran = next(answer.json() for answer in answers if answer.status_code == 200)
    receipt = door.gate.ledger.find(ran["receipt_id"])
    assert receipt is not None
    assert receipt.header["approval"] == {"approval_id": approval_id, "person": "local", "channel": "token"}
    kinds = [receipt.header["kind"] for receipt in door.receipts()]
    assert kinds.count("approval") == 1
    said = next(receipt.header["approval"] for receipt in door.receipts() if receipt.header["kind"] == "approval")
    assert (said["answer"], said["person"], said["channel"]) == ("granted", "local", "token")


@pytest.mark.promise("doors.http-approvals", "decide.approval-bound")
def test_an_identical_call_uses_the_grant_once_and_another_one_does_not(door: Doorway) -> None:
    approval_id = door.held("a@example.org")
    door.post(f"{PATH}/{approval_id}/approve", headers=door.person)
    assert door.call("send_mail", {"to": "b@example.org"}).status_code == 202
    assert door.call("send_mail", {"to": "a@example.org"}).status_code == 200
    assert door.call("send_mail", {"to": "a@example.org"}).status_code == 202
    assert len(door.ran.calls) == 1


@pytest.mark.promise("doors.http-approvals")
@pytest.mark.parametrize("kind", ["x-tally-token", "authorization", "cookie"])
def test_the_token_counts_as_header_scheme_or_cookie(door: Doorway, kind: str) -> None:
    token, cookie = door.server.startup.value, door.server.startup.cookie_name
    headers = {"x-tally-token": token, "authorization": f"Token {token}", "cookie": f"other=1; {cookie}={token}"}
    approval_id = door.held()
    answer = door.post(f"{PATH}/{approval_id}/approve", headers={kind: headers[kind]})
    assert answer.status_code == 200
    assert answer.json()["channel"] == "token"


@pytest.mark.promise("doors.http-approvals")
def test_a_rejection_needs_a_reason_and_ends_it(door: Doorway) -> None:
    approval_id = door.held()
    for body in ({}, {"reason": ""}, {"reason": "  "}, {"reason": 7}, {"reason": "x" * 1001}, {"reason": "no", "a": 1}):
        problem(door.post(f"{PATH}/{approval_id}/reject", body, headers=door.person), 400, "validation_error")
    problem(door.post(f"{PATH}/{approval_id}/reject", headers=door.person), 400, "validation_error")
    assert door.get(f"{PATH}/{approval_id}").json()["state"] == "held"
    said = door.post(f"{PATH}/{approval_id}/reject", {"reason": "wrong address"}, headers=door.person)
    assert (said.json()["state"], said.json()["note"]) == ("refused", "wrong address")
    for path, body in (("approve", None), ("reject", {"reason": "again"}), ("edit", {"args": {"to": "b"}})):
        problem(door.post(f"{PATH}/{approval_id}/{path}", body, headers=door.person), 409, "downstream_error")
    resumed = door.post(f"{PATH}/{approval_id}/resume")
    assert resumed.status_code == 400
    assert resumed.json()["rejection"]["reason"] == "approval_refused"
    assert door.ran.calls == []


@pytest.mark.promise("doors.http-approvals", "decide.approval-edit")
def test_an_edited_call_is_checked_again_and_runs_as_edited(door: Doorway) -> None:
    approval_id = door.held("a@example.org")
    for body in ({}, {"args": []}, {"args": None}, {"args": {}, "more": 1}):
        problem(door.post(f"{PATH}/{approval_id}/edit", body, headers=door.person), 400, "validation_error")
    edited = door.post(f"{PATH}/{approval_id}/edit", {"args": {"to": "b@example.org"}}, headers=door.person)
    assert (edited.json()["state"], edited.json()["args"]) == ("edited", {"to": "b@example.org"})
    done = door.post(f"{PATH}/{approval_id}/resume").json()
    assert done["result"] == "sent to b@example.org"
    assert [args[0] for _, args in door.ran.calls] == ["b@example.org"]


@pytest.mark.promise("doors.http-approvals", "doors.http-secrets")
def test_a_secret_left_as_it_was_shown_stays_what_it_is(door: Doorway) -> None:
    held = door.call("send_mail", {"to": "a@example.org", "password": "hunter2-hunter2"}).json()["held"]["approval_id"]
    shown = door.get(f"{PATH}/{held}").json()["args"]
    wanted = {**shown, "to": "b@example.org"}
    edited = door.post(f"{PATH}/{held}/edit", {"args": wanted}, headers=door.person)
    assert edited.status_code == 200
    assert "hunter2" not in edited.text
    assert door.post(f"{PATH}/{held}/resume").status_code == 200
    assert door.ran.calls == [("send_mail", ("b@example.org", "", "hunter2-hunter2"))]


@pytest.mark.promise("doors.http-approvals", "doors.http-secrets")
def test_a_secret_s_digest_put_elsewhere_brings_no_secret_there(door: Doorway) -> None:
    held = door.call("send_mail", {"to": "a@example.org", "password": "hunter2-hunter2"}).json()["held"]["approval_id"]
    shown = door.get(f"{PATH}/{held}").json()["args"]
    door.post(f"{PATH}/{held}/edit", {"args": {"to": "a", "body": shown["password"]}}, headers=door.person)
    assert door.post(f"{PATH}/{held}/resume").status_code == 400
    assert door.ran.calls == []


@pytest.mark.promise("doors.http-approvals")
def test_an_edit_that_does_not_fit_the_tool_runs_nothing(door: Doorway) -> None:
    approval_id = door.held()
    door.post(f"{PATH}/{approval_id}/edit", {"args": {"to": 7}}, headers=door.person)
    resumed = door.post(f"{PATH}/{approval_id}/resume")
    assert resumed.status_code == 400
    assert resumed.json()["rejection"]["call_code"] == "tool_call_invalid_args"
    assert door.ran.calls == []


@pytest.mark.promise("doors.http-approvals")
def test_a_call_nobody_answered_yet_stays_held_when_resumed(door: Doorway) -> None:
    approval_id = door.held()
    resumed = door.post(f"{PATH}/{approval_id}/resume")
    assert resumed.status_code == 202
    assert resumed.json()["status"] == "rejected"
    assert door.ran.calls == []
    assert door.get(f"{PATH}/{approval_id}").json()["state"] == "held"


@pytest.mark.promise("doors.http-approvals")
def test_a_grant_survives_the_server_and_is_resumed_by_the_next(open_door: OpenDoor) -> None:
    door = open_door()
    approval_id = door.held()
    door.post(f"{PATH}/{approval_id}/approve", headers=door.person)
    old = door.person
    door.close()
    later = open_door()
    assert later.post(f"{PATH}/{approval_id}/resume").json()["result"] == "sent to a@example.org"
    # Each start has a token of its own.
    problem(later.post(f"{PATH}/{later.held()}/approve", headers=old), 403, "rbac_denied")


@pytest.mark.promise("doors.http-roles", "doors.http-approvals", "decide.h10")
def test_H10_a_role_removed_after_the_approval_stops_the_call(open_door: OpenDoor) -> None:
    door = open_door(auth=AUTH, tools={"analyst_runs": {"decision": "ask"}})
    body = {"tool": "analyst_runs", "args": {}}
    held = door.post("/api/gate/call", body, headers=bearer("analyst"))
    approval_id = held.json()["held"]["approval_id"]
    person = {**bearer("admin", subject="grace"), **door.person}
    assert door.post(f"{PATH}/{approval_id}/approve", headers=person).json()["person"] == "grace"
    resumed = door.post(f"{PATH}/{approval_id}/resume", headers=bearer("viewer"))
    assert resumed.status_code == 403
    assert resumed.json()["rejection"]["category"] == "rbac_denied"
    assert door.ran.calls == []


@pytest.mark.promise("doors.http-approvals")
def test_nobody_else_resumes_somebody_s_call(locked: Doorway) -> None:
    approval_id = locked.held(headers=bearer("admin"))
    person = {**bearer("admin", subject="grace"), **locked.person}
    locked.post(f"{PATH}/{approval_id}/approve", headers=person)
    for other in (bearer("admin", subject="eve"), bearer("admin", subject="grace")):
        problem(locked.post(f"{PATH}/{approval_id}/resume", headers=other), 404, "downstream_error")
    assert locked.ran.calls == []
    assert locked.post(f"{PATH}/{approval_id}/resume", headers=bearer("admin")).status_code == 200


@pytest.mark.promise("doors.http-approvals", "doors.http-problems")
def test_approving_and_resuming_take_no_other_body_than_an_empty_one(door: Doorway) -> None:
    approval_id = door.held()
    for path in ("approve", "resume"):
        for body in ({"args": {"to": "b"}}, [], "null", b"{"):
            answer = door.post(f"{PATH}/{approval_id}/{path}", body, headers=door.person)
            problem(answer, 400, "validation_error")
    assert door.post(f"{PATH}/{approval_id}/approve", {}, headers=door.person).status_code == 200


HIDDEN = "sk-proj-AbCdEfGhIjKlMnOpQrSt"


def held_with(door: Doorway, **args: str) -> str:
    answer = door.call("send_mail", {"to": "a@example.org", **args}, session="s1", agent="chief")
    assert answer.status_code == 202, answer.text
    approval_id: str = answer.json()["held"]["approval_id"]
    return approval_id


@pytest.mark.promise("doors.http-approvals", "record.token-alone", "record.mask-revealed")
def test_a_masked_part_is_revealed_to_a_person_and_to_nobody_else(door: Doorway) -> None:
    approval_id = held_with(door, body=f"delete all, key {HIDDEN}, at once", password="hunter2-hunter2")
    shown = door.get(f"{PATH}/{approval_id}")
    before, _, after = shown.json()["args"]["body"]["$masked"]
    assert (before, after) == ("delete all, key ", ", at once")
    assert shown.json()["masked"] == ["/body", "/password"]
    wanted = {"field": "/body"}
    problem(door.post(f"{PATH}/{approval_id}/reveal", wanted), 403, "rbac_denied")
    size = door.gate.ledger.size()
    revealed = door.post(f"{PATH}/{approval_id}/reveal", wanted, headers=door.person)
    assert revealed.status_code == 200
    assert revealed.json()["value"] == f"delete all, key {HIDDEN}, at once"
    assert revealed.headers["cache-control"] == "no-store"
    again = door.post(f"{PATH}/{approval_id}/reveal", {"field": "/password"}, headers=door.person)
    assert again.json()["value"] == "hunter2-hunter2"
    first, second = door.receipts(size)
    assert first.header["audit"]["metadata"] == {"channel": "token", "field": "/body"}
    assert second.header["audit"]["resource"] == f"approval:{approval_id}"
    assert HIDDEN not in str(first.flat())
    for field, status in (("/to", 400), ("/nope", 400), ("", 400)):
        problem(
            door.post(f"{PATH}/{approval_id}/reveal", {"field": field}, headers=door.person), status, "validation_error"
        )
    problem(door.post(f"{PATH}/appr_no/reveal", wanted, headers=door.person), 404, "downstream_error")


@pytest.mark.promise("doors.http-approvals", "decide.approval-session")
def test_another_session_or_agent_does_not_use_the_grant(door: Doorway) -> None:
    approval_id = held_with(door)
    door.post(f"{PATH}/{approval_id}/approve", headers=door.person)
    for session, agent in (("s2", "chief"), ("s1", "critic")):
        other = door.call("send_mail", {"to": "a@example.org"}, session=session, agent=agent)
        assert other.status_code == 202
        assert other.json()["held"]["approval_id"] != approval_id
    assert door.ran.calls == []
    assert door.call("send_mail", {"to": "a@example.org"}, session="s1", agent="chief").status_code == 200
    assert len(door.ran.calls) == 1


@pytest.mark.promise("doors.http-approvals", "decide.approval-recorded")
def test_a_request_changed_in_the_database_is_neither_approved_nor_resumed(door: Doorway) -> None:
    approved, waiting = held_with(door), held_with(door, body="later")
    door.post(f"{PATH}/{approved}/approve", headers=door.person)
    with sqlite3.connect(door.workspace / ".control-room" / "tallystick.db") as database:
        database.execute("UPDATE tally_approvals SET args = ?", (b'{"to":"mallory@example.org"}',))
    database.close()
    resumed = door.post(f"{PATH}/{approved}/resume")
    assert (resumed.status_code, resumed.json()["rejection"]["reason"]) == (400, "approval_mismatch")
    problem(door.post(f"{PATH}/{waiting}/approve", headers=door.person), 409, "downstream_error")
    problem(door.post(f"{PATH}/{waiting}/reveal", {"field": "/to"}, headers=door.person), 409, "downstream_error")
    assert door.ran.calls == []
    assert not door.post("/api/audit/verify", {}, headers=door.person).json()["ok"]


@pytest.mark.promise("doors.visible")
def test_what_is_written_for_people_shows_hidden_characters(door: Doorway) -> None:
    approval_id = held_with(door, body="alice@x.org\u202egro.live@\u200b")
    shown = door.get(f"{PATH}/{approval_id}").json()
    assert "alice@x.org\\u202egro.live@\\u200b" in shown["args_text"]
    assert not {"\u202e", "\u200b"} & set(shown["args_text"])
    assert len(shown["hidden_characters"]) == 2
    # The arguments themselves stay what they are.
    assert shown["args"]["body"] == "alice@x.org\u202egro.live@\u200b"

"""`/events`, `/v1/triage/batch` and `/v1/tickets…`: a worker outside, honest or not, and what the server makes of it."""

import json
from typing import Any

import pytest

from tallystick.rooms.desk.model import derived_id
from tallystick.rooms.desk.room import Desk
from tests.doors.http.conftest import OpenDoor
from tests.doors.http.doorway import Doorway, bearer, problem

TICKETS = "/v1/tickets"
QUESTION = "How many days do I have to return an unused item?"
DOCUMENT = "# Returns\n\nYou can return any unused item within 30 days of delivery. Send it back in its box.\n"
APPROVED = {
    "decision": "APPROVE",
    "information_needs": [{"question": "How many days to return an unused item?", "purpose": "say it"}],
    "reply_strategy": "cite",
    "short_reason": "a question",
}
SAYS_PROCEED = {"tool_verdict": {"status": "PROCEED", "reason": "trust me"}}


@pytest.fixture
def outside(open_door: OpenDoor) -> Doorway:
    """A desk that leaves all tickets to leases, with one document."""
    door = open_door(
        rooms={
            "desk": {
                "workers": "outside",
                "kb": "kb",
                "kb_meaning": False,
                "send": "auto",
                "verdict": {"threshold": 0.35},
            }
        }
    )
    (door.workspace / "kb").mkdir()
    (door.workspace / "kb" / "returns.md").write_text(DOCUMENT, encoding="utf-8")
    return door


def service(door: Doorway) -> Any:
    room = door.gate.room("desk")
    assert isinstance(room, Desk)
    return room.service


def event(door: Doorway, content: str = QUESTION, **more: Any) -> str:
    answer = door.post("/events", {"type": "email", "content": content, **more})
    assert answer.status_code == 202, answer.text
    ticket_id: str = answer.json()["ticket_id"]
    return ticket_id


def lease(door: Doorway, ticket_id: str, owner: str = "w1") -> dict[str, Any]:
    answer = door.post(f"{TICKETS}/{ticket_id}/lease", {"lease_owner": owner})
    assert answer.status_code == 200, answer.text
    leased: dict[str, Any] = answer.json()
    return leased


def fill(door: Doorway, leased: dict[str, Any], outputs: Any, ticket_id: str | None = None) -> Any:
    proof = {"lease_owner": leased["lease_owner"], "lease_token": leased["lease_token"], "by": "w1"}
    return door.post(f"{TICKETS}/{ticket_id or leased['ticket_id']}/fill", {**proof, "outputs": outputs})


def to_tool(door: Doorway, content: str = QUESTION, **more: Any) -> str:
    """Bring an event as far as its TOOL ticket."""
    (tool,) = fill(door, lease(door, event(door, content, **more)), APPROVED).json()["derived"]
    return str(tool)


def gathered(door: Doorway, leased: dict[str, Any]) -> dict[str, Any]:
    """What an honest worker brings: real calls in the ticket's session, each with its receipt."""
    trace, evidence = [], []
    for tool, args in (("kb.search", {"query": "return unused item days"}), ("kb.read", {"doc": "returns.md"})):
        outcome = door.call(tool, args, session=leased["session"]).json()
        assert outcome["status"] == "accepted", outcome
        trace.append(
            {
                "tool_name": tool,
                "args": args,
                "result": outcome["result"],
                "timestamp": "2026-01-05T10:00:00Z",
                "receipt_id": outcome["receipt_id"],
            }
        )
    evidence.append(
        {
            "source": "returns.md",
            "snippet": "You can return any unused item within 30 days of delivery.",
            "relevance_score": 0.9,
            "evidence_id": "ev_1",
            "quote_ok": True,
            "need": 0,
            "receipt_id": trace[0]["receipt_id"],
        }
    )
    context = {
        "evidence": evidence,
        "tool_trace": trace,
        "truncated": False,
        "turn_control": {"turns_used": 2, "max_turns": 3},
    }
    return {"tool_context": context, **SAYS_PROCEED}


def replies(door: Doorway) -> list[str]:
    return [one["id"] for one in door.get(TICKETS, params={"kind": "REPLY"}).json()["items"]]


def tried(door: Doorway, ticket_id: str) -> list[dict[str, Any]]:
    """What the ledger says was tried with a ticket."""
    notes = [one.header["audit"] for one in door.receipts() if one.header["kind"] == "note"]
    return [note["metadata"] for note in notes if note["resource"] == f"tickets/{ticket_id}"]


# -- coming in ---------------------------------------------------------------------------------------------------------


@pytest.mark.promise("desk.http", "desk.events")
def test_an_event_is_queued_once_and_shown(door: Doorway) -> None:
    given = {"type": "email", "thread_id": "th", "content": QUESTION, "event_id": "1"}
    first = door.post("/events", given)
    assert (first.status_code, first.json().keys()) == (202, {"status", "ticket_id"})
    again = door.post("/events", given)
    assert (again.status_code, again.json()) == (
        200,
        {"status": "skipped", "reason": "duplicate", "ticket_id": first.json()["ticket_id"]},
    )
    shown = door.get(f"{TICKETS}/{first.json()['ticket_id']}").json()
    assert (shown["event"], shown["metadata"]["kind"]) == (given, "TRIAGE")
    assert shown["_desk"]["session"] == f"desk-{shown['id']}"
    listed = door.get(TICKETS).json()
    assert (listed["total"], listed["limit"], listed["offset"], len(listed["items"])) == (1, 50, 0, 1)
    for query, total in (
        ("status=pending&kind=TRIAGE", 1),
        ("thread_id=th", 1),
        ("thread_id=x%00", 0),
        ("kind=TOOL", 0),
        ("offset=1", 1),
    ):
        assert door.get(f"{TICKETS}?{query}").json()["total"] == total


@pytest.mark.promise("desk.http")
@pytest.mark.parametrize(
    ("body", "status", "reason"),
    [
        ({}, 400, "content_missing"),
        ({"content": ""}, 400, "content_missing"),
        ({"content": "x" * 200_000}, 400, "content_too_long"),
        ({"content": "x", "timestamp": "1999-01-01T00:00:00Z"}, 200, "too_old"),
        ({"id": "no way", "metadata": {}}, 400, "id_invalid"),
    ],
)
def test_what_is_not_taken_says_so(door: Doorway, body: Any, status: int, reason: str) -> None:
    answer = door.post("/events", body)
    assert (answer.status_code, answer.json()["reason"]) == (status, reason)
    assert door.get(TICKETS).json()["total"] == 0


@pytest.mark.promise("desk.http")
def test_what_is_no_event_at_all_is_a_problem(door: Doorway) -> None:
    problem(door.post("/events", {"content": "x" * 5_000_000}), 413, "validation_error")
    for body in (b"", b"{", b"[]", b'{"content":"a","content":"b"}', b"\xff"):
        problem(door.post("/events", body), 400, "validation_error")
        problem(door.post("/v1/triage/batch", body), 400, "validation_error")
    assert problem(door.post("/v1/triage/batch", {"events": 7}), 400, "validation_error")["hint"] == "batch_malformed"
    many = {"events": [{"content": str(number)} for number in range(501)]}
    assert problem(door.post("/v1/triage/batch", many), 400, "validation_error")["hint"] == "batch_too_large"
    assert door.get(TICKETS).json()["total"] == 0


@pytest.mark.promise("desk.http", "desk.batch")
def test_a_batch_takes_events_and_tickets_each_for_itself(door: Doorway) -> None:
    ticket = {"id": "tool-1", "flow_id": "tool_execution_v1", "metadata": {"kind": "TOOL"}}
    answer = door.post("/v1/triage/batch", {"events": [{"content": "a"}, {"content": ""}], "tickets": [ticket, 7]})
    assert answer.status_code == 200
    body = answer.json()
    assert (body["total"], body["queued"], body["skipped"], body["rejected"]) == (4, 2, 0, 2)
    assert [one["status"] for one in body["items"]] == ["queued", "rejected", "queued", "rejected"]
    single = door.post("/v1/triage/batch", ticket).json()
    assert single["items"] == [{"status": "skipped", "reason": "duplicate", "ticket_id": "tool-1"}]
    assert door.post("/events", {**ticket, "type": "other"}).status_code == 409


# -- an honest worker --------------------------------------------------------------------------------------------------


@pytest.mark.promise("desk.http", "desk.outside", "reply.references-removed")
def test_an_honest_worker_brings_a_reply_about_and_it_goes_out(outside: Doorway) -> None:
    triage = event(outside, thread_id="th", actor="ada@example.org")
    given = outside.post(f"{TICKETS}/lease", {"lease_owner": "w1", "kind": "TRIAGE", "limit": 5}).json()
    assert (given["total"], given["items"][0]["ticket"]["id"], given["items"][0]["ticket"]["status"]) == (
        1,
        triage,
        "running",
    )
    filled = fill(outside, given["items"][0], APPROVED).json()
    assert (filled["status"], filled["derived"]) == ("done", [derived_id("TOOL", triage)])
    leased = lease(outside, filled["derived"][0])
    judged = fill(outside, leased, gathered(outside, leased)).json()
    assert judged["tool_verdict"]["status"] == "PROCEED", judged
    (reply,) = judged["derived"]
    draft = "You can return any unused item within 30 days of delivery [ev:ev_1]."
    ended = fill(outside, lease(outside, reply), {"draft": {"text": draft}}).json()
    assert (ended["status"], ended["queued"]) == ("done", True), ended
    assert service(outside).sending.send_due().sent == 1
    (file,) = (outside.workspace / ".control-room" / "desk" / "outbox").glob("*.json")
    sent = json.loads(file.read_text(encoding="utf-8"))
    assert (sent["to"], sent["text"]) == (
        "ada@example.org",
        "You can return any unused item within 30 days of delivery.",
    )
    verdict = outside.get(f"{TICKETS}/{leased['ticket_id']}/verdict").json()
    assert (verdict["tool_verdict"]["status"], verdict["proposed"]["reason"]) == ("PROCEED", "trust me")


# -- workers that lie --------------------------------------------------------------------------------------------------


@pytest.mark.promise("desk.lying-worker")
@pytest.mark.parametrize("lie", ["no trace", "forged trace", "another ticket's receipts", "no evidence"])
def test_a_worker_that_lies_brings_no_reply_about_and_the_attempt_is_in_the_ledger(outside: Doorway, lie: str) -> None:
    leased = lease(outside, to_tool(outside))
    other = lease(outside, to_tool(outside, "Another question about returns?", thread_id="other"))
    honest = gathered(outside, other)
    context = dict(honest["tool_context"])
    if lie == "forged trace":
        context["tool_trace"] = [{**one, "receipt_id": f"rcpt_{'0' * 24}"} for one in context["tool_trace"]]
    outputs: dict[str, Any] = {
        "no trace": {**SAYS_PROCEED, "tool_context": {**context, "tool_trace": []}},
        "no evidence": SAYS_PROCEED,
    }.get(lie, {**SAYS_PROCEED, "tool_context": context})
    answer = fill(outside, leased, outputs).json()
    assert answer["tool_verdict"]["status"] in {"DEFER", "BLOCK"}
    assert (answer["derived"], replies(outside)) == ([], [])
    (attempt,) = tried(outside, leased["ticket_id"])
    assert (attempt["proposed"], attempt["verdict"]) == ("PROCEED", answer["tool_verdict"]["status"])


@pytest.mark.promise("desk.lying-worker", "desk.late", "desk.lease")
def test_a_worker_whose_lease_has_ended_changes_nothing(outside: Doorway) -> None:
    leased = lease(outside, to_tool(outside))
    outputs = gathered(outside, leased)
    name = leased["ticket_id"]
    store = service(outside).store
    with store.transaction() as tx:
        tx.lease(tx.get(name), owner="w1", token_hash=tx.lease_hash(name), lasts_ms=-1)
    assert problem(fill(outside, leased, outputs), 409, "downstream_error")["hint"] == "lease_expired"
    lease(outside, name, "w2")
    assert problem(fill(outside, leased, outputs), 409, "downstream_error")["hint"] == "lease_expired"
    assert replies(outside) == []
    assert [one["refused"] for one in tried(outside, name)] == ["lease_expired"] * 2


@pytest.mark.promise("desk.lying-worker", "desk.posted-outputs")
def test_a_ticket_posted_with_its_own_proceed_is_judged_by_the_server_alone(outside: Doorway) -> None:
    ticket = {
        "id": "tool-mine",
        "event": {"content": QUESTION},
        "metadata": {"kind": "TOOL", "final_outputs": SAYS_PROCEED},
    }
    assert outside.post("/events", ticket).status_code == 202
    assert replies(outside) == []
    hint = problem(outside.get(f"{TICKETS}/tool-mine/verdict"), 404, "downstream_error")["hint"]
    assert hint == "verdict_missing"
    judged = outside.post(f"{TICKETS}/tool-mine/verdict").json()
    assert (judged["status"], judged["derived"], replies(outside)) == ("review", [], [])
    assert outside.post(f"{TICKETS}/tool-mine/verdict").json()["repeated"]


# -- codes -------------------------------------------------------------------------------------------------------------


@pytest.mark.promise("desk.http", "desk.proof-first")
def test_whatever_is_wrong_with_a_lease_is_409_and_comes_before_what_is_wrong_with_outputs(outside: Doorway) -> None:
    name = event(outside)
    proof = {"lease_owner": "w1", "lease_token": "x"}

    def hint(path: str, body: Any, status: int = 409) -> Any:
        category = "validation_error" if status == 400 else "downstream_error"
        return problem(outside.post(f"{TICKETS}/{path}", body), status, category)["hint"]

    for outputs in (None, 7, "x", {}):
        assert hint(f"{name}/fill", {**proof, "outputs": outputs}) == "lease_missing"
    assert hint(f"{name}/nack", proof) == "lease_missing"
    leased = lease(outside, name)
    assert hint(f"{name}/lease", {"lease_owner": "w2"}) == "already_leased"
    assert hint(f"{name}/fill", {**proof, "outputs": 7}) == "lease_not_yours"
    held = {"lease_owner": "w1", "lease_token": leased["lease_token"]}
    assert hint(f"{name}/fill", {**held, "outputs": 7}, 400).startswith("outputs_invalid")
    longer = outside.post(f"{TICKETS}/{name}/lease", {**held, "lease_s": 9}).json()
    assert (longer["lease_token"], longer["lease_ms"]) == (leased["lease_token"], 9_000)
    back = outside.post(f"{TICKETS}/{name}/nack", held).json()
    assert (back["status"], back["incomplete"], back["repeated"]) == ("pending", "given_back", False)
    assert outside.post(f"{TICKETS}/{name}/nack", held).json()["repeated"]
    assert hint(f"{name}/fill", {**held, "outputs": APPROVED}) == "lease_token_used"
    assert hint(f"{name}/lease", {"lease_owner": "w2"}) == "not_yet"
    assert hint(f"{name}/verdict", {}) == "not_a_tool_ticket"
    for path in ("nobody/lease", "nobody/fill", "nobody/nack", "%00/nack"):
        assert hint(path, {**proof} if path != "nobody/lease" else {"lease_owner": "w"}, 404) == "ticket_unknown"
    assert hint("nobody/verdict", {}, 404) == "ticket_unknown"
    problem(outside.get(f"{TICKETS}/nobody"), 404, "downstream_error")


@pytest.mark.promise("desk.http")
@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("lease", {}),
        ("lease", {"lease_owner": ""}),
        ("lease", {"lease_owner": "w", "limit": 0}),
        ("lease", {"lease_owner": "w", "limit": 51}),
        ("lease", {"lease_owner": "w", "kind": "DANCE"}),
        ("lease", {"lease_owner": "w\n"}),
        ("lease", {"lease_owner": "w", "lease_s": -1}),
        ("x/lease", {}),
        ("x/fill", {"lease_owner": "w"}),
        ("x/fill", {"lease_token": "t"}),
        ("x/nack", {}),
        ("x/verdict", {"a": 1}),
        ("x/fill", {"lease_owner": "w", "lease_token": "t", "outputs": {}, "more": 1}),
    ],
)
def test_a_form_that_does_not_fit_is_400(well_used: Doorway, path: str, body: Any) -> None:
    problem(well_used.post(f"{TICKETS}/{path}", body), 400, "validation_error")


@pytest.mark.promise("desk.own-worker", "desk.http")
def test_a_ticket_our_own_worker_has_begun_answers_a_lease_with_409(door: Doorway) -> None:
    name = event(door)
    service(door).leases.begin(name, "run-1")
    answer = door.post(f"{TICKETS}/{name}/lease", {"lease_owner": "w"})
    assert problem(answer, 409, "downstream_error")["hint"] == "begun_by_worker"
    assert door.post(f"{TICKETS}/lease", {"lease_owner": "w"}).json() == {"items": [], "total": 0}


@pytest.mark.promise("desk.http", "desk.send-check")
def test_only_a_person_takes_a_verdict_back(outside: Doorway, locked: Doorway) -> None:
    leased = lease(outside, to_tool(outside))
    name = leased["ticket_id"]
    fill(outside, leased, gathered(outside, leased))
    problem(outside.request("DELETE", f"{TICKETS}/{name}/verdict"), 403, "rbac_denied")
    taken = outside.request("DELETE", f"{TICKETS}/{name}/verdict", headers=outside.person)
    assert (taken.status_code, taken.json()["tool_verdict"]["rule_id"]) == (200, "defer.withdrawn")
    missing = outside.request("DELETE", f"{TICKETS}/nobody/verdict", headers=outside.person)
    assert problem(missing, 404, "downstream_error")["hint"] == "ticket_unknown"
    problem(locked.request("DELETE", f"{TICKETS}/x/verdict", headers=bearer("admin")), 403, "rbac_denied")

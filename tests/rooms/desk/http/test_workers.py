"""Who may say something about a ticket: whoever holds it, within its policy, and nobody else in its session."""

from typing import Any

import pytest
import sqlalchemy as sa

from tallystick.rooms.desk.model import derived_id, session_of
from tallystick.rooms.desk.room import Desk
from tallystick.rooms.desk.store.tables import TICKETS as TABLE
from tallystick.rooms.desk.trial import DeskRunner
from tests.doors.http.conftest import OpenDoor
from tests.doors.http.doorway import AUTH, Doorway, bearer, problem
from tests.rooms.desk.http.test_tickets import APPROVED, DOCUMENT, QUESTION, SAYS_PROCEED, TICKETS

WORKER, VIEWER = bearer("support", subject="worker"), bearer("support", subject="viewer")
POLICY = {
    "max_turns": 3,
    "web_search_strategy": "focused",
    "web_search_budget": 5,
    "tool_whitelist": ["kb.search", "kb.read"],
}


def opened(open_door: OpenDoor, workers: str, **changes: Any) -> Doorway:
    door = open_door(
        rooms={
            "desk": {
                "workers": workers,
                "kb": "kb",
                "kb_meaning": False,
                "send": "auto",
                "verdict": {"threshold": 0.35},
            }
        },
        **changes,
    )
    (door.workspace / "kb").mkdir()
    (door.workspace / "kb" / "returns.md").write_text(DOCUMENT, encoding="utf-8")
    return door


@pytest.fixture
def guarded(open_door: OpenDoor) -> Doorway:
    """A desk for workers outside, where everyone needs a token."""
    return opened(open_door, "outside", auth=AUTH)


def posted(door: Doorway, name: str = "b3", **policy: Any) -> str:
    """A TOOL ticket; gives its session."""
    given = {"triage": APPROVED, "tool_policy": {**POLICY, **policy}}
    ticket = {"id": name, "event": {"content": QUESTION}, "metadata": {"kind": "TOOL", "tool_input": given}}
    assert door.post("/events", ticket, headers=WORKER).status_code == 202
    return session_of(name)


def lease(door: Doorway, name: str = "b3", who: dict[str, str] = WORKER) -> dict[str, Any]:
    answer = door.post(f"{TICKETS}/{name}/lease", {"lease_owner": "w"}, headers=who)
    assert answer.status_code == 200, answer.text
    leased: dict[str, Any] = answer.json()
    return leased


def call(door: Doorway, session: str, who: dict[str, str], tool: str = "kb.search", **args: Any) -> dict[str, Any]:
    outcome: dict[str, Any] = door.post(
        "/api/gate/call", {"tool": tool, "args": args or {"query": QUESTION}, "session": session}, headers=who
    ).json()
    return outcome


def outputs(outcome: dict[str, Any]) -> dict[str, Any]:
    piece = {
        "source": "returns.md",
        "snippet": "You can return any unused item within 30 days of delivery.",
        "relevance_score": 0.9,
        "evidence_id": "ev_1",
        "receipt_id": outcome["receipt_id"],
    }
    trace = [{"tool_name": "kb.search", "args": {"query": QUESTION}, "receipt_id": outcome["receipt_id"]}]
    return {"tool_context": {"evidence": [piece], "tool_trace": trace}, **SAYS_PROCEED}


def fill(door: Doorway, leased: dict[str, Any], given: Any, who: dict[str, str] = WORKER) -> dict[str, Any]:
    proof = {"lease_owner": leased["lease_owner"], "lease_token": leased["lease_token"]}
    answer = door.post(f"{TICKETS}/{leased['ticket_id']}/fill", {**proof, "outputs": given}, headers=who)
    assert answer.status_code == 200, answer.text
    filled: dict[str, Any] = answer.json()
    return filled


def give_back(door: Doorway, leased: dict[str, Any], who: dict[str, str]) -> None:
    """Give a ticket back, and let its back-off be over."""
    proof = {"lease_owner": "w", "lease_token": leased["lease_token"]}
    assert door.post(f"{TICKETS}/{leased['ticket_id']}/nack", proof, headers=who).status_code == 200
    room = door.gate.room("desk")
    assert isinstance(room, Desk)
    with room.service.store.transaction() as tx:
        tx.connection.execute(sa.update(TABLE).values(not_before=0))


@pytest.mark.promise("desk.whose-calls", "desk.outside")
def test_what_others_do_in_the_session_of_a_ticket_silences_no_customer(guarded: Doorway) -> None:
    session = posted(guarded)
    leased = lease(guarded)
    assert call(guarded, session, VIEWER, "no.such.tool")["status"] == "rejected"
    filled = fill(guarded, leased, outputs(call(guarded, session, WORKER)))
    assert filled["tool_verdict"]["rule_id"] == "proceed.covered"
    assert call(guarded, session, VIEWER, "no.such.tool")["status"] == "rejected"
    # The draft is judged with its evidence, which is judged again.
    (reply,) = filled["derived"]
    draft = {"draft": "You can return any unused item within 30 days of delivery [ev:ev_1]."}
    assert fill(guarded, lease(guarded, reply), draft)["queued"]


@pytest.mark.promise("desk.whose-calls", "desk.outside")
def test_what_the_holder_of_a_ticket_does_in_its_session_counts(guarded: Doorway) -> None:
    session = posted(guarded)
    leased = lease(guarded)
    found = outputs(call(guarded, session, WORKER))
    assert call(guarded, session, WORKER, "no.such.tool")["status"] == "rejected"
    assert fill(guarded, leased, found)["tool_verdict"]["rule_id"] == "block.security-code"


@pytest.mark.promise("desk.whose-calls", "desk.lying-worker")
def test_calls_of_somebody_else_are_no_evidence(guarded: Doorway) -> None:
    session = posted(guarded)
    leased = lease(guarded)
    filled = fill(guarded, leased, outputs(call(guarded, session, VIEWER)))
    assert filled["tool_verdict"]["rule_id"] == "defer.trace-unproved"


@pytest.mark.promise("desk.whose-calls", "desk.outside")
def test_what_somebody_did_who_held_it_before_does_not_count_for_the_next(guarded: Doorway) -> None:
    session = posted(guarded)
    first = lease(guarded, who=VIEWER)
    assert call(guarded, session, VIEWER, "no.such.tool")["status"] == "rejected"
    give_back(guarded, first, VIEWER)
    filled = fill(guarded, lease(guarded), outputs(call(guarded, session, WORKER)))
    assert filled["tool_verdict"]["status"] == "PROCEED"


@pytest.mark.promise("desk.whose-calls")
@pytest.mark.parametrize("auth", [{"enabled": False}, AUTH])
def test_what_comes_through_a_door_does_not_count_for_a_ticket_of_our_own_worker(
    open_door: OpenDoor, auth: dict[str, Any]
) -> None:
    door = opened(open_door, "own", auth=auth)
    triage = door.post("/events", {"type": "email", "content": QUESTION}, headers=VIEWER).json()["ticket_id"]
    tool = derived_id("TOOL", triage)
    assert call(door, session_of(tool), VIEWER, "no.such.tool")["status"] == "rejected"
    ended = list(DeskRunner(door.gate).work([triage], run="here"))
    assert [(one.kind, one.status) for one in ended] == [("TRIAGE", "done"), ("TOOL", "done"), ("REPLY", "done")]


@pytest.mark.promise("desk.policy-binds")
@pytest.mark.parametrize(
    ("policy", "calls", "rule"),
    [
        ({}, 1, "proceed.covered"),
        ({"max_turns": 0}, 1, "defer.over-budget"),
        ({"web_search_budget": 0}, 1, "defer.over-budget"),
        ({"max_turns": -3}, 1, "defer.over-budget"),
        ({}, 2, "defer.over-budget"),
        ({"web_search_strategy": "broad"}, 3, "proceed.covered"),
        ({"web_search_strategy": "exhaustive", "max_turns": 9}, 5, "proceed.covered"),
        ({"web_search_strategy": "exhaustive", "max_turns": 9}, 6, "defer.over-budget"),
        ({"web_search_strategy": "exhaustive"}, 4, "defer.over-budget"),
    ],
)
def test_a_worker_outside_is_bound_by_the_policy_of_the_ticket(
    guarded: Doorway, policy: dict[str, Any], calls: int, rule: str
) -> None:
    session = posted(guarded, **policy)
    leased = lease(guarded)
    made = [call(guarded, session, WORKER) for _ in range(calls)]
    assert fill(guarded, leased, outputs(made[0]))["tool_verdict"]["rule_id"] == rule


@pytest.mark.promise("desk.policy-binds")
def test_every_attempt_has_the_budget_of_the_ticket(guarded: Doorway) -> None:
    session = posted(guarded)
    first = lease(guarded)
    call(guarded, session, WORKER)
    give_back(guarded, first, WORKER)
    again = lease(guarded)
    filled = fill(guarded, again, outputs(call(guarded, session, WORKER)))
    assert filled["tool_verdict"]["rule_id"] == "proceed.covered"


@pytest.mark.promise("desk.policy-binds")
def test_calls_that_were_made_before_the_lease_are_counted(guarded: Doorway) -> None:
    session = posted(guarded)
    made = [call(guarded, session, WORKER) for _ in range(4)]
    filled = fill(guarded, lease(guarded), outputs(made[0]))
    assert filled["tool_verdict"]["rule_id"] == "defer.over-budget"


@pytest.mark.promise("desk.figures")
def test_the_desk_in_numbers_is_served_to_people_and_to_dashboards(guarded: Doorway) -> None:
    posted(guarded)
    fill(guarded, lease(guarded), SAYS_PROCEED)
    problem(guarded.get("/v1/desk/metrics"), 401, "rbac_denied")
    figures = guarded.get("/v1/desk/metrics", headers=VIEWER).json()
    assert (figures["defer"], figures["proceed"], figures["waiting_for_people"]) == (1, 0, 1)
    assert figures["mean_review_ms"] >= 0
    lines = guarded.get("/metrics", headers=VIEWER).text.splitlines()
    assert {"desk_defer 1.0", "desk_proceed 0.0", "desk_waiting_for_people 1.0"} <= set(lines)


@pytest.mark.promise("desk.reviews-http")
@pytest.mark.parametrize("action", ["take", "approve", "more"])
def test_who_must_be_a_person_is_told_the_command_that_does_it(guarded: Doorway, action: str) -> None:
    refused = problem(guarded.post(f"/v1/reviews/b3/{action}", headers=VIEWER), 403, "rbac_denied")
    assert f"`tally desk {action}`" in refused["hint"]

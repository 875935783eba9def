"""`/v1/reviews`: looking needs a role, deciding needs a person, and the codes say what is wrong."""

from pathlib import Path
from typing import Any

import pytest

from tallystick.rooms.desk.trial import DeskRunner
from tests.doors.http.conftest import OpenDoor
from tests.doors.http.doorway import AUTH, Doorway, bearer, problem

QUEUE = "/v1/reviews"
RETURNS = "# Refunds\n\nA refund for a returned item is paid within 14 days of its arrival.\n"
QUESTION = "When is the refund for a returned item paid?"


def deferred(door: Doorway, question: str = QUESTION) -> str:
    """A ticket that waits for people; gives the id it has in the queue."""
    folder: Path = door.workspace / "kb"
    folder.mkdir(exist_ok=True)
    (folder / "refunds.md").write_text(RETURNS, encoding="utf-8")
    support = DeskRunner(door.gate)
    there = {card.name for card in door.gate.tools()}
    # The folder came after the workspace was opened.
    door.gate.register(*(one for one in support.room.tools() if one.card.name not in there))
    received = support.service.intake.take({"type": "m", "thread_id": question, "content": question, "actor": "ines"})
    assert received.ticket_id is not None
    last = list(support.work([received.ticket_id], run="test"))[-1]
    assert last.status == "review"
    return last.ticket_id


def decide(door: Doorway, name: str, action: str, body: Any = None, **headers: str) -> Any:
    return door.post(f"{QUEUE}/{name}/{action}", {} if body is None else body, headers={**door.person, **headers})


@pytest.mark.promise("desk.reviews-http", "desk.queue")
def test_the_queue_is_listed_with_evidence_rule_and_draft(door: Doorway) -> None:
    name = deferred(door)
    listed = door.get(QUEUE, params={"limit": 1}).json()
    assert (listed["total"], listed["items"][0]["ticket_id"]) == (1, name)
    one = door.get(f"{QUEUE}/{name}").json()
    assert one == {**listed["items"][0], "question": None, "similar": [], "conversation": []}
    assert (one["customer"], one["owner"], one["no_draft"], one["overdue"]) == ("ines", None, None, False)
    assert (one["rule_id"], one["state"], one["event"]["content"]) == ("defer.category", "waiting", QUESTION)
    assert "within 14 days" in one["draft"]
    assert one["evidence"][0]["holds"] is True
    assert door.get(QUEUE, params={"state": "approved"}).json()["total"] == 0
    assert door.get(QUEUE, params={"state": "all"}).json()["total"] == 1


@pytest.mark.promise("desk.reviews-http")
def test_looking_needs_a_role(locked: Doorway) -> None:
    name = deferred(locked)
    for path in (QUEUE, f"{QUEUE}/{name}"):
        problem(locked.get(path), 401, "rbac_denied")
        problem(locked.get(path, headers=bearer("analyst")), 403, "rbac_denied")
        for role in ("support", "auditor", "admin"):
            assert locked.get(path, headers=bearer(role)).status_code == 200


@pytest.mark.promise("desk.reviews-http")
@pytest.mark.parametrize(
    ("action", "body"),
    [
        ("take", {}),
        ("approve", {}),
        ("more", {}),
        ("edit", {"text": "x", "insist": True}),
        ("reject", {"reason": "no"}),
        ("reassign", {"to": "bob"}),
    ],
)
def test_deciding_needs_a_person_whatever_the_roles(open_door: OpenDoor, action: str, body: Any) -> None:
    door = open_door(auth=AUTH)
    name = deferred(door)
    path = f"{QUEUE}/{name}/{action}"
    for headers in (bearer("support"), bearer("admin", "owner", "support")):
        problem(door.post(path, body, headers=headers), 403, "rbac_denied")
    problem(door.post(path, body, headers=door.person), 401, "rbac_denied")
    assert door.get(f"{QUEUE}/{name}", headers=bearer("support")).json()["state"] == "waiting"
    answer = door.post(path, body, headers={**door.person, **bearer("support", subject="ada")})
    assert answer.status_code == 200, answer.text
    assert answer.json()["person"] == ("bob" if action == "reassign" else "ada")


@pytest.mark.promise("desk.reviews-http")
def test_what_cannot_be_has_a_fixed_code(locked: Doorway) -> None:
    ada, bob = bearer("support", subject="ada"), bearer("support", subject="bob")
    name = deferred(locked)
    gone = problem(decide(locked, "ticket_0", "take", **ada), 404, "downstream_error")
    assert gone["hint"] == "review_unknown"
    problem(locked.get(f"{QUEUE}/ticket_0", headers=ada), 404, "downstream_error")
    assert decide(locked, name, "take", **ada).json()["state"] == "taken"
    assert problem(decide(locked, name, "take", **bob), 409, "downstream_error")["hint"] == "review_taken"
    text = {"text": "Everything is free."}
    assert problem(decide(locked, name, "edit", text, **ada), 422, "downstream_error")["hint"] == "unsupported_sentence"
    data = {"text": "Write to eve@example.org.", "insist": True}
    assert problem(decide(locked, name, "edit", data, **ada), 422, "downstream_error")["hint"] == "personal_data"
    assert decide(locked, name, "approve", **ada).json()["state"] == "approved"
    assert problem(decide(locked, name, "approve", **ada), 409, "downstream_error")["hint"] == "review_over"
    wanted = deferred(locked, "I want to speak to a person.")
    assert problem(decide(locked, wanted, "approve", **ada), 409, "downstream_error")["hint"] == "draft_missing"


@pytest.mark.promise("desk.reviews-http")
@pytest.mark.parametrize(
    ("action", "body"),
    [
        ("edit", {}),
        ("edit", {"text": ""}),
        ("edit", {"text": 7}),
        ("edit", {"text": "x", "insist": "yes"}),
        ("edit", {"text": "x" * 20_001}),
        ("reject", {}),
        ("reject", {"reason": ""}),
        ("reassign", {"to": ""}),
        ("reassign", {}),
        ("take", {"more": 1}),
        ("approve", []),
    ],
)
def test_a_body_that_does_not_fit_decides_nothing(well_used: Doorway, action: str, body: Any) -> None:
    problem(decide(well_used, "ticket_0", action, body), 400, "validation_error")


@pytest.mark.promise("desk.reviews-http")
def test_an_unknown_state_is_refused(door: Doorway) -> None:
    problem(door.get(QUEUE, params={"state": "lost"}), 400, "validation_error")

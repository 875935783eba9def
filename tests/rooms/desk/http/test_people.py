"""What people work with, over HTTP: the card, what stands beside a ticket, ready replies and content gaps."""

import pytest

from tallystick.rooms.desk.trial import DeskRunner
from tests.doors.http.doorway import Doorway
from tests.rooms.desk.http.test_reviews import QUESTION, QUEUE, decide, deferred


def taken(door: Doorway, content: str, thread: str) -> str:
    """A message that was worked on and waits; gives the id of its last ticket."""
    support = DeskRunner(door.gate)
    event = {"type": "m", "thread_id": thread, "content": content, "actor": "ines"}
    received = support.service.intake.take(event)
    assert received.ticket_id is not None
    return list(support.work([received.ticket_id], run=f"test-{thread}"))[-1].ticket_id


@pytest.mark.promise("desk.queue-card", "desk.queue-draft", "desk.queue-assign")
def test_the_queue_says_whose_a_ticket_is_since_when_and_whether_there_is_a_draft(door: Doorway) -> None:
    name = deferred(door)
    waits = taken(door, "I want to speak to a person.", "t2")
    by_id = {one["ticket_id"]: one for one in door.get(QUEUE).json()["items"]}
    assert by_id.keys() == {name, waits}
    for one in by_id.values():
        assert (one["customer"], one["owner"], one["overdue"]) == ("ines", None, False)
        assert one["due"] == one["received"] + 24 * 3_600_000
        assert bool(one["draft"].strip()) != bool(one["no_draft"])
    assert decide(door, name, "reassign", {"to": "maria"}).json()["person"] == "maria"
    mine = door.get(QUEUE, params={"owner": "maria", "state": "all"}).json()
    assert [(one["ticket_id"], one["owner"]) for one in mine["items"]] == [(name, "maria")]


@pytest.mark.promise("desk.queue-similar", "desk.queue-conversation", "desk.queue-question")
def test_beside_a_ticket_stand_earlier_messages_similar_answers_and_a_question(door: Doorway) -> None:
    name = deferred(door)
    text = {"text": "Within 14 days, and we hurry.", "insist": True}
    assert decide(door, name, "edit", text).json()["state"] == "approved"
    DeskRunner(door.gate).service.sending.send_due()
    for which, days in (("two", "3"), ("three", "9")):
        words = f"# Brisa {which} manual\n\nThe filter of the device lasts for {days} days after a refund.\n"
        (door.workspace / "kb" / f"brisa-{which}.md").write_text(words, encoding="utf-8")
    again = door.get(f"{QUEUE}/{taken(door, 'When is my refund for the returned item paid?', 't2')}").json()
    assert [one["ticket_id"] for one in again["similar"]] == [name]
    assert again["conversation"] == []
    later = door.get(f"{QUEUE}/{taken(door, 'I want my money back. And the refund for the box?', QUESTION)}").json()
    assert [one["by"] for one in later["conversation"]] == ["customer", "local"]
    which = door.get(f"{QUEUE}/{taken(door, 'I want my money back. How many days does the filter last?', 't3')}").json()
    assert "Brisa two manual" in which["question"]


@pytest.mark.promise("desk.canned-replies", "desk.gaps")
def test_ready_replies_and_content_gaps_are_listed(door: Doorway) -> None:
    deferred(door)
    folder = door.workspace / "desk"
    folder.mkdir()
    (folder / "replies.toml").write_text('sorry = "We sell no instruments."\n')
    assert door.get("/v1/desk/replies").json() == {"replies": {"sorry": "We sell no instruments."}}
    asked = [taken(door, text, text) for text in ("Which trombone suits a giraffe?", "Which trombone suits an ape?")]
    (gap,) = door.get("/v1/desk/gaps", params={"days": "7"}).json()["gaps"]
    assert (gap["tickets"], set(gap["ticket_ids"])) == (2, set(asked))
    assert decide(door, asked[0], "edit", {"text": "We sell no instruments."}).json()["state"] == "approved"
    assert door.get("/v1/desk/gaps", params={"days": "0"}).status_code == 400

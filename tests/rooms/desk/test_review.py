"""The queue for people: one has a ticket at a time, a decision is in the ledger, and only a person's word sends."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
import sqlalchemy as sa

from tallystick import tool
from tallystick.agents.problem import Problem
from tallystick.rooms.desk.model import Review, session_of
from tallystick.rooms.desk.options import VerdictPolicy
from tallystick.rooms.desk.reply.outbox import SendResult
from tallystick.rooms.desk.review import ReviewItem, ReviewQueue
from tallystick.rooms.desk.service import figures
from tallystick.rooms.desk.store.tables import REVIEWS
from tallystick.rooms.desk.verdict.judge import ServerJudge
from tests.rooms.desk.desk_service import APPROVED, Desk, caller

SAID = "Delivery takes three working days."
ADA, BOB = caller("ada"), caller("bob")


@tool(effect="read", name="kb.search")
def kb_search(query: str) -> dict[str, Any]:
    "Search the documents."
    return {"passages": [{"doc": "delivery.md", "text": SAID, "score": 0.9}]}


class Queue:
    """The queue of an office, with the desk's own judge behind it."""

    def __init__(self, desk: Desk) -> None:
        desk.gate.register(kb_search)
        self.desk = desk
        judge = ServerJudge(VerdictPolicy(), desk.gate.ledger.session, lambda _: "read")
        self.reviews = ReviewQueue(desk.service, judge)

    def deferred(self, draft: str = f"{SAID} [ev:ev_1]", **more: Any) -> str:
        """A TOOL ticket before people, with evidence that holds; gives its id."""
        self.desk.judge.status = "DEFER"
        triage = self.desk.event(**more)
        (name,) = self.desk.fill(triage, APPROVED).derived
        self.desk.fill(name, self.outputs(name, draft))
        self.desk.judge.status = "PROCEED"
        return name

    def outputs(self, name: str, draft: str) -> dict[str, Any]:
        found = self.desk.gate.call_sync("kb.search", {"query": "How long?"}, session=session_of(name))
        piece = {"source": "delivery.md", "snippet": SAID, "evidence_id": "ev_1", "receipt_id": found.receipt_id}
        swapped = {"source": "other.md", "snippet": "It takes a year.", "evidence_id": "ev_2", "receipt_id": None}
        return {
            "tool_context": {"evidence": [piece, swapped]},
            "tool_verdict": {"status": "PROCEED", "reason": "found"},
            "draft": {"text": draft},
        }

    def run_out(self) -> None:
        """Let what was taken have been taken long ago."""
        with self.desk.service.store.transaction() as tx:
            tx.connection.execute(sa.update(REVIEWS).where(REVIEWS.c.state == "taken").values(taken_until=1))


@pytest.fixture
def queue(desk: Desk) -> Queue:
    return Queue(desk)


def code(result: Any) -> str:
    assert isinstance(result, Problem), result
    return result.code


@pytest.mark.promise("desk.queue")
def test_what_is_deferred_waits_with_its_evidence_the_rule_and_the_draft(queue: Queue) -> None:
    first, second = queue.deferred(content="first"), queue.deferred(content="second")
    found, total = queue.reviews.queue()
    assert ([one.review.ticket_id for one in found], total) == ([first, second], 2)
    told = found[0].as_dict()
    assert (told["state"], told["rule_id"], told["draft"]) == ("waiting", "told.defer", f"{SAID} [ev:ev_1]")
    assert told["event"]["content"] == "first"
    # Whether the words stand where they are said to is for us to say.
    assert [piece["holds"] for piece in told["evidence"]] == [True, False]
    assert queue.reviews.queue(limit=1, offset=1)[0][0].review.ticket_id == second
    assert isinstance(queue.reviews.show(first), ReviewItem)
    assert code(queue.reviews.show("nobody")) == "review_unknown"


@pytest.mark.promise("desk.queue-take")
def test_of_many_who_take_a_ticket_at_once_one_has_it(queue: Queue) -> None:
    name = queue.deferred()
    people = [caller(f"person-{number}") for number in range(6)]
    with ThreadPoolExecutor(6) as pool:
        tried = list(pool.map(lambda who: queue.reviews.take(name, caller=who), people))
    taken = [one for one in tried if isinstance(one, Review)]
    assert len(taken) == 1
    assert {code(one) for one in tried if isinstance(one, Problem)} == {"review_taken"}
    owner = next(who for who in people if who.subject == taken[0].person)
    assert isinstance(queue.reviews.take(name, caller=owner), Review)
    others = [who for who in people if who is not owner]
    assert code(queue.reviews.approve(name, caller=others[0])) == "review_taken"
    assert code(queue.reviews.reject(name, caller=others[1], reason="no")) == "review_taken"
    assert queue.desk.messages() == []


@pytest.mark.promise("desk.queue-take")
def test_what_is_taken_and_left_lying_goes_back(queue: Queue) -> None:
    name = queue.deferred()
    queue.reviews.take(name, caller=ADA)
    assert queue.reviews.queue()[1] == 0
    assert queue.reviews.queue(state="taken")[1] == 1
    queue.run_out()
    found, _ = queue.reviews.queue()
    assert [(one.review.ticket_id, one.review.person) for one in found] == [(name, None)]
    queue.reviews.take(name, caller=ADA)
    queue.run_out()
    # Nobody has to look at the queue first.
    after = queue.reviews.take(name, caller=BOB)
    assert isinstance(after, Review)
    assert after.person == "bob"


@pytest.mark.promise("desk.queue-decide")
def test_an_approved_draft_goes_out_by_the_person_s_word_without_its_references(queue: Queue) -> None:
    name = queue.deferred()
    assert queue.desk.service.sending.send_due() == SendResult()
    after = queue.reviews.approve(name, caller=ADA)
    assert isinstance(after, Review)
    assert (after.state, queue.desk.ticket(name).status) == ("approved", "done")
    assert queue.desk.service.sending.send_due() == SendResult(sent=1)
    (message,) = queue.desk.messages("sent")
    assert (message.payload["text"], message.payload["by"]) == (SAID, "ada")
    for late in (queue.reviews.approve, queue.reviews.take, queue.reviews.more):
        assert code(late(name, caller=BOB)) == "review_over"
    assert len(queue.desk.messages()) == 1


@pytest.mark.promise("desk.queue-decide")
def test_two_who_approve_at_once_send_one_message(queue: Queue) -> None:
    name = queue.deferred()
    with ThreadPoolExecutor(4) as pool:
        tried = list(pool.map(lambda who: queue.reviews.approve(name, caller=who), (ADA, BOB, ADA, BOB)))
    assert sum(isinstance(one, Review) for one in tried) == 1
    assert {code(one) for one in tried if isinstance(one, Problem)} == {"review_over"}
    assert queue.desk.service.sending.send_due() == SendResult(sent=1)


@pytest.mark.promise("desk.queue-decide")
def test_there_is_nothing_to_approve_without_a_draft(queue: Queue) -> None:
    name = queue.deferred(draft="")
    assert code(queue.reviews.approve(name, caller=ADA)) == "draft_missing"
    assert queue.desk.ticket(name).status == "review"
    edited = queue.reviews.edit(name, f"{SAID} [ev:ev_1]", caller=ADA)
    assert isinstance(edited, Review)


@pytest.mark.promise("desk.queue-edit")
@pytest.mark.parametrize(
    "text",
    [
        "It takes two days.",
        "It takes two days. [ev:ev_1]",
        "It takes a year. [ev:ev_2]",
        f"{SAID} [ev:ev_9]",
        f"{SAID} [ev:ev_1] You also get a present.",
    ],
    ids=["cites nothing", "another number", "evidence that does not hold", "no such evidence", "one sentence more"],
)
def test_another_text_is_checked_again_and_sent_when_the_person_insists(queue: Queue, text: str) -> None:
    name = queue.deferred()
    assert code(queue.reviews.edit(name, text, caller=ADA)) == "unsupported_sentence"
    assert (queue.desk.ticket(name).status, queue.desk.messages()) == ("review", [])
    assert isinstance(queue.reviews.edit(name, text, caller=ADA, insist=True), Review)
    (message,) = queue.desk.messages()
    assert "[ev:" not in message.payload["text"]


@pytest.mark.promise("desk.queue-edit")
def test_a_text_with_somebody_else_s_data_does_not_go_out_though_a_person_insists(queue: Queue) -> None:
    name = queue.deferred(actor="ada@example.org")
    text = f"Hello, {SAID} [ev:ev_1] Write to eve@example.org. [ev:ev_1]"
    assert code(queue.reviews.edit(name, text, caller=ADA, insist=True)) == "personal_data"
    own = f"{SAID} [ev:ev_1] We wrote to ada@example.org."
    assert isinstance(queue.reviews.edit(name, own, caller=ADA, insist=True), Review)


@pytest.mark.promise("desk.queue-decide")
def test_what_is_rejected_is_never_answered(queue: Queue) -> None:
    name = queue.deferred()
    after = queue.reviews.reject(name, caller=ADA, reason="We do not say this in writing.")
    assert isinstance(after, Review)
    assert (after.state, queue.desk.ticket(name).status) == ("rejected", "blocked")
    assert "in writing" in after.reason
    assert code(queue.reviews.approve(name, caller=ADA)) == "review_over"
    assert (queue.desk.service.sending.send_due(), queue.desk.messages()) == (SendResult(), [])


@pytest.mark.promise("desk.queue-more")
def test_what_needs_more_evidence_is_worked_on_again_and_may_then_go_on_by_itself(queue: Queue) -> None:
    name = queue.deferred()
    queue.desk.woken.clear()
    after = queue.reviews.more(name, caller=ADA)
    assert isinstance(after, Review)
    ticket = queue.desk.ticket(name)
    # One attempt more: the work of the one before has been done and would not be done again.
    assert (after.state, ticket.status, ticket.attempts, ticket.judged) == ("returned", "pending", 1, None)
    assert queue.desk.woken == [name]
    assert queue.reviews.queue()[1] == 0
    # The same search would find the same.
    policy = ticket.tool_input["tool_policy"]
    assert (policy["web_search_strategy"], policy["web_search_budget"], policy["max_turns"]) == ("broad", 15, 6)
    assert "final_outputs" not in ticket.metadata
    (reply,) = queue.desk.fill(name, queue.outputs(name, "")).derived
    assert queue.desk.fill(reply, {"draft": SAID}).queued
    assert queue.desk.service.sending.send_due() == SendResult(sent=1)


@pytest.mark.promise("desk.queue-more")
def test_what_is_deferred_again_waits_again(queue: Queue) -> None:
    name = queue.deferred()
    queue.reviews.more(name, caller=ADA)
    queue.desk.judge.status = "DEFER"
    queue.desk.fill(name, queue.outputs(name, f"{SAID} [ev:ev_1]"))
    found, _ = queue.reviews.queue()
    assert [(one.review.ticket_id, one.review.person) for one in found] == [(name, None)]
    assert isinstance(queue.reviews.approve(name, caller=BOB), Review)


@pytest.mark.promise("desk.queue-take")
def test_a_ticket_is_given_to_another_who_then_decides(queue: Queue) -> None:
    name = queue.deferred()
    queue.reviews.take(name, caller=ADA)
    assert code(queue.reviews.reassign(name, "bob", caller=BOB)) == "review_taken"
    after = queue.reviews.reassign(name, "bob", caller=ADA)
    assert isinstance(after, Review)
    assert (after.state, after.person) == ("taken", "bob")
    assert code(queue.reviews.approve(name, caller=ADA)) == "review_taken"
    assert isinstance(queue.reviews.approve(name, caller=BOB), Review)


@pytest.mark.promise("desk.queue-block")
def test_what_is_blocked_never_comes_before_people(queue: Queue) -> None:
    queue.desk.judge.status = "BLOCK"
    (name,) = queue.desk.fill(queue.desk.event(), APPROVED).derived
    queue.desk.fill(name, queue.outputs(name, SAID))
    assert queue.desk.ticket(name).status == "blocked"
    assert queue.reviews.queue(state=None) == ([], 0)
    for how in (queue.reviews.take, queue.reviews.approve, queue.reviews.more):
        assert code(how(name, caller=ADA)) == "review_unknown"
    assert code(queue.reviews.edit(name, SAID, caller=ADA, insist=True)) == "review_unknown"
    assert queue.desk.messages() == []


@pytest.mark.promise("desk.queue-ledger")
def test_every_decision_stands_in_the_ledger_with_its_person_and_refused_ones_do_not(queue: Queue) -> None:
    name = queue.deferred()
    queue.reviews.take(name, caller=ADA)
    queue.reviews.approve(name, caller=BOB)
    queue.reviews.reassign(name, "bob", caller=ADA)
    queue.reviews.edit(name, "It takes two days.", caller=BOB)
    queue.reviews.edit(name, "It takes two days.", caller=BOB, insist=True)
    others = [queue.deferred(content="two"), queue.deferred(content="three"), queue.deferred(content="four")]
    queue.reviews.approve(others[0], caller=ADA)
    queue.reviews.reject(others[1], caller=ADA, reason="no")
    queue.reviews.more(others[2], caller=ADA)
    noted = [
        (one.header["audit"]["action"], one.header["audit"]["subject"], one.header["audit"]["metadata"]["state"])
        for one in queue.desk.notes()
        if one.header["audit"]["metadata"].get("rule_id") == "told.defer" and "state" in one.header["audit"]["metadata"]
    ]
    assert noted == [
        ("desk.take", "ada", "taken"),
        ("desk.reassign", "ada", "taken"),
        ("desk.edit", "bob", "approved"),
        ("desk.approve", "ada", "approved"),
        ("desk.reject", "ada", "rejected"),
        ("desk.more_evidence", "ada", "returned"),
    ]


@pytest.mark.promise("desk.figures")
def test_how_often_people_overrule_the_machine_is_counted(queue: Queue) -> None:
    names = [queue.deferred(content=f"question {number}") for number in range(4)]
    queue.reviews.approve(names[0], caller=ADA)
    queue.reviews.approve(names[1], caller=ADA)
    queue.reviews.reject(names[2], caller=ADA, reason="no")
    with queue.desk.service.store.reading() as tx:
        found = figures(tx)
    assert (found["defer"], found["waiting_for_people"], found["override_rate"]) == (4, 1, round(2 / 3, 4))
    assert found["oldest_review_ms"] >= found["mean_review_ms"] >= 0
    assert found["mean_decision_ms"] >= 0
    assert found["unsupported_sentence_rate"] is None


@pytest.mark.promise("desk.figures")
def test_what_triage_and_drafts_leave_to_people_is_counted_and_sentences_one_by_one(queue: Queue) -> None:
    desk = queue.desk
    desk.fill(desk.event(), {"decision": "DEFER"})
    desk.fill(desk.event(), {"decision": "APPROVE"})
    _, tool, reply = desk.to_reply()
    found = desk.gate.call_sync("kb.search", {"query": "How long?"}, session=session_of(tool))
    piece = {"source": "delivery.md", "snippet": SAID, "evidence_id": "ev_1", "receipt_id": found.receipt_id}
    with desk.service.store.transaction() as tx:
        before = tx.get(tool)
        assert before is not None
        outputs = {"tool_context": {"evidence": [piece]}, "tool_verdict": {"status": "PROCEED", "proposed": {}}}
        needs = {"information_needs": [{"question": "How long does delivery take?"}]}
        metadata = {**before.metadata, "final_outputs": outputs, "tool_input": {"triage": needs}}
        tx.save(replace(before, body={**before.body, "metadata": metadata}), was=before)
    desk.service.judge = ServerJudge(VerdictPolicy(), desk.gate.ledger.session, lambda _: "read")
    filled = desk.fill(reply, {"draft": f"Hello,\n\n{SAID} [ev:ev_1] We also pay for taxis.\n\nKind regards"})
    assert filled.ticket.judged is not None
    assert filled.ticket.judged.rule_id == "defer.unsupported-sentence"
    with desk.service.store.reading() as tx:
        counted = figures(tx)
    assert (counted["proceed"], counted["defer"], counted["unsupported_sentence_rate"]) == (1, 3, 0.5)

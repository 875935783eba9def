"""Tickets on the durable port, end to end, with a worker in a process of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick.agents.problem import Problem
from tallystick.gate.session import Caller
from tallystick.rooms.desk.model import BACK_OFF_MS, Review
from tallystick.rooms.desk.service import figures
from tallystick.rooms.desk.tickets.fill import FillResult
from tallystick.rooms.desk.tickets.leases import LeasedTicket
from tallystick.rooms.desk.tickets.proof import Proof
from tallystick.rooms.desk.trial import DeskRunner
from tallystick.storage.notifications import Notifications
from tests.rooms.desk.desk_yard import ANSWERED, DEFERRED, UNKNOWN, Yard
from tests.rooms.desk.intake.test_service import SEED

ADA = Caller(subject="ada", channel="http")


@pytest.fixture
def yard(tmp_path: Path) -> Iterator[Yard]:
    made = Yard(tmp_path)
    yield made
    made.close()


@pytest.mark.promise("desk.flows", "desk.replay")
def test_a_worker_carries_tickets_from_the_message_to_the_reply_or_before_people(yard: Yard) -> None:
    answered = yard.event(ANSWERED, "t1", actor="Ines <ines@example.org>")
    deferred = yard.event(DEFERRED, "t2")
    unknown = yard.event(UNKNOWN, "t3")
    advert = yard.event("Buy our SEO services and backlinks today", "t4")
    yard.worker()
    yard.until(lambda: yard.messages("sent"), "a reply")
    yard.until(lambda: not yard.tally().keys() & {"pending", "running"}, "an end")
    chain = yard.chain(answered)
    assert [(one.kind, one.status) for one in chain] == [("TRIAGE", "done"), ("TOOL", "done"), ("REPLY", "done")]
    (sent,) = yard.files()
    assert (sent["thread_id"], sent["by"], sent["ticket_id"]) == ("t1", "verdict", chain[-1].ticket_id)
    assert "open from 9 to 17" in sent["text"]
    assert "[ev:" not in sent["text"]
    assert _end(yard, deferred) == ("TOOL", "review", "defer.category")
    assert _end(yard, unknown) == ("TOOL", "review", "defer.no-evidence")
    assert [one.status for one in yard.chain(advert)] == ["done"]
    # The ledger alone says the same again.
    for tool in (yard.chain(one)[1] for one in (answered, deferred, unknown)):
        assert yard.room.judge.verdict(tool) == tool.judged
    (news,) = Notifications(yard.workspace).list()
    assert (news.source, news.link) == ("desk", "/desk")
    # A person's word sends the other; the sweep takes it along.
    assert isinstance(yard.room.reviews.approve(yard.chain(deferred)[-1].ticket_id, caller=ADA), Review)
    yard.until(lambda: len(yard.files()) == 2, "the approved reply")
    assert {one["by"] for one in yard.files()} == {"verdict", "ada"}


@pytest.mark.promise("desk.flows")
def test_asking_for_more_evidence_lets_the_worker_look_again(yard: Yard) -> None:
    question = yard.event("How long is the guarantee of the kettle?", "t1")
    yard.worker()
    yard.until(lambda: yard.tally().get("review") == 1, "a question before people")
    tool = yard.chain(question)[-1]
    (yard.workspace / "kb" / "guarantee.md").write_text(
        "# Guarantee\n\nThe guarantee of the kettle is 2 years.\n", encoding="utf-8"
    )
    assert isinstance(yard.room.reviews.more(tool.ticket_id, caller=ADA), Review)
    yard.until(yard.files, "a reply")
    assert "2 years" in yard.files()[0]["text"]


@pytest.mark.promise("desk.posted-outputs", "desk.round-trip")
def test_our_own_worker_judges_outputs_that_came_with_a_ticket_and_writes_nothing_over_them(yard: Yard) -> None:
    given = SEED
    assert yard.service.intake.take(given).status == "queued"
    yard.worker()
    yard.until(lambda: yard.ticket(given["id"]).status != "pending", "a verdict")
    yard.until(lambda: yard.ticket(given["id"]).status == "review", "a person")
    shown = yard.service.tickets.show(given["id"])
    assert shown is not None
    theirs, ours = given["metadata"]["final_outputs"], shown["metadata"]["final_outputs"]
    assert ours["tool_context"] == theirs["tool_context"]
    assert ours["tool_verdict"]["proposed"] == theirs["tool_verdict"]
    assert (ours["tool_verdict"]["status"], shown["_desk"]["verdict"]["rule_id"]) == ("DEFER", "defer.trace-unproved")
    assert {name: shown[name] for name in given if name not in {"metadata", "status"}} == {
        name: value for name, value in given.items() if name not in {"metadata", "status"}
    }
    assert not [one for one in yard.gate.ledger.session(f"desk-{given['id']}") if one.header["kind"] == "outcome"]


@pytest.mark.promise("desk.derivation-flag")
@pytest.mark.parametrize("content", [ANSWERED, UNKNOWN])
def test_without_a_tool_phase_our_own_worker_writes_a_draft_that_a_person_can_approve(
    tmp_path: Path, content: str
) -> None:
    yard = Yard(tmp_path, tool_derivation=False)
    name = yard.event(content, "t1")
    _work(yard, name)
    (ticket,) = yard.chain(name)
    assert (ticket.status, yard.messages()) == ("review", [])
    said = yard.service.tickets.verdict(name)
    assert not isinstance(said, Problem)
    assert said["tool_verdict"]["rule_id"] == "defer.no-tool-phase"
    shown = yard.room.reviews.show(name)
    assert not isinstance(shown, Problem)
    assert ("open from 9 to 17" in shown.review.draft) is (content == ANSWERED)
    assert all(piece["holds"] for piece in shown.evidence)
    assert isinstance(yard.room.reviews.approve(name, caller=ADA), Review)
    assert yard.service.sending.send_due().sent == 1
    assert "Hello," in yard.files()[0]["text"]
    yard.close()


@pytest.mark.promise("desk.no-verdict")
def test_a_tool_ticket_without_a_verdict_is_tried_again_then_failed_and_never_answered(yard: Yard) -> None:
    yard.service.woken = None
    triage = yard.event(ANSWERED, "t1")
    (tool,) = _fill(yard, triage, {"decision": "APPROVE", "information_needs": [{"question": ANSWERED}]}).derived
    for _ in range(len(BACK_OFF_MS)):
        again = _fill(yard, tool, {"tool_context": {"evidence": []}})
        assert (again.incomplete, again.ticket.status) == ("verdict_missing", "pending")
        yard.be_patient_no_longer()
    assert _fill(yard, tool, {"tool_context": {}}).ticket.status == "failed"
    other = yard.event(UNKNOWN, "t2")
    yard.worker()
    yard.until(lambda: yard.chain(other)[-1].status == "review", "the worker at work")
    assert [one.status for one in yard.chain(triage)] == ["done", "failed"]
    assert (yard.messages(), yard.files()) == ([], [])
    with yard.service.store.reading() as tx:
        assert figures(tx)["dead_letters"] == 1


@pytest.mark.promise("desk.flows-send-time")
@pytest.mark.parametrize("happens", ["customer writes again", "person takes over", "verdict withdrawn"])
def test_what_happens_between_the_draft_and_the_sending_keeps_it_back(tmp_path: Path, happens: str) -> None:
    yard = Yard(tmp_path, workers="outside")
    question = yard.event(ANSWERED, "t1")
    while waiting := [one for one in yard.chain(question) if one.status == "pending"]:
        _work(yard, waiting[0].ticket_id)
    tool = yard.chain(question)[1]
    assert [one.state for one in yard.messages()] == ["queued"]
    if happens == "customer writes again":
        yard.event("Never mind, I found it on your page.", "t1")
    elif happens == "person takes over":
        with yard.service.store.transaction() as tx:
            review = Review(ticket_id=tool.ticket_id, state="taken", rule_id="person", reason="mine", draft="")
            tx.put_review(review)
    else:
        yard.service.tickets.withdraw(tool.ticket_id, caller=ADA, reason="the document was wrong")
    assert yard.service.sending.send_due().sent == 0
    assert (yard.files(), [one.state for one in yard.messages()]) == ([], ["withheld"])
    yard.close()


def _end(yard: Yard, ticket_id: str) -> tuple[str | None, str, str | None]:
    """How the last ticket of a chain ended, and by which rule."""
    last = yard.chain(ticket_id)[-1]
    return last.kind, last.status, None if last.judged is None else last.judged.rule_id


def _fill(yard: Yard, ticket_id: str, outputs: object) -> FillResult:
    leased = yard.service.leases.lease_one(ticket_id, "outside")
    assert isinstance(leased, LeasedTicket), leased
    proof = Proof(owner="outside", token=leased.token)
    filled = yard.service.leases.fill(ticket_id, outputs, by="outside", proof=proof, caller=ADA)
    assert isinstance(filled, FillResult), filled
    return filled


def _work(yard: Yard, ticket_id: str) -> None:
    assert list(DeskRunner(yard.gate).work([ticket_id], run="here"))

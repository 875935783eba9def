"""What follows from a filled ticket: the table of kinds and decisions, in one transaction."""

from collections.abc import Callable
from typing import Any

import pytest

from tallystick.agents.problem import Problem
from tallystick.errors import LedgerUnwritable
from tallystick.rooms.desk.model import BACK_OFF_MS, derived_id
from tallystick.rooms.desk.options import Options
from tests.rooms.desk.desk_service import APPROVED, DRAFT, PROCEED, Desk, caller


def statuses(desk: Desk) -> dict[str, str]:
    return {one["id"]: one["status"] for one in desk.service.tickets.list(limit=500)[0]}


@pytest.mark.promise("desk.derivation")
def test_triage_tool_and_reply_follow_from_each_other_and_the_reply_waits_in_the_outbox(desk: Desk) -> None:
    triage = desk.event("How long?", actor="ada@example.org")
    filled = desk.fill(triage, APPROVED)
    tool = derived_id("TOOL", triage)
    assert (filled.ticket.status, filled.derived) == ("done", (tool,))
    made = desk.ticket(tool)
    assert made.event == desk.ticket(triage).event
    assert made.metadata["triage_reference_id"] == made.metadata["parent_ticket_id"] == triage
    assert made.tool_input["triage"] == APPROVED
    assert made.tool_input["tool_policy"]["max_turns"] == 3
    judged = desk.fill(tool, PROCEED)
    reply = derived_id("REPLY", tool)
    assert (judged.ticket.status, judged.derived) == ("done", (reply,))
    assert desk.ticket(reply).metadata["triage_reference_id"] == triage
    ended = desk.fill(reply, DRAFT)
    assert (ended.ticket.status, ended.queued) == ("done", True)
    (message,) = desk.messages()
    assert (message.payload["text"], message.payload["to"]) == ("It takes three days.", "ada@example.org")
    assert desk.woken == [triage, tool, reply]


@pytest.mark.promise("desk.derivation")
@pytest.mark.parametrize(
    ("outputs", "status", "rule"),
    [
        ({"decision": "REJECT"}, "done", None),
        ({"decision": "DEFER"}, "review", "defer.triage"),
        ({"decision": "APPROVE"}, "review", "defer.no-need"),
        ({"decision": "APPROVE", "information_needs": []}, "review", "defer.no-need"),
        (
            {"decision": "APPROVE", "information_needs": [{"question": " "}, 7, {}, {"question": 7}]},
            "review",
            "defer.no-need",
        ),
        ({"triage": {"decision": "DEFER"}, "draft": "Maybe."}, "review", "defer.triage"),
        ({"triage": APPROVED}, "done", None),
        ({"decision": "APPROVE", "information_needs": ["What?"]}, "done", None),
    ],
)
def test_every_decision_of_triage_leads_where_the_table_says(
    desk: Desk, outputs: dict[str, Any], status: str, rule: str | None
) -> None:
    triage = desk.event()
    filled = desk.fill(triage, outputs)
    assert filled.ticket.status == status
    with desk.service.store.reading() as tx:
        review = tx.review(triage)
    assert (None if review is None else (review.rule_id, review.state)) == (None if rule is None else (rule, "waiting"))
    said = desk.service.tickets.verdict(triage)
    assert (said.code if isinstance(said, Problem) else said["tool_verdict"]["rule_id"]) == (rule or "verdict_missing")
    assert review is None or review.draft == outputs.get("draft", "")
    approved = status == "done" and outputs != {"decision": "REJECT"}
    assert filled.derived == ((derived_id("TOOL", triage),) if approved else ())


@pytest.mark.promise("desk.derivation", "desk.verdict")
def test_a_customer_who_asks_for_a_person_is_told_as_such_when_triage_defers(desk: Desk) -> None:
    filled = desk.fill(desk.event("Can I speak with a human about it?"), {"decision": "DEFER"})
    assert filled.ticket.judged is not None
    assert filled.ticket.judged.rule_id == "defer.person-wanted"


@pytest.mark.promise("desk.derivation-flag")
def test_without_derivation_no_tool_ticket_is_made_and_the_draft_goes_to_a_person(
    open_other: Callable[..., Desk],
) -> None:
    desk = open_other(tool_derivation="false")
    triage = desk.event()
    filled = desk.fill(triage, {**APPROVED, "draft": "Three days."})
    assert (filled.ticket.status, filled.derived) == ("review", ())
    with desk.service.store.reading() as tx:
        review = tx.review(triage)
    assert review is not None
    assert (review.rule_id, review.draft) == ("defer.no-tool-phase", "Three days.")
    assert len(statuses(desk)) == 1
    assert open_other().service.options.tool_derivation


@pytest.mark.promise("desk.server-verdict")
@pytest.mark.parametrize(
    ("told", "status", "replies"), [("PROCEED", "done", 1), ("DEFER", "review", 0), ("BLOCK", "blocked", 0)]
)
@pytest.mark.parametrize("proposed", ["PROCEED", "DEFER", "BLOCK"])
def test_the_servers_verdict_decides_and_the_workers_stands_beside_it(
    desk: Desk, told: str, status: str, replies: int, proposed: str
) -> None:
    desk.judge.status = told
    (tool,) = desk.fill(desk.event(), APPROVED).derived
    filled = desk.fill(tool, {"tool_verdict": {"status": proposed, "reason": "mine"}})
    assert (filled.ticket.status, len(filled.derived)) == (status, replies)
    said = filled.ticket.final_outputs["tool_verdict"]
    assert (said["status"], said["proposed"]["status"]) == (told, proposed)
    assert filled.ticket.judged is not None
    assert filled.ticket.judged.status == told
    (note,) = [one for one in desk.notes("desk.fill") if one.header["audit"]["resource"] == f"tickets/{tool}"]
    assert note.header["audit"]["metadata"]["proposed"] == proposed
    assert note.header["audit"]["metadata"]["verdict"] == told
    with desk.service.store.reading() as tx:
        assert tx.counts()[f"verdict.{told}"] == 1


@pytest.mark.promise("desk.no-verdict")
@pytest.mark.parametrize(
    ("kind", "outputs", "why"),
    [
        ("TRIAGE", {}, "decision_missing"),
        ("TRIAGE", {"decision": "approve"}, "decision_missing"),
        ("TOOL", {}, "verdict_missing"),
        ("TOOL", {"tool_context": {"evidence": []}}, "verdict_missing"),
        ("TOOL", {"tool_verdict": "PROCEED"}, "verdict_missing"),
        ("TOOL", {"tool_verdict": {"status": "YES"}}, "verdict_missing"),
        ("REPLY", {}, "draft_missing"),
        ("REPLY", {"draft": " "}, "draft_missing"),
        ("REPLY", {"draft": 7}, "draft_missing"),
    ],
)
def test_a_ticket_without_a_result_is_tried_again_then_has_failed_and_is_never_answered(
    desk: Desk, kind: str, outputs: dict[str, Any], why: str
) -> None:
    triage, *_ = ids = desk.to_reply() if kind == "REPLY" else (desk.event(),)
    name = {"TRIAGE": triage, "REPLY": ids[-1]}.get(kind) or desk.fill(triage, APPROVED).derived[0]
    for attempt in range(1, len(BACK_OFF_MS) + 2):
        filled = desk.fill(name, outputs)
        assert (filled.incomplete, filled.ticket.attempts, filled.derived) == (why, attempt, ())
        last = attempt > len(BACK_OFF_MS)
        assert filled.ticket.status == ("failed" if last else "pending")
        assert "final_outputs" not in filled.ticket.metadata
        if not last:
            assert desk.service.leases.lease_one(name, "w").code == "not_yet"
            soon(desk, name)
    assert desk.service.leases.lease_one(name, "w").code == "not_pending"
    assert desk.messages() == []
    with desk.service.store.reading() as tx:
        assert tx.counts()["dead_letters"] == 1


def soon(desk: Desk, name: str) -> None:
    """Let the back-off be over."""
    from dataclasses import replace  # noqa: PLC0415 - only here

    with desk.service.store.transaction() as tx:
        ticket = tx.get(name)
        assert ticket is not None
        assert ticket.not_before > tx.clock()
        tx.save(replace(ticket, not_before=0), was=ticket)


@pytest.mark.promise("desk.send-modes")
def test_by_default_a_reply_that_passed_every_check_waits_for_a_person(open_other: Callable[..., Desk]) -> None:
    desk = open_other(send="review")
    filled = desk.fill(desk.to_reply()[2], DRAFT)
    assert (filled.ticket.status, filled.queued) == ("review", False)
    with desk.service.store.reading() as tx:
        review = tx.review(filled.ticket.ticket_id, lock=False)
    assert review is not None
    assert (review.rule_id, review.draft) == ("review.before-sending", DRAFT["draft"])
    assert Options().mode_of("general") == "review"


@pytest.mark.promise("desk.send-modes")
def test_a_category_that_is_switched_to_auto_is_sent_at_once_and_no_other(open_other: Callable[..., Desk]) -> None:
    desk = open_other(send={"general": "auto"})
    assert desk.fill(desk.to_reply()[2], DRAFT).queued
    other = desk.to_reply(content="I want my money back.")[2]
    assert desk.fill(other, DRAFT).ticket.status == "review"


@pytest.mark.promise("desk.no-proceed")
def test_a_reply_without_a_proceed_behind_it_goes_to_a_person_whatever_it_names(desk: Desk) -> None:
    _, tool, _ = desk.to_reply()
    blocked = desk.fill(desk.event(), APPROVED).derived[0]
    desk.judge.status = "BLOCK"
    desk.fill(blocked, PROCEED)
    posted = {"id": "tool-posted", "metadata": {"kind": "TOOL", "final_outputs": PROCEED}, "status": "done"}
    desk.service.intake.take(posted)
    for number, parent in enumerate((tool, blocked, "tool-posted", "nobody", None)):
        reply = {"id": f"reply-{number}", "metadata": {"kind": "REPLY", "parent_ticket_id": parent}}
        assert desk.service.intake.take(reply).status == "queued"
        filled = desk.fill(f"reply-{number}", DRAFT)
        assert (filled.ticket.status, filled.queued) == ("review", False)
    assert desk.messages() == []


@pytest.mark.promise("desk.no-proceed")
@pytest.mark.parametrize(("told", "status"), [("DEFER", "review"), ("BLOCK", "blocked")])
def test_a_draft_that_does_not_hold_is_not_queued(desk: Desk, told: str, status: str) -> None:
    *_, reply = desk.to_reply()
    desk.judge.draft = told
    assert desk.fill(reply, DRAFT).ticket.status == status
    assert desk.messages() == []
    with desk.service.store.reading() as tx:
        review = tx.review(reply)
    assert (None if review is None else review.draft) == (DRAFT["draft"] if told == "DEFER" else None)


@pytest.mark.promise("desk.one-transaction")
def test_what_the_ledger_does_not_take_is_not_done_either(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    triage = desk.event()
    proof = desk.hold(triage)
    before = desk.ticket(triage)

    def full(*_: Any) -> Any:
        raise LedgerUnwritable("the disk is full")

    with monkeypatch.context() as broken:
        broken.setattr(desk.gate.ledger, "record_sync", full)
        with pytest.raises(LedgerUnwritable):
            desk.service.leases.fill(triage, APPROVED, by="w1", proof=proof, caller=caller())
    assert desk.ticket(triage) == before
    assert len(statuses(desk)) == 1
    filled = desk.service.leases.fill(triage, APPROVED, by="w1", proof=proof, caller=caller())
    assert filled.derived == (derived_id("TOOL", triage),)  # type: ignore[union-attr]


@pytest.mark.promise("desk.one-transaction")
def test_a_judge_that_fails_changes_nothing(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    (tool,) = desk.fill(desk.event(), APPROVED).derived
    proof = desk.hold(tool)
    before = desk.ticket(tool)

    def fail(_: Any) -> Any:
        raise RuntimeError

    monkeypatch.setattr(desk.judge, "verdict", fail)
    with pytest.raises(RuntimeError):
        desk.service.leases.fill(tool, PROCEED, by="w1", proof=proof, caller=caller())
    assert desk.ticket(tool) == before
    with desk.service.store.reading() as tx:
        assert "verdict.PROCEED" not in tx.counts()


@pytest.mark.promise("desk.posted-outputs")
def test_the_server_judges_a_ticket_that_came_with_its_outputs_when_it_is_asked_and_once(desk: Desk) -> None:
    desk.service.intake.take(
        {"id": "t", "event": {"content": "x"}, "metadata": {"kind": "TOOL", "final_outputs": PROCEED}}
    )
    judged = desk.service.tickets.judge("t", caller=caller())
    assert (judged.ticket.status, judged.derived) == ("done", (derived_id("REPLY", "t"),))  # type: ignore[union-attr]
    again = desk.service.tickets.judge("t", caller=caller())
    assert (again.repeated, desk.judge.asked) == (True, ["t"])  # type: ignore[union-attr]
    assert len(desk.notes("desk.verdict")) == 1
    for name, ticket, code in (
        ("a", {"metadata": {"kind": "TRIAGE", "final_outputs": APPROVED}}, "not_a_tool_ticket"),
        ("b", {"metadata": {"kind": "TOOL"}}, "verdict_missing"),
        ("c", {"metadata": {"kind": "TOOL", "final_outputs": PROCEED}, "status": "done"}, "not_pending"),
    ):
        desk.service.intake.take({"id": name, **ticket})
        assert desk.service.tickets.judge(name, caller=caller()).code == code  # type: ignore[union-attr]
    assert desk.service.tickets.judge("nobody", caller=caller()).code == "ticket_unknown"  # type: ignore[union-attr]

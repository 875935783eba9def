"""What happened is worth what the table says, and nobody writes to his own account."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.agents.credits import POINTS, SYSTEM, CreditEvent, Merit, balances, event_problem, merit_of
from tallystick.agents.problem import Problem
from tallystick.gate.codes import Bucket
from tallystick.gate.reply.findings import Findings, Item, Matched

QUOTE = Matched(path="Story/one.md", sha256="0" * 64, first_line=1, last_line=1, quote="she never sails")


def event(
    agent: str = "writer", merit: Merit = Merit.PRECISE_QUOTE, receipt: str = "rcpt_1", by: str = SYSTEM
) -> CreditEvent:
    return CreditEvent(
        event_id="crd_1", agent_id=agent, merit=merit, receipt_id=receipt, given_by=by, timestamp="2026-01-01T00:00:00Z"
    )


@pytest.mark.promise("agents.credit-points")
def test_the_table_of_points() -> None:
    assert {str(merit): points for merit, points in POINTS.items()} == {
        "evidence_verified": 1,
        "precise_quote": 2,
        "verification_failed": -2,
        "hallucination": -3,
        "abstained": 0,
        "proposal_accepted": 3,
    }
    assert POINTS.keys() == set(Merit)


@pytest.mark.promise("agents.credit-self")
@pytest.mark.parametrize("name", ["writer", "WRITER", "Writer"])
def test_no_agent_credits_itself(name: str) -> None:
    problem = event_problem(event(merit=Merit.PROPOSAL_ACCEPTED, by=name))
    assert problem is not None
    assert problem.code == "credit_to_oneself"
    assert event_problem(event(merit=Merit.PROPOSAL_ACCEPTED, by="assistant")) is None


@pytest.mark.promise("agents.credit-receipt")
def test_an_event_names_its_receipt() -> None:
    problem = event_problem(event(receipt=""))
    assert problem is not None
    assert problem.code == "credit_without_receipt"


@pytest.mark.promise("agents.credit-points")
def test_what_a_checked_reply_is_worth() -> None:
    exact = Item(kind="content", source="Story/one.md", ok=True, matched=QUOTE)
    lines = Item(
        kind="structural", source="Story/one.md:L1", ok=True, matched=Matched(path="Story/one.md", sha256="0" * 64)
    )
    missing = Item(kind="content", source="Story/one.md", ok=False, code="quote_not_found")
    misquoted = Item(kind="content", source="Story/one.md", ok=False, code="quote_misquoted")
    forged = Item(kind="tool_result", source="rcpt_9", ok=False, code="receipt_unknown")
    bad = {"ok": False, "bucket": Bucket.EVIDENCE_INVALID}
    assert merit_of(Findings(ok=True, items=(exact,))) is Merit.PRECISE_QUOTE
    assert merit_of(Findings(ok=True, items=(lines,))) is Merit.EVIDENCE_VERIFIED
    assert merit_of(Findings(**bad, items=(exact, missing))) is Merit.HALLUCINATION
    assert merit_of(Findings(**bad, items=(forged,))) is Merit.HALLUCINATION
    assert merit_of(Findings(**bad, items=(misquoted,))) is Merit.VERIFICATION_FAILED
    assert merit_of(Findings(**bad)) is Merit.VERIFICATION_FAILED
    assert merit_of(Findings(ok=True, abstained=True)) is Merit.ABSTAINED
    assert merit_of(Findings(ok=True, items=(lines,), request="Story/*")) is None
    assert merit_of(Findings(ok=True)) is None


@pytest.mark.promise("agents.credit-points")
def test_an_event_cannot_bring_its_own_points() -> None:
    wire = event().as_dict()
    assert wire["points"] == 2
    assert CreditEvent.from_dict(wire) == event()
    forged = CreditEvent.from_dict({**wire, "points": 200})
    assert isinstance(forged, Problem)
    assert (forged.code, forged.pointer) == ("credits_damaged", "/points")


@pytest.mark.promise("agents.credit-balance")
@given(what=st.lists(st.tuples(st.sampled_from(["writer", "critic", "editor"]), st.sampled_from(list(Merit)))))
def test_a_balance_is_the_sum_of_the_events(what: list[tuple[str, Merit]]) -> None:
    events = [event(agent, merit, receipt=f"rcpt_{place}") for place, (agent, merit) in enumerate(what)]
    totals = balances(events)
    assert sum(totals.values()) == sum(POINTS[merit] for _, merit in what)
    half = len(events) // 2
    assert balances(events[half:], balances(events[:half])) == totals

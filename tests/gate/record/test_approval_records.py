"""What the signed records of a held call prove about what is stored of it."""

from dataclasses import replace
from typing import Any

import pytest

from tallystick.gate.decide.approvals import Hold, State, Unmoved
from tallystick.gate.decide.bindings import live_digest
from tallystick.gate.record.approval_records import ApprovalRecords, mismatch
from tallystick.gate.session import Caller, Session

SESSION = Session(session_id="s1", caller=Caller(subject="ann", roles=frozenset({"clerk"})), agent_id="chief")
EMPTY = Hold(
    approval_id="appr_1", digest="", session=SESSION, tool="send", args=b'{"to":"bob"}', shown=b'{"to":"bob"}',
    policy_digest="p1", tool_version="v1", reason="approval_required", created=1_000, expires=9_000,
)  # fmt: skip
HOLD = replace(EMPTY, digest=EMPTY.bound_digest(), live_digest=live_digest(EMPTY.bound_digest(), SESSION))
YES = {"person": "eve", "channel": "terminal"}
GRANTED = replace(HOLD, state=State.GRANTED, answered=2_000, **YES)


def old_records(**answer: str) -> ApprovalRecords:
    """Records as they were before they named the whole request."""
    records = ApprovalRecords()
    approval = {"approval_id": "appr_1", "digest": HOLD.digest, "expires_at": HOLD.expires_at}
    where: dict[str, Any] = {"session_id": "s1", "agent_id": "chief", "caller": {"subject": "ann"}, "tool_id": "send"}
    records.add({"kind": "held", "approval": approval, **where})
    if answer:
        records.add({"kind": "approval", "approval": {"approval_id": "appr_1", **YES, **answer}})
    return records


@pytest.mark.promise("decide.approval-recorded")
def test_a_yes_recorded_by_an_earlier_version_is_bound_by_the_digest_of_the_hold() -> None:
    assert mismatch(GRANTED, old_records(answer="granted")) is None
    for changed in (
        {"args": b'{"to":"eve"}'},
        {"tool": "wipe"},
        {"policy_digest": "p2"},
        {"person": "x"},
        {"expires": 1},
    ):
        assert mismatch(replace(GRANTED, **changed), old_records(answer="granted")) is not None
    for moved in (replace(SESSION, session_id="s2"), replace(SESSION, agent_id=None)):
        digest = replace(GRANTED, session=moved).bound_digest()
        hold = replace(GRANTED, session=moved, live_digest=live_digest(digest, moved))
        assert mismatch(hold, old_records(answer="granted")) is not None


@pytest.mark.promise("decide.approval-recorded")
def test_an_edit_that_does_not_name_what_was_agreed_to_proves_nothing() -> None:
    edited = GRANTED.with_arguments({"to": "carol"}, {"to": "carol"})
    assert not isinstance(edited, Unmoved)
    assert mismatch(replace(edited, state=State.EDITED), old_records(answer="edited")) is not None


@pytest.mark.promise("decide.approval-recorded")
def test_the_first_record_of_a_hold_counts() -> None:
    records = old_records(answer="granted")
    assert records.held is not None
    later = {**records.held, "approval": {**records.held["approval"], "digest": "0" * 64}}
    records.add({**later, "kind": "held"})
    assert mismatch(GRANTED, records) is None


@pytest.mark.promise("decide.approval-recorded")
@pytest.mark.parametrize("answer", ["", "refused"])
def test_without_a_yes_nothing_is_granted(answer: str) -> None:
    assert mismatch(GRANTED, old_records(**({"answer": answer} if answer else {}))) is not None
    assert mismatch(GRANTED, ApprovalRecords()) is not None
    assert mismatch(HOLD, old_records()) is None

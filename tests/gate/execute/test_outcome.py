"""The outcome as it goes out: the wire form, the problem payload, the stop hook, `unwrap`."""

import pytest

from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.codes import BAD_ARGS, BUDGET, FAULTS, HELD, TOOL_FAILED, Fault
from tallystick.gate.execute.outcome import CallFailed, CallRefused, Failure, Held, Outcome, Shown

ACCEPTED = Outcome(status="accepted", receipt_id="rcpt_1", tool="look", args={"n": 1}, result={"x": 2})
REFUSED = Outcome(
    status="rejected", receipt_id="rcpt_2", tool="look", rejection=Rejection(fault=BAD_ARGS, reason="no", pointer="/n")
)
FAILED = Outcome(
    status="accepted", receipt_id="rcpt_3", tool="look", args={},
    failure=Failure(fault=TOOL_FAILED, message="no such book", status=404, hint="look elsewhere"),
)  # fmt: skip
WAITING = Outcome(
    status="rejected", receipt_id="rcpt_4", tool="send", args={}, rejection=Rejection(fault=HELD, reason="ask"),
    held=Held(approval_id="appr_1", expires_at="2026-01-01T00:00:00Z"),
)  # fmt: skip


@pytest.mark.promise("execute.wire")
def test_an_accepted_call_on_the_wire() -> None:
    assert ACCEPTED.as_dict() == {
        "status": "accepted",
        "receipt_id": "rcpt_1",
        "proposal": {"tool_name": "look", "payload": {"n": 1}},
        "result": {"x": 2},
    }
    assert (ACCEPTED.ok, ACCEPTED.http, ACCEPTED.stop_hook, ACCEPTED.unwrap()) == (True, 200, None, {"x": 2})


@pytest.mark.promise("execute.wire")
def test_a_refused_call_on_the_wire() -> None:
    assert REFUSED.as_dict() == {
        "status": "rejected",
        "receipt_id": "rcpt_2",
        "rejection": {
            "code": "INVALID_PAYLOAD",
            "call_code": "tool_call_invalid_args",
            "category": "validation_error",
            "reason": "no",
            "pointer": "/n",
        },
    }
    assert REFUSED.stop_hook == "tool_call_rejected tool_call_invalid_args"
    with pytest.raises(CallRefused) as caught:
        REFUSED.unwrap()
    assert caught.value.code == "INVALID_PAYLOAD"


@pytest.mark.promise("execute.wire")
def test_a_failed_call_on_the_wire_and_as_a_problem() -> None:
    problem = {
        "category": "downstream_error",
        "message": "no such book",
        "details": {"tool_name": "look", "hint": "look elsewhere", "status": 404},
    }
    assert FAILED.as_dict() == {
        "status": "accepted",
        "receipt_id": "rcpt_3",
        "proposal": {"tool_name": "look", "payload": {}},
        "error": problem,
    }
    assert FAILED.problem() == {"error": problem}
    assert (FAILED.ok, FAILED.http, FAILED.stop_hook) == (False, 404, None)
    with pytest.raises(CallFailed) as caught:
        FAILED.unwrap()
    assert caught.value.code == "downstream_error"


@pytest.mark.promise("execute.wire")
def test_a_held_call_on_the_wire() -> None:
    wire = WAITING.as_dict()
    assert wire["held"] == {"approval_id": "appr_1", "expires_at": "2026-01-01T00:00:00Z"}
    assert (WAITING.http, WAITING.stop_hook) == (202, "approval_required")


@pytest.mark.promise("execute.wire")
def test_the_fields_of_a_turn_stand_only_where_they_say_something() -> None:
    shown = Shown(text="a", truncated=True, sha256="ab", full_size=9)
    outcome = Outcome(status="accepted", receipt_id="r", tool="t", args={}, shown=shown, handed_back=True)
    assert outcome.as_dict()["shown"] == {"text": "a", "truncated": True, "sha256": "ab", "full_size": 9}
    assert outcome.as_dict()["handed_back"] is True
    assert Outcome(status="accepted", receipt_id="r", final=True).as_dict() == {
        "status": "accepted",
        "receipt_id": "r",
        "final": True,
    }
    spent = Outcome(
        status="rejected", receipt_id="r", rejection=Rejection(fault=BUDGET, reason="spent"), must_finish=True
    )
    assert spent.as_dict()["must_finish"] is True
    assert spent.stop_hook is None


@pytest.mark.promise("execute.wire")
@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_every_fault_has_its_status_and_category_in_the_problem(fault: Fault) -> None:
    outcome = (
        Outcome(status="accepted", receipt_id="r", failure=Failure(fault=fault, message="m"))
        if fault.ran
        else Outcome(status="rejected", receipt_id="r", rejection=Rejection(fault=fault, reason="m"))
    )
    error = outcome.problem()["error"]
    assert (error["category"], error["details"]["status"], error["message"]) == (fault.category, fault.http, "m")
    assert outcome.http == fault.http

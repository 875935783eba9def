"""Stop hooks: written, read back, and made from what the gate says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.codes import BUDGET, FAULTS, LEDGER
from tallystick.gate.execute.outcome import Failure, Held, Outcome
from tallystick.turns.stop_hooks import Hook, StopHook, hook_of, read_stop_hook, stop_hook


@pytest.mark.promise("turns.stop-hooks")
@given(st.sampled_from(Hook), st.one_of(st.none(), st.from_regex(r"[a-z_]{1,40}", fullmatch=True)))
def test_a_hook_that_is_written_can_be_read(kind: Hook, code: str | None) -> None:
    assert read_stop_hook(stop_hook(kind, code)) == StopHook(kind=kind, code=code)


@given(st.text())
def test_other_text_is_no_hook(text: str) -> None:
    read = read_stop_hook(text)
    assert read is None or text.startswith("STOP_HOOK:")


@pytest.mark.promise("turns.stop-hooks")
@pytest.mark.parametrize("fault", [fault for fault in FAULTS.values() if fault.call_code], ids=lambda fault: fault.name)
def test_every_refusal_of_the_gate_has_its_code_on_the_hook(fault) -> None:
    refused = Outcome(status="rejected", receipt_id="rcpt_1", rejection=Rejection(fault=fault, reason="no"))
    assert hook_of(refused) == f"STOP_HOOK: tool_call_rejected {fault.call_code}"


@pytest.mark.promise("turns.stop-hooks")
def test_what_is_held_unwritten_or_told_to_finish_says_so() -> None:
    held = Outcome(status="rejected", receipt_id="r", held=Held(approval_id="a", expires_at="t"))
    assert hook_of(held) == "STOP_HOOK: approval_required"
    unwritten = Outcome(status="rejected", receipt_id="", failure=Failure(fault=LEDGER, message="the disk is full"))
    assert hook_of(unwritten) == "STOP_HOOK: tool_call_rejected tool_unavailable"
    spent = Outcome(
        status="rejected", receipt_id="r", rejection=Rejection(fault=BUDGET, reason="spent"), must_finish=True
    )
    assert hook_of(spent) is None
    assert hook_of(Outcome(status="accepted", receipt_id="r")) is None

"""Stop hooks: one line that says why a turn or a task ended without what was asked for.

STOP_HOOK: tool_call_rejected tool_call_nonce_invalid
STOP_HOOK: approval_required
"""

from enum import StrEnum

from tallystick.gate.codes import Stop
from tallystick.gate.execute.outcome import Outcome
from tallystick.records import record

PREFIX = "STOP_HOOK:"


class Hook(StrEnum):
    """Every kind there is. The first two are the gate's own."""

    TOOL_CALL_REJECTED = Stop.TOOL_CALL_REJECTED.value
    APPROVAL_REQUIRED = Stop.APPROVAL_REQUIRED.value
    REPLY_REJECTED = "reply_rejected"
    """The answer did not pass its check; the code is the bucket."""
    MODEL_ERROR = "model_unheard"
    """No answer came; the code says why."""
    TASK_PACKET_INVALID = "task_packet_invalid"
    TASK_RECEIPT_INVALID = "task_receipt_invalid"
    """A task's JSON is not what was agreed; the code names what is wrong."""


@record
class StopHook:
    """A stop hook, read."""

    kind: Hook
    code: str | None = None


def stop_hook(kind: Hook, code: str | None = None) -> str:
    """Write one."""
    return f"{PREFIX} {kind} {code}" if code else f"{PREFIX} {kind}"


def hook_of(outcome: Outcome) -> str | None:
    """The hook of a submission that ends its turn; None: the turn goes on."""
    if outcome.held is not None:
        return stop_hook(Hook.APPROVAL_REQUIRED)
    if outcome.status != "rejected" or outcome.must_finish:
        return None
    return stop_hook(Hook.TOOL_CALL_REJECTED, code_of(outcome))


def code_of(outcome: Outcome) -> str | None:
    """The code a turn is told: of the refusal, or the category of a failure."""
    if outcome.rejection is not None:
        return outcome.rejection.call_code
    fault = outcome.fault
    return None if fault is None or fault.category is None else str(fault.category)


def read_stop_hook(text: str) -> StopHook | None:
    """Read one; None: it is none of ours."""
    kind, _, code = text.removeprefix(PREFIX).strip().partition(" ")
    if not text.startswith(PREFIX) or kind not in set(Hook):
        return None
    return StopHook(kind=Hook(kind), code=code or None)

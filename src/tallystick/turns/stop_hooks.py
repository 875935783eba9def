"""Stop hooks: one line that says why a turn or a task ended without the requested result.

STOP_HOOK: tool_call_rejected tool_call_nonce_invalid
STOP_HOOK: approval_required
"""

from enum import StrEnum

from tallystick.gate.codes import Stop
from tallystick.gate.execute.outcome import Outcome
from tallystick.records import record

PREFIX = "STOP_HOOK:"


class Hook(StrEnum):
    """All kinds of stop hook; the first two are defined by the gate."""

    TOOL_CALL_REJECTED = Stop.TOOL_CALL_REJECTED.value
    APPROVAL_REQUIRED = Stop.APPROVAL_REQUIRED.value
    REPLY_REJECTED = "reply_rejected"
    """The answer failed its check; the code is the bucket."""
    MODEL_ERROR = "model_unheard"
    """The model gave no answer; the code says why."""
    TASK_PACKET_INVALID = "task_packet_invalid"
    TASK_RECEIPT_INVALID = "task_receipt_invalid"
    """A task's JSON is invalid; the code names what is wrong."""


@record
class StopHook:
    """A parsed stop hook."""

    kind: Hook
    code: str | None = None


def stop_hook(kind: Hook, code: str | None = None) -> str:
    """Format a stop hook as text."""
    return f"{PREFIX} {kind} {code}" if code else f"{PREFIX} {kind}"


def hook_of(outcome: Outcome) -> str | None:
    """Return the stop hook of an outcome that ends its turn; None: the turn continues."""
    if outcome.held is not None:
        return stop_hook(Hook.APPROVAL_REQUIRED)
    if outcome.status != "rejected" or outcome.must_finish:
        return None
    return stop_hook(Hook.TOOL_CALL_REJECTED, code_of(outcome))


def code_of(outcome: Outcome) -> str | None:
    """Return the code of a refusal, or the category of a failure; None if there is neither."""
    if outcome.rejection is not None:
        return outcome.rejection.call_code
    fault = outcome.fault
    return None if fault is None or fault.category is None else str(fault.category)


def read_stop_hook(text: str) -> StopHook | None:
    """Parse a stop hook; None: the text is not a known stop hook."""
    kind, _, code = text.removeprefix(PREFIX).strip().partition(" ")
    if not text.startswith(PREFIX) or kind not in set(Hook):
        return None
    return StopHook(kind=Hook(kind), code=code or None)

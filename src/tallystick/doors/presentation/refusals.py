"""Describe an unsuccessful call so that a model, a program or a person can act on it."""

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tallystick.app.discovery import room_hint
from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.codes import UNKNOWN_TOOL
from tallystick.gate.execute.outcome import Outcome
from tallystick.records import record

if TYPE_CHECKING:
    from tallystick.app.gate import Gate

HELD = "approval_required"


@record
class Refusal:
    """Why there is no result."""

    code: str
    """A stable code: a boundary code, a problem category, or `approval_required`."""
    reason: str
    receipt_id: str
    pointer: str | None = None
    hint: str | None = None
    call_code: str | None = None
    category: str | None = None
    approval_id: str | None = None
    expires_at: str | None = None
    approve: str | None = None
    """The exact command with which a person approves the call."""

    @property
    def text(self) -> str:
        """The text for the model: the code, then what to do."""
        where = f" at {self.pointer}" if self.pointer else ""
        told = f"{self.code}: {self.reason}{where}."
        if self.approve is not None:
            told = (
                f"{self.code}: this call waits for a person{where}. To let it through, a person runs: {self.approve}\n"
                f"Then make exactly the same call again (before {self.expires_at})."
            )
        elif self.hint is not None:
            told += f" {self.hint}"
        return f"{told}\nReceipt: {self.receipt_id}"

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON form without empty fields."""
        return {name: value for name, value in asdict(self).items() if value is not None}


REFUSAL_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "code": {"type": "string"},
        "reason": {"type": "string"},
        "receipt_id": {"type": "string"},
        "approve": {"type": "string"},
    },
    "required": ["code", "reason", "receipt_id"],
}
"""The JSON Schema of `Refusal.as_dict`, for clients that validate output."""


def refusal_of(outcome: Outcome, gate: "Gate") -> Refusal | None:
    """Return the refusal for an outcome of this gate; None if the call succeeded."""
    if outcome.held is not None:
        return Refusal(
            code=HELD,
            reason="this call waits for a person",
            receipt_id=outcome.receipt_id,
            pointer=None if outcome.rejection is None else outcome.rejection.pointer,
            approval_id=outcome.held.approval_id,
            expires_at=outcome.held.expires_at,
            approve=approve_command(outcome.held.approval_id, gate.workspace),
        )
    if outcome.rejection is not None:
        rejected = outcome.rejection
        return Refusal(
            code=str(rejected.code),
            reason=rejected.reason,
            receipt_id=outcome.receipt_id,
            pointer=rejected.pointer,
            call_code=_text(rejected.call_code),
            category=_text(rejected.category),
            hint=hint_for(rejected, gate),
        )
    if outcome.failure is not None:
        failed = outcome.failure
        category = _text(failed.fault.category)
        return Refusal(
            code=category or failed.fault.name,
            reason=failed.message,
            receipt_id=outcome.receipt_id,
            hint=failed.hint,
            category=category,
        )
    return None


def hint_for(rejected: Rejection, gate: "Gate") -> str | None:
    """Return the advice for a refused call: its own, or how to switch on the room of an unknown tool."""
    if rejected.hint is not None:
        return rejected.hint
    if rejected.fault is not UNKNOWN_TOOL or rejected.proposed_tool is None:
        return None
    return room_hint(rejected.proposed_tool, gate.rooms())


def approve_command(approval_id: str, workspace: Path) -> str:
    """Return the command that approves a request; it works in any folder."""
    return _approvals_command("approve", approval_id, workspace)


def show_command(approval_id: str, workspace: Path) -> str:
    """Return the command that shows a request; it works in any folder."""
    return _approvals_command("show", approval_id, workspace)


def _approvals_command(word: str, approval_id: str, workspace: Path) -> str:
    return f"tally approvals {word} {approval_id} --workspace {shlex.quote(str(workspace))}"


def _text(value: object) -> str | None:
    return None if value is None else str(value)

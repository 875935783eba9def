"""The result of admit: a Proposal or a Rejection."""

from collections.abc import Mapping
from typing import Any

from tallystick.gate.codes import Bucket, Fault
from tallystick.gate.session import Session
from tallystick.gate.tool import Card
from tallystick.records import record


@record
class Proposal:
    """A call that is well-formed and valid for its schema; policy has not decided on it yet."""

    card: Card
    args: dict[str, Any]
    """The arguments as the tool will receive them."""
    proposed_tool: str
    proposed_args: Mapping[str, Any]
    """The arguments as received; the receipt contains both forms if they differ."""
    transformed: bool = False
    dry_run: bool = False
    cot_leak: bool = False
    """Whether a thinking block before the envelope was stripped."""
    session: Session | None = None
    """The caller and context of the call; None: the call is only checked, not submitted."""

    @property
    def tool(self) -> str:
        """The registered id of the tool."""
        return self.card.name


@record
class Rejection:
    """A refusal as a value; `reason` is a fixed string that never repeats caller input."""

    fault: Fault
    reason: str
    pointer: str | None = None
    """JSON pointer to the argument at fault."""
    proposed_tool: str | None = None
    """The tool name that the caller sent, truncated to 100 characters."""
    hint: str | None = None
    """What the caller can do about it; shown, not recorded."""

    @property
    def code(self) -> str | None:
        """The rejection code for the caller (`BoundaryCode`)."""
        return self.fault.boundary_code

    @property
    def call_code(self) -> str | None:
        """The code that an agent's turn reports for this rejection; `code` is the one for other callers."""
        return self.fault.call_code

    @property
    def category(self) -> str | None:
        """The problem category."""
        return self.fault.category

    @property
    def bucket(self) -> Bucket | None:
        """The telemetry bucket."""
        return self.fault.bucket

    def as_dict(self) -> dict[str, Any]:
        """Return the wire form: code, call_code, category, reason, and pointer and hint if there are any."""
        wire: dict[str, Any] = {
            "code": self.code,
            "call_code": self.call_code,
            "category": self.category,
            "reason": self.reason,
        }
        if self.pointer is not None:
            wire["pointer"] = self.pointer
        if self.hint is not None:
            wire["hint"] = self.hint
        return wire

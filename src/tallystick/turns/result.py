"""The result of one agent turn: its steps, its tool results, and the reply or the reason why there is none."""

from typing import Any, Literal

from tallystick.gate.execute.outcome import Held, Outcome
from tallystick.gate.reply.findings import Findings
from tallystick.records import record
from tallystick.turns.model import Message, ModelError, Usage

StepKind = Literal["call", "decision", "final"]
"""`call`: a proposed tool call (run or refused); `decision`: the model chose to finish; `final`: the answer."""
RequiredBy = Literal["flag", "heuristic"]


@record
class Injected:
    """A tool result in the form used in prompts; a conference passes these from the tool phase to the agents."""

    tool: str
    receipt_id: str
    text: str
    """The part of the result that is shown."""
    sha256: str
    full_size: int
    truncated: bool = False
    error: str | None = None
    """The error category if an accepted call failed; `text` is then the problem."""


@record
class Step:
    """One model answer or native call, and its outcome."""

    index: int
    """From 1."""
    kind: StepKind
    text: str
    """The model's text as received; for a native call its arguments."""
    outcome: Outcome | None = None
    """Only for a call or a decision."""
    receipt_id: str | None = None
    code: str | None = None
    """Why the step was refused or failed."""
    usage: Usage = Usage()
    elapsed_ms: int = 0
    """Time of model and gate together."""
    commentary: str = ""
    """Text sent with a native call, or thinking stripped from the answer: kept but without effect."""

    def as_dict(self) -> dict[str, Any]:
        """Return the wire form."""
        wire: dict[str, Any] = {"index": self.index, "kind": self.kind, "text": self.text}
        if self.outcome is not None:
            wire |= {"tool": self.outcome.tool, "outcome": self.outcome.as_dict()}
        wire |= {"receipt_id": self.receipt_id, "code": self.code, "elapsed_ms": self.elapsed_ms}
        wire["usage"] = usage_dict(self.usage)
        if self.commentary:
            wire["commentary"] = self.commentary
        return wire


@record
class Rejected:
    """A reply that failed its check; the door decides whether to show its text."""

    text: str
    code: str
    findings: Findings | None = None
    reason: str | None = None
    """What happened and what to do, if the reply was not checked at all."""

    def as_dict(self) -> dict[str, Any]:
        """Return the wire form."""
        findings = None if self.findings is None else self.findings.as_dict()
        wire = {"text": self.text, "code": self.code, "findings": findings}
        return wire if self.reason is None else {**wire, "reason": self.reason}


@record
class HandedBack:
    """An accepted call of a client tool: the client runs it and reports the result under this receipt."""

    receipt_id: str
    tool: str
    args: dict[str, Any]
    call_id: str | None = None
    """The call id from the model's API, for native calls."""

    def as_dict(self) -> dict[str, Any]:
        """Return the wire form."""
        return {"receipt_id": self.receipt_id, "tool": self.tool, "args": self.args, "call_id": self.call_id}


@record
class TurnResult:
    """The result of one finished agent turn."""

    turn_id: str
    reply: str | None = None
    """The answer; None: refused, abstained, stopped or the model gave none."""
    rejected: Rejected | None = None
    findings: Findings | None = None
    """None: the reply was not checked (abstained, raw, or no reply)."""
    receipts: tuple[str, ...] = ()
    """Receipts of the calls that were not rejected, in order."""
    steps: tuple[Step, ...] = ()
    stop_hook: str | None = None
    """`STOP_HOOK: tool_call_rejected tool_call_nonce_invalid`; see `stop_hooks`."""
    usage: Usage = Usage()
    abstained: bool = False
    model_error: ModelError | None = None
    held: Held | None = None
    """Set if a call waits for approval; the turn waits with it."""
    handed_back: tuple[HandedBack, ...] = ()
    required_by: RequiredBy | None = None
    """Why step one had to be a tool call; `heuristic` is error-prone and worth monitoring."""
    forced: bool = False
    """A limit was reached, so the answer was requested before the model chose to finish."""
    results: tuple[Injected, ...] = ()
    """The tool results as the model saw them."""
    messages: tuple[Message, ...] = ()
    """The prompt at the end of the turn."""
    model: str = ""
    provider: str = ""

    @property
    def evidence(self) -> str | None:
        """The Evidence line, as written."""
        return None if self.findings is None else self.findings.line

    def as_dict(self) -> dict[str, Any]:
        """Return the wire form, without the prompt."""
        wire: dict[str, Any] = {
            "turn_id": self.turn_id,
            "reply": self.reply,
            "evidence": self.evidence,
            "receipts": list(self.receipts),
            "steps": [step.as_dict() for step in self.steps],
            "usage": usage_dict(self.usage),
        }
        if self.rejected is not None:
            wire["rejected"] = self.rejected.as_dict()
        elif self.findings is not None:
            wire["findings"] = self.findings.as_dict()
        return wire | self._ending()

    def _ending(self) -> dict[str, Any]:
        """Return the fields that describe an end other than a plain reply."""
        wire: dict[str, Any] = {
            name: value
            for name, value in (
                ("stop_hook", self.stop_hook),
                ("abstained", self.abstained),
                ("forced", self.forced),
                ("required_by", self.required_by),
            )
            if value
        }
        if self.model_error is not None:
            wire["unheard"] = {"code": self.model_error.code, "message": self.model_error.message}
        if self.held is not None:
            wire["held"] = {"approval_id": self.held.approval_id, "expires_at": self.held.expires_at}
        if self.handed_back:
            wire["handed_back"] = [call.as_dict() for call in self.handed_back]
        return wire


def usage_dict(usage: Usage) -> dict[str, int]:
    """Return the wire form of `Usage`."""
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cost_microusd": usage.cost_microusd,
    }

"""What came of one agent turn: its steps, its results, and the reply or the reason why there is none."""

from typing import Any, Literal

from tallystick.gate.execute.outcome import Held, Outcome
from tallystick.gate.reply.findings import Findings
from tallystick.records import record
from tallystick.turns.model import Message, ModelError, Usage

StepKind = Literal["call", "decision", "final"]
"""`call` proposes a tool (run or refused), `decision` is the wish to finish, `final` is the answer."""
RequiredBy = Literal["flag", "heuristic"]


@record
class Injected:
    """A tool's result as a prompt carries it; a conference hands these from the tool phase to the agents."""

    tool: str
    receipt_id: str
    text: str
    """What of the result is shown."""
    sha256: str
    full_size: int
    truncated: bool = False
    error: str | None = None
    """The category, for a call that was accepted and failed; `text` is then the problem."""


@record
class Step:
    """One thing the model said, and what came of it."""

    index: int
    """From 1."""
    kind: StepKind
    text: str
    """What it said, as it came; for a native call its arguments."""
    outcome: Outcome | None = None
    """Of a call or a decision."""
    receipt_id: str | None = None
    code: str | None = None
    """Why it was refused or failed."""
    usage: Usage = Usage()
    elapsed_ms: int = 0
    """Model and gate together."""
    commentary: str = ""
    """Text beside a native call, or thinking that was put aside: kept, never acted on."""

    def as_dict(self) -> dict[str, Any]:
        """The wire form."""
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
    """A reply that did not pass its check. Whether its text is shown all the same is the door's to say."""

    text: str
    code: str
    findings: Findings | None = None

    def as_dict(self) -> dict[str, Any]:
        """The wire form."""
        findings = None if self.findings is None else self.findings.as_dict()
        return {"text": self.text, "code": self.code, "findings": findings}


@record
class HandedBack:
    """An accepted call of the client's own tool: the client runs it and reports under this receipt."""

    receipt_id: str
    tool: str
    args: dict[str, Any]
    call_id: str | None = None
    """As the model's API named the call, where it speaks natively."""

    def as_dict(self) -> dict[str, Any]:
        """The wire form."""
        return {"receipt_id": self.receipt_id, "tool": self.tool, "args": self.args, "call_id": self.call_id}


@record
class TurnResult:
    """One agent turn, ended."""

    turn_id: str
    reply: str | None = None
    """The answer; None: refused, abstained, stopped or not heard."""
    rejected: Rejected | None = None
    findings: Findings | None = None
    """None: the reply was not checked (abstained, raw, or there is none)."""
    receipts: tuple[str, ...] = ()
    """Of the calls that were let through, in order."""
    steps: tuple[Step, ...] = ()
    stop_hook: str | None = None
    """`STOP_HOOK: tool_call_rejected tool_call_nonce_invalid`; see `stop_hooks`."""
    usage: Usage = Usage()
    abstained: bool = False
    model_error: ModelError | None = None
    held: Held | None = None
    """A call waits for a person; the turn waits with it."""
    handed_back: tuple[HandedBack, ...] = ()
    required_by: RequiredBy | None = None
    """Why step one had to be a tool call; `heuristic` is the fragile one and worth counting."""
    forced: bool = False
    """A limit was reached, so the answer was asked for before the model wished to give it."""
    results: tuple[Injected, ...] = ()
    """What the tools gave, as the model saw it."""
    messages: tuple[Message, ...] = ()
    """The prompt as it stood at the end."""
    model: str = ""
    provider: str = ""

    @property
    def evidence(self) -> str | None:
        """The Evidence line, as written."""
        return None if self.findings is None else self.findings.line

    def as_dict(self) -> dict[str, Any]:
        """The wire form; the prompt is left out."""
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
        """How it ended, where it did not simply end in a reply."""
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
    """The wire form of what an answer cost."""
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cost_microusd": usage.cost_microusd,
    }

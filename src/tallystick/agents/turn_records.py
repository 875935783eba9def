"""Records of finished turns: transcript, credits, tiers and counts.

The receipts are already written by then. If one of these records cannot be written, the reply is still returned and a
warning is logged.
"""

import logging
from datetime import UTC, datetime
from secrets import token_hex

from tallystick.agents.caps import Caps
from tallystick.agents.credits import SYSTEM, CreditEvent, merit_of
from tallystick.agents.crew import Recipient
from tallystick.agents.ports import CreditStore, TierStore, TranscriptStore
from tallystick.agents.problem import Problem
from tallystick.agents.tiers import Result
from tallystick.agents.transcript_entry import TranscriptEntry
from tallystick.agents.turn_counts import TurnCounter
from tallystick.errors import TallyError
from tallystick.gate.record.recorder import Observer
from tallystick.gate.reply.findings import Findings
from tallystick.gate.session import Session
from tallystick.turns.result import TurnResult, usage_dict

_log = logging.getLogger(__name__)


class TurnRecorder:
    """Records finished turns. Does blocking file I/O: not for the event loop."""

    def __init__(
        self,
        *,
        transcripts: TranscriptStore,
        credit_store: CreditStore,
        tiers: TierStore,
        counter: TurnCounter,
        observer: Observer | None,
    ) -> None:
        self.transcripts = transcripts
        self.counter = counter
        self._credits = credit_store
        self._tiers = tiers
        self._observer = observer

    def record_chat(self, message: str, result: TurnResult, to: Recipient, session: Session) -> None:
        """Record a turn of a chat."""
        entry = TranscriptEntry(
            at=now(),
            turn_id=result.turn_id,
            subject=session.caller.subject,
            agent_id=to.agent.agent_id,
            message=message,
            reply=result.reply,
            code=_code(result),
            receipts=result.receipts,
            more={
                "evidence": result.evidence,
                "stop_hook": result.stop_hook,
                "required_by": result.required_by,
                "provider": result.provider,
                "model": result.model,
                "usage": usage_dict(result.usage),
            },
        )
        try:
            self.transcripts.add(session.session_id, entry)
        except TallyError as error:
            _log.warning("%s (%s)", error, error.code)
        self.credit(to, result.findings)
        self.counter.count_turn(result, session)
        if result.required_by is not None and self._observer is not None:
            # A message can match the trigger phrases by chance, so telemetry counts how often they apply.
            self._observer.required(by=result.required_by)

    def record_task(self, result: TurnResult, to: Recipient, session: Session) -> None:
        """Record the turn of a task; it counts for the agent's tier."""
        self.credit(to, result.findings)
        self.counter.count_turn(result, session)
        try:
            self._tiers.record(to.agent.agent_id, to.endpoint.model, grade(result, to.caps))
        except TallyError as error:
            _log.warning("%s (%s)", error, error.code)

    def credit(self, to: Recipient, findings: Findings | None) -> None:
        """Record the credit event of a reply check."""
        merit = None if findings is None else merit_of(findings)
        if findings is None or merit is None or not findings.receipt_id:
            return
        event = CreditEvent(
            event_id=new_id("crd"),
            agent_id=to.agent.agent_id,
            merit=merit,
            receipt_id=findings.receipt_id,
            given_by=SYSTEM,
            timestamp=now(),
        )
        try:
            written = self._credits.record(event)
        except TallyError as error:
            _log.warning("%s (%s)", error, error.code)
            return
        if isinstance(written, Problem):
            _log.warning("a credit was not written: %s (%s)", written.message, written.code)


def now() -> str:
    """Return the current UTC time in RFC 3339 format."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def new_id(kind: str) -> str:
    """Generate a random id with the prefix `kind`."""
    return f"{kind}_{token_hex(12)}"


def _code(result: TurnResult) -> str | None:
    if result.rejected is not None:
        return result.rejected.code
    if result.model_error is not None:
        return result.model_error.code
    if result.held is not None:
        return "held"
    if result.handed_back:
        return "handed_back"
    if result.abstained:
        return "abstained"
    return None if result.reply is not None else "stopped"


FORGED = "receipt_unknown"
"""The code of a citation whose receipt does not exist: receipt ids cannot be made up by accident."""


def grade(turn: TurnResult, caps: Caps) -> Result:
    """Return the result of a turn for the tier.

    Args:
        turn: The finished turn.
        caps: The caps it ran under.
    """
    if turn.rejected is not None:
        return Result.CRITICAL if _forges(turn) else Result.FAILED
    # A held call, a model error, a handed-back call or an abstention is neither success nor failure of the agent.
    if turn.held or turn.model_error or turn.handed_back or turn.abstained:
        return Result.NEUTRAL
    if turn.stop_hook is not None:
        return Result.FAILED
    found = turn.findings
    if turn.reply is None or found is None or found.unsure or not any(item.ok for item in found.items):
        return Result.NEUTRAL
    used = caps.reached(steps=len(turn.steps), output_tokens=turn.usage.output_tokens, tool_actions=len(turn.receipts))
    return Result.AT_CAP if used else Result.VERIFIED


def _forges(turn: TurnResult) -> bool:
    findings = None if turn.rejected is None else turn.rejected.findings
    return findings is not None and any(item.code == FORGED for item in findings.items)

"""What is kept of a turn: the transcript, and what it was worth to the agent.

The reply stands by then, and its receipts too. If one of these cannot be written, the reply is given all the same and
the log says what is missing.
"""

import logging
from datetime import UTC, datetime
from secrets import token_hex

from tallystick.agents.credits import SYSTEM, CreditEvent, merit_of
from tallystick.agents.crew import Addressed
from tallystick.agents.grades import grade
from tallystick.agents.problem import Problem
from tallystick.agents.turn_counts import Counting
from tallystick.app.gate import Gate
from tallystick.errors import TallyError
from tallystick.gate.reply.findings import Findings
from tallystick.gate.session import Session
from tallystick.storage.credits import Credits
from tallystick.storage.tiers import Tiers
from tallystick.storage.transcripts import Spoken, Transcripts
from tallystick.turns.result import TurnResult, usage_dict

_log = logging.getLogger(__name__)


class Aftermath:
    """Writes down what came of turns. Reads and writes files: not for the event loop."""

    def __init__(self, gate: Gate, tiers: Tiers) -> None:
        self.transcripts = Transcripts(gate.workspace)
        self._credits = Credits(gate.workspace)
        self._observer = gate.observer
        self._tiers = tiers
        self.counting = Counting(gate)

    def talked(self, message: str, result: TurnResult, to: Addressed, session: Session) -> None:
        """A turn of a conversation has ended."""
        spoken = Spoken(
            at=now(), turn_id=result.turn_id, subject=session.caller.subject, agent_id=to.agent.agent_id,
            message=message, reply=result.reply, code=_code(result), receipts=result.receipts,
            more={
                "evidence": result.evidence, "stop_hook": result.stop_hook, "required_by": result.required_by,
                "provider": result.provider, "model": result.model, "usage": usage_dict(result.usage),
            },
        )  # fmt: skip
        try:
            self.transcripts.add(session.session_id, spoken)
        except TallyError as error:
            _log.warning("%s (%s)", error, error.code)
        self.credit(to, result.findings)
        self.counting.turn(result, session)
        if result.required_by is not None and self._observer is not None:
            # The phrases are easy to hit by chance: whoever relies on them should see how often they count.
            self._observer.required(by=result.required_by)

    def worked(self, result: TurnResult, to: Addressed, session: Session) -> None:
        """A task has ended: it counts for the agent's tier."""
        self.credit(to, result.findings)
        self.counting.turn(result, session)
        try:
            self._tiers.record(to.agent.agent_id, to.endpoint.model, grade(result, to.caps))
        except TallyError as error:
            _log.warning("%s (%s)", error, error.code)

    def credit(self, to: Addressed, findings: Findings | None) -> None:
        """What the check of a reply was worth."""
        merit = None if findings is None else merit_of(findings)
        if findings is None or merit is None or not findings.receipt_id:
            return
        event = CreditEvent(
            event_id=new_id("crd"), agent_id=to.agent.agent_id, merit=merit, receipt_id=findings.receipt_id,
            given_by=SYSTEM, timestamp=now(),
        )  # fmt: skip
        try:
            written = self._credits.record(event)
        except TallyError as error:
            _log.warning("%s (%s)", error, error.code)
            return
        if isinstance(written, Problem):
            _log.warning("a credit was not written: %s (%s)", written.message, written.code)


def now() -> str:
    """The time, RFC 3339."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def new_id(kind: str) -> str:
    """A server-made id."""
    return f"{kind}_{token_hex(12)}"


def _code(result: TurnResult) -> str | None:
    if result.rejected is not None:
        return result.rejected.code
    if result.unheard is not None:
        return result.unheard.code
    if result.held is not None:
        return "held"
    if result.handed_back:
        return "handed_back"
    if result.abstained:
        return "abstained"
    return None if result.reply is not None else "stopped"

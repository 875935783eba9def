"""Count finished agent turns (tokens, cost, refusals) and notify people of refusals.

Used for chats, tasks, conference rounds and runs. A failure here is logged and does not change the turn.
"""

import logging
from collections.abc import Iterator

from tallystick.agents.answers import Unanswered
from tallystick.agents.counts import Count
from tallystick.agents.ports import AgentRegistry, ConversationAccess, TurnCounts, TurnListener, TurnNotices
from tallystick.errors import TallyError
from tallystick.gate.codes import Category
from tallystick.gate.session import Session
from tallystick.turns.result import TurnResult

_log = logging.getLogger(__name__)


class TurnCounter:
    """Counts the turns of an open workspace. Does blocking file I/O: not for the event loop."""

    def __init__(
        self,
        *,
        counts: TurnCounts,
        notices: TurnNotices,
        registry: AgentRegistry,
        access: ConversationAccess,
        listener: TurnListener | None = None,
    ) -> None:
        self._counts = counts
        self._notices = notices
        self._registry = registry
        self._access = access
        self._listener = listener

    def count_turn(self, result: TurnResult, session: Session) -> None:
        """Count a finished turn.

        Args:
            result: The turn.
            session: Its session, with the agent of the turn.
        """
        try:
            self._count(result, session)
            if self._listener is not None and session.agent_id is not None:
                self._listener.activated(session.agent_id)
            self._notify(result, session)
        except (TallyError, OSError) as error:
            _log.warning("a turn was not counted: %s", error)

    def report(self, session: Session, count: Count, bucket: str | None) -> Unanswered | None:
        """Count the numbers that a client reports for its own conference.

        Args:
            session: The conference's session, with its caller and agent.
            count: Activations and tokens.
            bucket: The bucket of a refusal, if any.

        Returns:
            Why nothing was counted; None if it was counted.
        """
        fault = self._access.refusal(session.conference_id or "", session.caller)
        if fault is not None:
            return fault
        problem = None if session.agent_id is None else self._registry.load().check_agent(session.agent_id)
        if problem is not None:
            return Unanswered(code=problem.code, advice=problem.message, status=404, category=Category.DOWNSTREAM_ERROR)
        self._counts.add(session, count, [] if bucket is None else [bucket])
        return None

    def _count(self, result: TurnResult, session: Session) -> None:
        usage = result.usage
        count = Count(
            activations=1,
            tokens=usage.input_tokens + usage.output_tokens,
            tokens_in=usage.input_tokens,
            tokens_out=usage.output_tokens,
            cost_microusd=usage.cost_microusd,
        )
        self._counts.add(session, count, [] if self._counts.sees_refusals else list(_buckets(result)))

    def _notify(self, result: TurnResult, session: Session) -> None:
        """Notify people of a refusal; a held call has its own notification."""
        agent = session.agent_id or "An agent"
        if result.rejected is not None:
            self._notices.warn(f"A reply of {agent} was rejected: {result.rejected.code}.", session)
        elif result.stop_hook is not None and result.held is None and result.model_error is None:
            self._notices.warn(f"A turn of {agent} was stopped: {result.stop_hook}.", session)


def _buckets(result: TurnResult) -> Iterator[str]:
    for step in result.steps:
        fault = None if step.outcome is None else step.outcome.fault
        if fault is not None and fault.bucket is not None:
            yield str(fault.bucket)
    if result.findings is not None and result.findings.bucket is not None:
        yield str(result.findings.bucket)

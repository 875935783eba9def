"""What every agent turn adds up to: what it used, what was refused, and what its agent lets go of.

For chats, tasks, conference rounds and runs alike. By then the turn has ended; what cannot be counted is logged, and
changes nothing about it.
"""

import logging
from collections.abc import Iterator
from contextlib import closing
from typing import Protocol

from tallystick.agents.administration import stranger
from tallystick.agents.answers import Unanswered
from tallystick.app.gate import Gate
from tallystick.errors import TallyError
from tallystick.gate.session import Session
from tallystick.rooms.studio.conference.access import not_own
from tallystick.rooms.studio.conference.answers import refused
from tallystick.rooms.studio.conference.store import ConferenceFiles
from tallystick.settings import CONTROL_ROOM
from tallystick.storage.notifications import Notifications, place_of
from tallystick.telemetry.counted import Counted
from tallystick.telemetry.observer import Telemetry
from tallystick.telemetry.rejections import Count, Rejections
from tallystick.turns.result import TurnResult

FOLDER = "telemetry"
_log = logging.getLogger(__name__)


class _Mind(Protocol):
    """What agents remember of issues (`rooms.studio.issues.memory`)."""

    def activated(self, agent_id: str, times: int = 1) -> object:
        """An agent was at work."""
        ...


class Counting:
    """Counts the turns of an open workspace. Reads and writes files: not for the event loop."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._notifications = Notifications(gate.workspace)

    def turn(self, result: TurnResult, session: Session) -> None:
        """A turn of an agent has ended.

        Args:
            result: How.
            session: Where; its agent is the one that was at work.
        """
        try:
            self._count(result, session)
            mind = _mind_of(self._gate)
            if mind is not None and session.agent_id is not None:
                mind.activated(session.agent_id)
            self._tell(result, session)
        except (TallyError, OSError) as error:
            _log.warning("a turn was not counted: %s", error)

    def report(self, session: Session, count: Count, bucket: str | None) -> Unanswered | None:
        """Count what a client says of a conference of its own; or why not."""
        fault = not_own(ConferenceFiles(self._gate.workspace), session.conference_id or "", session.caller)
        if fault is not None:
            return fault
        problem = None if session.agent_id is None else stranger(self._gate.workspace, session.agent_id)
        if problem is not None:
            return refused(problem)
        self._add(session, count, [] if bucket is None else [bucket])
        return None

    def counted(self) -> Counted:
        """What has been counted so far, of all processes."""
        watching = self._gate.observer
        if isinstance(watching, Telemetry):
            return Counted(watching.rejections)
        return Counted(Rejections(self._gate.workspace / CONTROL_ROOM / FOLDER))

    def _count(self, result: TurnResult, session: Session) -> None:
        usage = result.usage
        count = Count(
            activations=1, tokens=usage.input_tokens + usage.output_tokens, tokens_in=usage.input_tokens,
            tokens_out=usage.output_tokens, cost_microusd=usage.cost_microusd,
        )  # fmt: skip
        # What watches the gate has seen every refusal already.
        watched = isinstance(self._gate.observer, Telemetry)
        self._add(session, count, [] if watched else list(_buckets(result)))

    def _add(self, session: Session, count: Count, buckets: list[str]) -> None:
        watching = self._gate.observer
        if isinstance(watching, Telemetry):
            _add_to(watching.rejections, session, count, buckets)
            return
        # A command counts a turn or two and ends: it writes at once and leaves nothing running.
        with closing(Rejections(self._gate.workspace / CONTROL_ROOM / FOLDER)) as own:
            _add_to(own, session, count, buckets)

    def _tell(self, result: TurnResult, session: Session) -> None:
        """A person should know of what was refused; a held call has told of itself."""
        agent = session.agent_id or "An agent"
        if result.rejected is not None:
            text = f"A reply of {agent} was rejected: {result.rejected.code}."
        elif result.stop_hook is not None and result.held is None and result.unheard is None:
            text = f"A turn of {agent} was stopped: {result.stop_hook}."
        else:
            return
        source, link = "chat", place_of("session", session.session_id)
        if session.conference_id is not None:
            source, link = "conference", place_of("conference", session.conference_id)
        self._notifications.add(level="warn", source=source, text=text, link=link)


def _add_to(rejections: Rejections, session: Session, count: Count, buckets: list[str]) -> None:
    rejections.add(session, count)
    for bucket in buckets:
        rejections.add(session, bucket=bucket)


def _buckets(result: TurnResult) -> Iterator[str]:
    for step in result.steps:
        fault = None if step.outcome is None else step.outcome.fault
        if fault is not None and fault.bucket is not None:
            yield str(fault.bucket)
    if result.findings is not None and result.findings.bucket is not None:
        yield str(result.findings.bucket)


def _mind_of(gate: Gate) -> _Mind | None:
    """The studio's memory of issues, where the studio is installed."""
    matters = getattr(gate.room("studio"), "matters", None)
    mind: _Mind | None = getattr(matters, "memory", None)
    return mind

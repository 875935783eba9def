"""What the agents' services need from the parts above them.

The open workspace, its stores, its telemetry and its models are chosen in `app/agents.py`. `ConversationAccess`,
`TaskContext` and `TurnListener` may be brought by a room.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from typing_extensions import Unpack

from tallystick.agents.answers import Unanswered
from tallystick.agents.caps import Caps
from tallystick.agents.counts import Count
from tallystick.agents.credits import CreditEvent
from tallystick.agents.problem import Problem
from tallystick.agents.roster import Roster
from tallystick.agents.tasks.packet import TaskPacket
from tallystick.agents.tasks.receipt import TaskReceipt
from tallystick.agents.tasks.routing import Routed
from tallystick.agents.tasks.targets import KnownFile
from tallystick.agents.tiers import Ladder, Move, Result, Standing, TierPolicy
from tallystick.agents.transcript_entry import TranscriptEntry
from tallystick.gate.decide.verdict import Limits
from tallystick.gate.execute.outcome import Outcome
from tallystick.gate.record.ledger import Ledger
from tallystick.gate.record.recorder import Observer
from tallystick.gate.reply.findings import Findings
from tallystick.gate.reply.options import ReplyOptions
from tallystick.gate.session import Caller, Session
from tallystick.gate.tool import Card
from tallystick.settings import Settings
from tallystick.turns.agent import Agent, Endpoint
from tallystick.turns.limits import Budget
from tallystick.turns.model import Message, Model
from tallystick.turns.turn import Turn

ModelFactory = Callable[[Endpoint], Model]
"""Gives the model behind an endpoint."""


class AgentGate(Protocol):
    """The open workspace as agents use it; `app.gate.Gate` satisfies it."""

    @property
    def settings(self) -> Settings:
        """The configuration in force."""
        ...

    @property
    def ledger(self) -> Ledger:
        """The receipts."""
        ...

    @property
    def observer(self) -> Observer | None:
        """The telemetry of this process, if there is any."""
        ...

    def tools(self) -> list[Card]:
        """The cards of all registered tools."""
        ...

    async def call(self, tool: str, args: Mapping[str, Any] | None = None, *, session: str | Session) -> Outcome:
        """Propose one call."""
        ...

    def turn(
        self,
        *,
        session: str | Session,
        agent: str | None = None,
        caller: Caller | None = None,
        may_finish: bool = False,
        client_tools: Iterable[Card] = (),
        limits: Limits | Budget | None = None,
        user_texts: Iterable[str] | None = None,
    ) -> Turn:
        """Begin an agent turn."""
        ...

    def check_reply(
        self, reply: str, *, session: str | Session, agent: str | None = None, **options: Unpack[ReplyOptions]
    ) -> Findings:
        """Check what a reply claims, and record the check."""
        ...

    def report(self, receipt_id: str, result: Any) -> str:
        """Record the result that a client reports for a call it ran itself; gives the new receipt's id."""
        ...


# -- stores ------------------------------------------------------------------------------------------------------------


class AgentRegistry(Protocol):
    """The agents of a workspace and their endpoints."""

    def load(self) -> Roster:
        """The roster as it is stored now."""
        ...

    def list(self, *, enabled_only: bool = False) -> tuple[Agent, ...]:
        """All agents, the Chief of Staff first."""
        ...

    def change(self, how: Callable[[Roster], Roster | Problem]) -> Roster | Problem:
        """Change the roster in one step."""
        ...


class TierStore(Protocol):
    """The tier policy, and the tier of each agent with each model."""

    def load(self) -> Ladder:
        """The policy and all standings."""
        ...

    def caps_for(self, agent_id: str, model: str) -> Caps:
        """What an agent's next task with a model may use."""
        ...

    def record(self, agent_id: str, model: str, result: Result) -> tuple[Standing, Move]:
        """Count the result of a task."""
        ...

    def set_policy(self, policy: TierPolicy) -> TierPolicy:
        """Put another policy in force."""
        ...


class CreditStore(Protocol):
    """The credits of agents."""

    def record(self, event: CreditEvent) -> CreditEvent | Problem:
        """Store an event; a second event of the same thing gives back the first."""
        ...


class TranscriptStore(Protocol):
    """The transcripts of sessions."""

    def add(self, session_id: str, entry: TranscriptEntry) -> None:
        """Append a turn.

        Raises:
            TallyError: It cannot be written.
        """
        ...

    def history(self, session_id: str, *, subject: str, agent_id: str) -> tuple[Message, ...]:
        """The recent messages between a caller and an agent, as far as the replies were accepted."""
        ...


class TaskStore(Protocol):
    """Task packets, assignments and task receipts."""

    def keep_packet(self, packet: TaskPacket) -> Problem | None:
        """Store a packet; the same one again changes nothing."""
        ...

    def assign(self, packet: TaskPacket, agent_id: str) -> Problem | None:
        """Store a routed packet and the agent it was given to."""
        ...

    def assigned_to(self, packet: TaskPacket) -> str | None:
        """The agent a packet was given to; None: it was not routed here."""
        ...

    def keep_receipt(self, receipt: TaskReceipt, packet: TaskPacket, *, reply: str | None = None) -> Problem | None:
        """Store a task receipt, and the whole reply beside it."""
        ...


class ChangeRecords(Protocol):
    """Audit records of changes that people make."""

    def require_writable(self) -> None:
        """Check before a change that it can be recorded.

        Raises:
            LedgerUnwritable: It cannot be.
        """
        ...

    def record(self, caller: Caller, action: str, resource: str, metadata: Mapping[str, Any] | None = None) -> str:
        """Record a change; gives the record's id."""
        ...


# -- telemetry and notifications ---------------------------------------------------------------------------------------


class TurnCounts(Protocol):
    """Counts of activations, tokens, cost and refusals."""

    @property
    def sees_refusals(self) -> bool:
        """Whether refusals are counted where they happen, so that a finished turn must not count them again."""
        ...

    def add(self, session: Session, count: Count, buckets: Sequence[str]) -> None:
        """Add a count, and one refusal for each bucket."""
        ...


class TurnNotices(Protocol):
    """Notifications about turns."""

    def warn(self, text: str, session: Session) -> None:
        """Add a warning that links to the session or its conference.

        Raises:
            TallyError: It cannot be written.
        """
        ...


# -- what a room may bring ---------------------------------------------------------------------------------------------


class ConversationAccess(Protocol):
    """Who may go on with a conversation that several agents share, such as a conference."""

    def refusal(self, conversation_id: str, caller: Caller) -> Unanswered | None:
        """Why a caller may not go on with it; None: allowed. Reads files: not for the event loop."""
        ...

    def reply_text(self, conversation_id: str, check_id: str, caller: Caller) -> str | None:
        """The reply that a check was of, where the conversation still has it and the caller may read it."""
        ...


class TaskContext(Protocol):
    """The issues that tasks belong to, and the files they can be about. Reads files: not for the event loop."""

    def issue_id(self, name: str) -> str | Problem:
        """The id of an issue by its id or number."""
        ...

    def open_issue(self, routed: Routed, message: str, *, caller: Caller, session_id: str) -> Problem | None:
        """Open the issue that a routed packet names as its own."""
        ...

    def known_files(self) -> tuple[KnownFile, ...]:
        """The files of the workspace, with the names people use for them."""
        ...


class TurnListener(Protocol):
    """Follows the turns of agents."""

    def activated(self, agent_id: str) -> object:
        """A turn of this agent has ended."""
        ...

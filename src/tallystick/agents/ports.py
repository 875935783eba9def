"""Ports that the agent services need from higher layers.

`app/agents.py` provides the open workspace, its stores, telemetry and models. A room may implement
`ConversationAccess`, `TaskContext` and `TurnListener`.
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
"""Returns the model of an endpoint."""


class AgentGate(Protocol):
    """The interface of an open workspace for agents; `app.gate.Gate` implements it."""

    @property
    def settings(self) -> Settings:
        """The configuration in force."""
        ...

    @property
    def ledger(self) -> Ledger:
        """The ledger of receipts."""
        ...

    @property
    def observer(self) -> Observer | None:
        """The telemetry of this process, if any."""
        ...

    def tools(self) -> list[Card]:
        """The cards of all registered tools."""
        ...

    def tools_for(self, role: str) -> frozenset[str] | None:
        """Return the names of the tools that an agent of this role is offered; None: all."""
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
        allowed_tools: Iterable[str] | None = None,
        may_finish: bool = False,
        client_tools: Iterable[Card] = (),
        limits: Limits | Budget | None = None,
        user_texts: Iterable[str] | None = None,
    ) -> Turn:
        """Start an agent turn."""
        ...

    def check_reply(
        self, reply: str, *, session: str | Session, agent: str | None = None, **options: Unpack[ReplyOptions]
    ) -> Findings:
        """Check the claims of a reply and record the check."""
        ...

    def report(self, receipt_id: str, result: Any) -> str:
        """Record the result that a client reports for a call it ran itself; return the new receipt's id."""
        ...


# -- stores ------------------------------------------------------------------------------------------------------------


class AgentRegistry(Protocol):
    """The agents of a workspace and their endpoints."""

    def load(self) -> Roster:
        """Load the stored roster."""
        ...

    def list(self, *, enabled_only: bool = False) -> tuple[Agent, ...]:
        """List all agents, the Chief of Staff first."""
        ...

    def change(self, how: Callable[[Roster], Roster | Problem]) -> Roster | Problem:
        """Change the roster atomically."""
        ...


class TierStore(Protocol):
    """The tier policy, and the tier of each agent with each model."""

    def load(self) -> Ladder:
        """Load the policy and all standings."""
        ...

    def caps_for(self, agent_id: str, model: str) -> Caps:
        """Return the caps of an agent's next task with a model."""
        ...

    def record(self, agent_id: str, model: str, result: Result) -> tuple[Standing, Move]:
        """Count the result of a task."""
        ...

    def set_policy(self, policy: TierPolicy) -> TierPolicy:
        """Set the policy."""
        ...


class CreditStore(Protocol):
    """The credits of agents."""

    def record(self, event: CreditEvent) -> CreditEvent | Problem:
        """Store an event; for a duplicate, return the first one."""
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
        """Return the recent messages between a caller and an agent whose replies were accepted."""
        ...


class TaskStore(Protocol):
    """Task packets, assignments and task receipts."""

    def keep_packet(self, packet: TaskPacket) -> Problem | None:
        """Store a packet; storing the same packet again changes nothing."""
        ...

    def assign(self, packet: TaskPacket, agent_id: str) -> Problem | None:
        """Store a routed packet and its assigned agent."""
        ...

    def assigned_to(self, packet: TaskPacket) -> str | None:
        """Return the agent that a packet is assigned to; None if it was not routed here."""
        ...

    def keep_receipt(self, receipt: TaskReceipt, packet: TaskPacket, *, reply: str | None = None) -> Problem | None:
        """Store a task receipt, with the whole reply in a separate file."""
        ...


class ChangeRecords(Protocol):
    """Audit records of changes that people make."""

    def require_writable(self) -> None:
        """Check before a change that it can be recorded.

        Raises:
            LedgerUnwritable: The ledger cannot be written.
        """
        ...

    def record(self, caller: Caller, action: str, resource: str, metadata: Mapping[str, Any] | None = None) -> str:
        """Record a change; return the record's id."""
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


# -- ports that a room may implement -----------------------------------------------------------------------------------


class ConversationAccess(Protocol):
    """Access control for conversations that several agents share, such as a conference."""

    def refusal(self, conversation_id: str, caller: Caller) -> Unanswered | None:
        """Return why a caller may not continue it; None if allowed. Does blocking file I/O: not for the event loop."""
        ...

    def reply_text(self, conversation_id: str, check_id: str, caller: Caller) -> str | None:
        """Return the reply of a check, if the conversation still has it and the caller may read it."""
        ...


class TaskContext(Protocol):
    """The issues of tasks, and the files they can be about. Does blocking file I/O: not for the event loop."""

    def issue_id(self, name: str) -> str | Problem:
        """Return the id of an issue, given its id or number."""
        ...

    def open_issue(self, routed: Routed, message: str, *, caller: Caller, session_id: str) -> Problem | None:
        """Open the issue that a routed packet belongs to."""
        ...

    def known_files(self) -> tuple[KnownFile, ...]:
        """List the files of the workspace, with the names people use for them."""
        ...


class TurnListener(Protocol):
    """Follows the turns of agents."""

    def activated(self, agent_id: str) -> object:
        """Handle the end of a turn of this agent."""
        ...

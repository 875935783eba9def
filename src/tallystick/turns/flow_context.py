"""Interface through which a room's flow calls tools, asks agents and records notes; every action is recorded.

A flow in a room's `flows/` receives it in addition to the durable port. Everything goes through the gate: each call is
a proposal and each agent reply is checked. `app/flow_context.py` implements it for an open workspace.
"""

from collections.abc import Mapping
from typing import Any, Protocol

from tallystick.gate.execute.outcome import Outcome
from tallystick.gate.record.receipt import Receipt
from tallystick.gate.reply.findings import Findings, Form
from tallystick.gate.session import Session
from tallystick.gate.tool import Card
from tallystick.records import record
from tallystick.turns.agent import Agent, Endpoint
from tallystick.turns.limits import Budget
from tallystick.turns.result import TurnResult

STEP = "step"
"""The header field (`Session.extra`) that names the flow's step in each of its receipts."""


@record
class Question:
    """A request from a flow to an agent."""

    agent_id: str
    message: str
    session: Session
    results: tuple[str, ...] = ()
    """Receipts of this session whose results are shown to the agent and may be cited."""
    tools: frozenset[str] = frozenset()
    """Tools the agent may call; flows allow only read tools, because a step may run again."""
    raw: bool = False
    """Send the message to the model unchanged and return its text unchecked."""
    schema: Mapping[str, Any] | None = None
    """With `raw`: the JSON Schema of the answer; the endpoint enforces it if it can, and the flow checks it again."""
    tools_only: bool = False
    """The agent only calls tools and gives no reply: the turn ends with its last call."""
    user_texts: tuple[str, ...] = ()
    """The parts of the message that a person wrote."""
    heard: tuple[str, ...] = ()
    """The parts of the message from other authors; calls with side effects must not take values from them."""
    agent: Agent | None = None
    """The agent that answers, if the flow supplies one; its id is `agent_id`. None: the workspace's agent."""
    endpoint: Endpoint | None = None
    """The endpoint of its model; None: the one configured in the workspace."""
    budget: Budget | None = None
    """The limits of the turn; None: those of the agent's tier."""
    form: Form = "line"
    """How the reply gives its evidence."""
    max_tokens: int | None = None


@record
class Answer:
    """The response to a Question: a finished turn, successful or not, or the reason why no turn ran."""

    result: TurnResult | None = None
    code: str | None = None
    """Why no turn ran, e.g. `agent_unknown`, `endpoint_unreachable`."""
    advice: str = ""


class FlowContext(Protocol):
    """What a flow can do through the gate; methods block, because flows run in worker threads."""

    def cards(self) -> Mapping[str, Card]:
        """Return the registered tools by name."""
        ...

    def agents(self) -> frozenset[str]:
        """Return the ids of the enabled agents."""
        ...

    def call(
        self, tool: str, args: Mapping[str, Any], session: Session, *, allowed: frozenset[str] | None = None
    ) -> Outcome:
        """Propose one call; `allowed` further restricts the tools for it."""
        ...

    def ask(self, question: Question) -> Answer:
        """Run one agent turn."""
        ...

    def check(self, reply: str, session: Session, *, form: Form = "line") -> Findings:
        """Check what a reply claims and record a receipt."""
        ...

    def find(self, receipt_id: str) -> Receipt | None:
        """Return a receipt if it exists and verifies, else None."""
        ...

    def recorded(self, session_id: str, step: str) -> tuple[Receipt, ...]:
        """Return all receipts of a step; a step that runs again checks these first."""
        ...

    def note(self, session: Session, action: str, resource: str, metadata: Mapping[str, Any]) -> str:
        """Record a change that is not a tool call and return the record's id; pass ids and digests only, never text."""
        ...

"""What a room's flow may do in the world: call tools, ask agents, leave a note. Nothing else, and all of it recorded.

A flow in a room's `flows/` gets these hands beside the durable port. They stand at the gate: a call is a proposal like
any other, an agent's reply is checked like any other. `app/flow_context.py` joins them with an open workspace.
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
"""The header field that names the flow's step in every receipt of it (`Session.extra`)."""


@record
class Question:
    """What a flow asks of an agent."""

    agent_id: str
    message: str
    session: Session
    results: tuple[str, ...] = ()
    """Receipts of this session whose results the agent is shown, and may cite."""
    tools: frozenset[str] = frozenset()
    """What it may call besides; flows give it tools that only read, because a step may be done again."""
    raw: bool = False
    """The message goes to the model as it is, and its text comes back unchecked."""
    tools_only: bool = False
    """The agent looks things up and says nothing: the turn ends with its last call."""
    user_texts: tuple[str, ...] = ()
    """Whatever of the message a person wrote."""
    heard: tuple[str, ...] = ()
    """Whatever of the message others wrote: a call that does something takes no value from there."""
    agent: Agent | None = None
    """Who answers, where whoever asks brings the agent; `agent_id` is its id. None: the workspace's own."""
    endpoint: Endpoint | None = None
    """Where its model is; None: where the workspace has put it."""
    budget: Budget | None = None
    """What the turn may spend; None: what the agent's tier allows."""
    form: Form = "line"
    """How the reply shows its evidence."""
    max_tokens: int | None = None


@record
class Answer:
    """What came of it: a turn that ended, well or not; or the reason why there was none."""

    result: TurnResult | None = None
    code: str | None = None
    """Why there was no turn, e.g. `agent_unknown`, `endpoint_unreachable`."""
    advice: str = ""


class FlowContext(Protocol):
    """The calls block: flows run in threads of the worker."""

    def cards(self) -> Mapping[str, Card]:
        """The tools there are, by name."""
        ...

    def agents(self) -> frozenset[str]:
        """The agents that are switched on now."""
        ...

    def call(
        self, tool: str, args: Mapping[str, Any], session: Session, *, allowed: frozenset[str] | None = None
    ) -> Outcome:
        """Propose one call; `allowed` closes the world further for it."""
        ...

    def ask(self, question: Question) -> Answer:
        """One agent turn."""
        ...

    def check(self, reply: str, session: Session, *, form: Form = "line") -> Findings:
        """Check what a reply claims; leaves a receipt."""
        ...

    def find(self, receipt_id: str) -> Receipt | None:
        """A receipt that exists and verifies."""
        ...

    def recorded(self, session_id: str, step: str) -> tuple[Receipt, ...]:
        """All that the ledger knows of a step: a step that is done again looks here first."""
        ...

    def note(self, session: Session, action: str, resource: str, metadata: Mapping[str, Any]) -> str:
        """Record a change that is no call; gives the record's id. Ids and digests only, never text."""
        ...

"""What a turn is asked to do, and what it needs of the gate to do it."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, Protocol

from tallystick.gate.admit.names import Entry
from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.execute.outcome import Outcome
from tallystick.gate.reply.findings import Findings, Form
from tallystick.records import record
from tallystick.turns.agent import Agent
from tallystick.turns.limits import MAX_TOOL_STEPS
from tallystick.turns.model import Message
from tallystick.turns.result import Injected, Step
from tallystick.turns.wording import Wordings


@record
class ToolPolicy:
    """What a request says about tools; it can narrow what the turn may use, never widen it."""

    allowed_tools: frozenset[str] | None = None
    """The only tools of this turn; None: all that the turn has."""
    require_tool: bool = False
    """Step one must be a tool call."""


NO_POLICY = ToolPolicy()


@record
class Request:
    """What is asked of an agent."""

    message: str
    agent: Agent
    history: tuple[Message, ...] = ()
    """Earlier messages of the conversation, oldest first."""
    policy: ToolPolicy = NO_POLICY
    skip_tools: bool = False
    """Raw: the message goes to the model as it is, and its text comes back unchecked, without thinking."""
    conference: bool = False
    tool_phase: bool = False
    """Conference phase one: tools only, no reply. In a conference without it, an agent interprets `injected`."""
    injected: tuple[Injected, ...] = ()
    """Results that are already there: of a conference's tool phase, or reported by a client."""
    max_steps: int = MAX_TOOL_STEPS
    """Tool calls before the answer is forced; `limits.budget_for` knows how many."""
    parallel_reads: bool = False
    """Several native calls at once are admitted if every one only reads."""
    cot: Literal["strip", "reject"] = "strip"
    """A thinking block before an answer is put aside, or left in, where the check refuses it."""
    form: Form = "line"
    """How the reply shows its evidence: one line at its end, or references in each sentence."""
    max_tokens: int | None = None
    """The most an answer of the model may have."""
    temperature: float | None = None

    @property
    def has_tools(self) -> bool:
        """Whether this turn may call tools at all."""
        return not self.skip_tools and self.max_steps > 0 and (self.tool_phase or not self.conference)


class GateTurn(Protocol):
    """What the loop needs of a turn at the gate (`turns.turn.Turn`)."""

    @property
    def turn_id(self) -> str:
        """The turn's id, server-made."""
        ...

    @property
    def nonce(self) -> str | None:
        """The nonce the next answer must carry."""
        ...

    @property
    def schema(self) -> Mapping[str, Any]:
        """JSON Schema of the next answer."""
        ...

    @property
    def may_finish(self) -> bool:
        """Whether step one may be the wish to finish."""
        ...

    @property
    def wordings(self) -> Wordings:
        """How rooms word some of the tools for models."""
        ...

    def tools(self) -> Iterable[Entry]:
        """The tools this turn may use."""
        ...

    def narrow(self, allowed_tools: frozenset[str]) -> None:
        """Take tools away from the turn, at the gate itself."""
        ...

    async def submit(self, text: str) -> Outcome:
        """Hand in what the model said."""
        ...

    async def propose(self, tool: str, args: Mapping[str, Any]) -> Outcome:
        """Hand in a native call."""
        ...

    async def refuse(self, rejection: Rejection, text: str) -> Outcome:
        """Record what never became a proposal; the turn is over."""
        ...

    def spend(self, *, tokens: int = 0, cost_microusd: int = 0) -> None:
        """Count what the model used."""
        ...

    def close(self) -> None:
        """End the turn."""
        ...


class Checker(Protocol):
    """The reply check, bound to a session and an agent by whoever runs the turn."""

    def __call__(
        self, reply: str, *, tools_ran: bool, receipts: Sequence[str], conference: bool
    ) -> Findings | Awaitable[Findings]:
        """Check a reply.

        Args:
            reply: The answer.
            tools_ran: Whether tool results stood in the prompt; then the reply must cite receipts.
            receipts: The receipts of those results.
            conference: Whether it is given in a conference.
        """
        ...


Progress = Literal["asking", "checking"]
Watch = Callable[[Step | Progress], None]
"""Is told what happens while it happens; it can neither change nor stop anything."""

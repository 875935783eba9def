"""The context of a call: the caller, the tools allowed this turn, and what has been spent."""

from dataclasses import dataclass

from tallystick.gate.admit.names import Catalogue
from tallystick.gate.admit.nonces import NonceSlot
from tallystick.gate.admit.proposal import Proposal
from tallystick.gate.decide.budgets import Meter, RateWindows
from tallystick.gate.decide.provenance import doubtful
from tallystick.gate.decide.provenance_tracker import ProvenanceTracker
from tallystick.gate.decide.verdict import NOTHING_SPENT, UNLIMITED, Context, Counters
from tallystick.gate.session import MCP_CHANNEL, Session


@dataclass(slots=True, kw_only=True)
class CallContext:
    """The context of one caller; in an agent turn it is kept across steps."""

    session: Session
    authenticated: bool = True
    allowed_tools: frozenset[str] | None = None
    meter: Meter | None = None
    """None: a single call outside any turn, limited only by rates and policy."""
    client_tools: Catalogue | None = None
    """Client-side tools: decided and recorded here, then handed back for the caller to run."""
    nonces: NonceSlot | None = None
    first: bool = True
    may_finish: bool = False
    step_bytes: int | None = None
    """How many bytes of one output a model is shown; None: the caller is not a model."""
    heard: ProvenanceTracker | None = None
    """User texts and tool results of this turn; None: the origin of arguments is unknown and not checked."""

    def context(
        self,
        proposal: Proposal,
        rates: RateWindows,
        rate_limit: int | None,
        now: float,
        *,
        granted: bool,
        of_room: bool = False,
    ) -> Context:
        """Count this attempt and return everything a decision may read besides the proposal and the policy.

        Args:
            proposal: The call.
            rates: Counts of the last minute.
            rate_limit: Calls per minute, if limited.
            now: The time of a monotonic clock.
            granted: Whether an approval for exactly this call was taken.
            of_room: Whether a plugin (room) provides the tool.
        """
        caller, card = self.session.caller, proposal.card
        rate = 0 if rate_limit is None else rates.take(caller.subject, card.name, rate_limit, now)
        if self.meter is None:
            counters, limits = NOTHING_SPENT if rate == 0 else Counters(rate=rate), UNLIMITED
        else:
            counters, limits = self.meter.begin(now, spends=card.spends, rate=rate)
        return Context(
            roles=caller.roles,
            authenticated=self.authenticated,
            allowed_tools=self.allowed_tools,
            counters=counters,
            limits=limits,
            granted=granted,
            by_model=card.effect == "write" and not of_room and card.origin != "client" and self._is_model(),
            tainted=() if self.heard is None else doubtful(card, proposal.args, self.heard, of_room=of_room),
        )

    def _is_model(self) -> bool:
        """Whether a model proposes the call: in a turn, on behalf of an agent, or as an MCP client."""
        session = self.session
        return session.agent_id is not None or self.nonces is not None or session.caller.channel == MCP_CHANNEL

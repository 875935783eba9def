"""A turn at the gate: the nonce of each step, what the turn may use, what it has spent, and when it is over.

    open ──accepted──► open (next nonce)        rejected ──► closed      STOP_HOOK: tool_call_rejected
      │   ──final────► closed                   held ──────► waiting     STOP_HOOK: approval_required
      └───budget spent► must finish: the next thing is the final answer

No retries by force: a malformed call ends the turn. Whoever wants to go on starts a new one.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from time import monotonic
from typing import Any

from tallystick.gate.admit.names import Catalogue, Entry
from tallystick.gate.admit.nonces import NonceSlot
from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.decide.budgets import Meter
from tallystick.gate.decide.call_context import CallContext
from tallystick.gate.decide.heard import Heard
from tallystick.gate.decide.verdict import Limits
from tallystick.gate.execute.outcome import Outcome
from tallystick.gate.pipeline import Pipeline
from tallystick.gate.session import Caller, Session
from tallystick.turns.portal import Portal
from tallystick.turns.step_schema import step_schema
from tallystick.turns.wording import NO_WORDINGS, Wordings


class Turn:
    """One agent turn. Made by `Gate.turn`; the model sees `nonce` and `schema`, and answers through `submit`."""

    def __init__(  # noqa: PLR0913 - what a turn is made of
        self,
        *,
        pipeline: Pipeline,
        portal: Portal,
        session: Session,
        limits: Limits,
        step_bytes: int,
        ttl_s: float,
        random: Callable[[int], bytes],
        allowed_tools: frozenset[str] | None = None,
        may_finish: bool = False,
        client_tools: Catalogue | None = None,
        parent: Meter | None = None,
        authenticated: bool = True,
        user_texts: Iterable[str] | None = None,
        wordings: Callable[[], Wordings] | None = None,
    ) -> None:
        now = monotonic()
        self._wordings = wordings
        self._pipeline = pipeline
        self._portal = portal
        self._expires_at = now + ttl_s
        self._nonces = NonceSlot(
            session_id=session.session_id, turn_id=session.turn_id or "", agent_id=session.agent_id, random=random,
            clock=monotonic, expires_at=self._expires_at,
        )  # fmt: skip
        self._standing = CallContext(
            session=session,
            authenticated=authenticated,
            allowed_tools=allowed_tools,
            meter=Meter(started=now, limits=limits, parent=parent),
            client_tools=client_tools,
            nonces=self._nonces,
            may_finish=may_finish,
            step_bytes=step_bytes,
            heard=None if user_texts is None else Heard(user_texts),
        )
        self._must_finish = self._waiting = self._over = False
        self._nonces.issue()

    @property
    def session(self) -> Session:
        """Where the turn belongs."""
        return self._standing.session

    @property
    def turn_id(self) -> str:
        """The turn's id, server-made."""
        return self._standing.session.turn_id or ""

    @property
    def nonce(self) -> str | None:
        """The nonce the next answer must carry; None once the turn is over."""
        return self._nonces.current

    @property
    def open(self) -> bool:
        """Whether the turn still takes an answer."""
        return self._nonces.current is not None and not self.expired

    @property
    def expired(self) -> bool:
        """Whether its time is up."""
        return monotonic() >= self._expires_at

    @property
    def waiting(self) -> bool:
        """A call of this turn is held: a person's yes goes on with it."""
        return self._waiting and not self.expired

    @property
    def must_finish(self) -> bool:
        """A budget is spent: only the final answer is left."""
        return self._must_finish

    @property
    def may_finish(self) -> bool:
        """Whether the next answer may be the wish to finish, even on step one."""
        return self._standing.may_finish

    @property
    def schema(self) -> Mapping[str, Any]:
        """JSON Schema of the next answer, for a provider's structured output."""
        standing = self._standing
        entries = () if self._must_finish else tuple(self.tools())
        return step_schema(
            entries,
            self._nonces.current or "",
            first=standing.first and not self._must_finish,
            may_finish=standing.may_finish or self._must_finish,
        )

    def tools(self) -> Iterable[Entry]:
        """The tools this turn may use, its client's own included."""
        allowed = self._standing.allowed_tools
        for entry in self._pipeline.catalogue.entries():
            if allowed is None or entry.card.name in allowed:
                yield entry
        if self._standing.client_tools is not None:
            for entry in self._standing.client_tools.entries():
                if allowed is None or entry.card.name in allowed:
                    yield entry

    @property
    def wordings(self) -> Wordings:
        """How rooms word some of the tools for models."""
        return NO_WORDINGS if self._wordings is None else self._wordings()

    def narrow(self, allowed_tools: frozenset[str]) -> None:
        """Take away all tools but these; what the turn did not have it does not get."""
        had = self._standing.allowed_tools
        self._standing.allowed_tools = allowed_tools if had is None else had & allowed_tools

    async def submit(self, text: str | bytes, *, caller: Caller | None = None) -> Outcome:
        """Hand in what the model said: one strict envelope.

        Args:
            text: As it came.
            caller: The caller with the roles he has now, where they may have changed since the turn began.
        """
        self._standing.session = self._standing.session.within(caller=caller)
        return self._after(await self._pipeline.submit(text, self._standing))

    def submit_sync(self, text: str | bytes) -> Outcome:
        """`submit` for scripts."""
        return self._portal.run(self.submit(text))

    async def propose(self, tool: str, args: Mapping[str, Any]) -> Outcome:
        """Hand in a native tool call: no envelope; the step's nonce is burnt on our side."""
        over = self._nonces.take(self._nonces.current)
        if over is not None:
            return self._after(await self._pipeline.refuse(over, tool, self._standing))
        self._standing.first = False
        plain = dict(args) if isinstance(args, Mapping) else args
        return self._after(await self._pipeline.call(tool, plain, self._standing))

    async def refuse(self, rejection: Rejection, text: str) -> Outcome:
        """Record what never became a proposal, e.g. two native calls at once. The turn is over."""
        self._nonces.burn()
        return self._after(await self._pipeline.refuse(rejection, text, self._standing))

    def hear(self, result: Any, args: Mapping[str, Any] | None = None) -> None:
        """Take note of a result that the model is shown and that no call of this turn gave."""
        if self._standing.heard is not None:
            self._standing.heard.add(result, args)

    def spend(self, *, tokens: int = 0, cost_microusd: int = 0) -> None:
        """Count what the model used."""
        if self._standing.meter is not None:
            self._standing.meter.spend(tokens=tokens, cost_microusd=cost_microusd)

    def close(self) -> None:
        """End the turn: its nonce is worth nothing from now on, and a call still running brings no new one."""
        self._over = True
        self._waiting = False
        self._nonces.burn()

    async def resumed(
        self, run: Callable[[CallContext], Awaitable[Outcome]], *, caller: Caller | None = None
    ) -> Outcome:
        """Go on after a person let the held call through: run it here, then issue a new nonce.

        Args:
            run: Runs the call for a standing.
            caller: The caller with the roles he has now; the turn goes on with these.
        """
        self._standing.session = self._standing.session.within(caller=caller)
        self._standing.first = False
        self._waiting = False
        return self._after(await run(self._standing))

    def _after(self, outcome: Outcome) -> Outcome:
        if outcome.status != "rejected":
            # What a tool says of its failure is as much somebody's text as its result.
            self.hear(outcome.result if outcome.failure is None else {"message": outcome.failure.message}, outcome.args)
        if outcome.must_finish and self._must_finish:
            # It was told to finish and did not: this ends the turn like any other refused call.
            outcome = replace(outcome, must_finish=False)
        if outcome.must_finish:
            self._must_finish = self._standing.may_finish = True
        if outcome.held is not None and not self._over:
            self._waiting = True
            self._nonces.burn()
        elif outcome.final or self.expired or self._over or (outcome.status == "rejected" and not outcome.must_finish):
            self.close()
        else:
            self._nonces.issue()
        return outcome

"""The one path of every tool call.

    text → envelope → registry → schema → policy → (approval) → execute → output check → receipt → outcome

Read `submit` for model text and `call` for calls that are already structured; both go on in `_admit`, `_decide`,
`_execute`. Only this module knows all the steps, and only this module runs a tool. A call that fails before *execute*
runs nothing and still leaves its receipt; a call that may change something leaves a durable `started` entry before it
runs.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any

from tallystick.errors import LedgerError
from tallystick.gate.admit.arguments import admit_call
from tallystick.gate.admit.envelope import open_envelope
from tallystick.gate.admit.names import Catalogue, Entry
from tallystick.gate.admit.nonces import NonceSlot
from tallystick.gate.admit.proposal import Proposal, Rejection
from tallystick.gate.codes import CANCELLED, STALE
from tallystick.gate.decide.approvals import Grant
from tallystick.gate.decide.asking import Desk
from tallystick.gate.decide.budgets import Meter, RateWindows
from tallystick.gate.decide.decide import decide
from tallystick.gate.decide.policy import Policy
from tallystick.gate.decide.rules import is_stale, read_snapshot
from tallystick.gate.decide.verdict import Context, Counters
from tallystick.gate.execute.call import Call
from tallystick.gate.execute.outcome import Failure, Outcome, Ran
from tallystick.gate.execute.runner import Runner
from tallystick.gate.record import entries
from tallystick.gate.record.entries import Case
from tallystick.gate.record.ledger import Ledger
from tallystick.gate.record.recorder import Audience, Observer, Recorder
from tallystick.gate.record.secrets import Redactor, write_only
from tallystick.gate.session import Session
from tallystick.gate.tool import Tool

NOTHING_SPENT = Counters()


@dataclass(slots=True, kw_only=True)
class Standing:
    """Where a caller stands: who it is, what it may use this turn, what it has spent."""

    session: Session
    authenticated: bool = True
    allowed_tools: frozenset[str] | None = None
    meter: Meter | None = None
    """None: a single call outside any turn, bound by rates and policy alone."""
    client_tools: Catalogue | None = None
    """Tools the caller runs itself: decided and recorded here, handed back to run."""
    nonces: NonceSlot | None = None
    first: bool = True
    may_finish: bool = False
    step_bytes: int | None = None
    """How much of one output a model is shown; None: the caller is no model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _OwnRules:
    """What a tool brings of its own."""

    rule: Callable[..., Any] | None = None
    snapshot: Callable[[], Any] | None = None
    secrets: frozenset[str] = frozenset()


_NONE_OF_ITS_OWN = _OwnRules()


class Pipeline:
    """Joins the five steps. Made once per open workspace."""

    def __init__(  # noqa: PLR0913 - the parts of the path, each once
        self,
        *,
        policy: Policy,
        ledger: Ledger,
        redactor: Redactor,
        desk: Desk,
        cot: str = "strip",
        observer: Observer | None = None,
    ) -> None:
        self.catalogue = Catalogue()
        self.policy = policy
        self._ledger = ledger
        self._recorder = Recorder(ledger=ledger, observer=observer)
        self._redactor = redactor
        self._desk = desk
        self._cot = cot
        self._rates = RateWindows()
        self._runner = Runner()
        self._own_rules: dict[str, _OwnRules] = {}

    def add(self, tool: Tool) -> Entry:
        """Take a tool: its card into the catalogue, its handler into the runner that only this object holds."""
        card = tool.card
        entry = self.catalogue.add(card)
        self._runner.add(card, tool.handler)
        secrets = write_only(card.input_schema) | frozenset(card.secrets)
        self._own_rules[card.name] = _OwnRules(rule=tool.rule, snapshot=tool.snapshot, secrets=secrets)
        return entry

    def remove(self, name: str) -> None:
        """Forget a tool."""
        self.catalogue.remove(name)
        self._runner.remove(name)
        self._own_rules.pop(name, None)

    def close(self) -> None:
        """Let go of worker threads."""
        self._runner.close()

    # -- 1 admit -------------------------------------------------------------------------------------------------------

    async def submit(self, text: str | bytes, standing: Standing) -> Outcome:
        """Model text in, outcome out. The step's nonce is burnt whatever comes of it."""
        since = monotonic()
        envelope = open_envelope(text, first=standing.first, may_finish=standing.may_finish, cot=self._cot)
        nonce = None if isinstance(envelope, Rejection) else envelope.nonce
        wrong_nonce = None if standing.nonces is None else standing.nonces.take(nonce)
        if isinstance(envelope, Rejection):
            return await self._refuse(envelope, entries.text_inputs(text), standing, since)
        if wrong_nonce is not None:
            inputs = entries.text_inputs(text)
            return await self._refuse(wrong_nonce, inputs, standing, since, cot_leak=envelope.cot_leak)
        standing.first = False
        if envelope.final:
            return await self._recorder.finished(
                standing.session, policy_digest=self.policy.digest, since=since, cot_leak=envelope.cot_leak
            )
        return await self._admit(envelope.tool, envelope.args, standing, since, cot_leak=envelope.cot_leak)

    async def call(self, tool: object, args: object, standing: Standing, *, dry_run: bool = False) -> Outcome:
        """A structured call in (API, MCP, native tool calling), outcome out."""
        return await self._admit(tool, args, standing, monotonic(), dry_run=dry_run)

    async def resume(self, tool: str, args: object, standing: Standing, grant: Grant, *, dry_run: bool) -> Outcome:
        """A held call that a person let through, as a submission of its own, checked again from the top."""
        return await self._admit(tool, args, standing, monotonic(), dry_run=dry_run, grant=grant)

    async def refuse(self, rejection: Rejection, text: str | bytes, standing: Standing) -> Outcome:
        """Record what a door refused before there was a proposal."""
        return await self._refuse(rejection, entries.text_inputs(text), standing, monotonic())

    async def _admit(  # noqa: PLR0913 - what a submission brings
        self,
        tool: object,
        args: object,
        standing: Standing,
        since: float,
        *,
        dry_run: bool = False,
        cot_leak: bool = False,
        grant: Grant | None = None,
    ) -> Outcome:
        catalogue = self.catalogue
        if standing.client_tools is not None and isinstance(tool, str) and standing.client_tools.get(tool):
            catalogue = standing.client_tools
        proposal = admit_call(catalogue, tool, args, dry_run=dry_run, cot_leak=cot_leak)
        if isinstance(proposal, Rejection):
            if standing.meter is not None:
                standing.meter.begin(monotonic())
            inputs = entries.attempt_inputs(tool, args, self._redactor)
            return await self._refuse(proposal, inputs, standing, since, cot_leak=cot_leak)
        return await self._decide(proposal, standing, since, grant)

    # -- 2 decide ------------------------------------------------------------------------------------------------------

    async def _decide(self, proposal: Proposal, standing: Standing, since: float, grant: Grant | None) -> Outcome:
        own = self._own_rules.get(proposal.card.name, _NONE_OF_ITS_OWN)
        context = self._context(proposal, standing, granted=grant is not None)
        snapshot = read_snapshot(own.snapshot)
        decision = decide(proposal, context, self.policy, rule=own.rule, snapshot=snapshot)
        if decision.verdict == "ask":
            grant = await asyncio.to_thread(self._desk.take, proposal, standing.session, self.policy.digest)
            if grant is not None:
                context = replace(context, granted=True)
                decision = decide(proposal, context, self.policy, rule=own.rule, snapshot=snapshot)
        if decision.args is not None:
            proposal = replace(proposal, args=decision.args, transformed=True)
        writes = own.snapshot is not None and proposal.card.effect != "read" and decision.verdict == "allow"
        if writes and is_stale(decision, read_snapshot(own.snapshot)):
            decision = replace(decision, verdict="deny", fault=STALE, reason="snapshot_stale")
        inputs, redacted = entries.call_inputs(proposal, self._redactor, own.secrets)
        case = Case(
            session=standing.session, proposal=proposal, decision=decision, context=context,
            policy_digest=self.policy.digest, inputs=inputs, redacted=redacted, grant=grant,
        )  # fmt: skip
        if decision.verdict == "allow":
            return await self._execute(case, standing, since)
        return await self._stop(case, standing, since)

    def _context(self, proposal: Proposal, standing: Standing, *, granted: bool) -> Context:
        """All that a decision may read, besides the proposal and the policy."""
        card = proposal.card
        caller = standing.session.caller
        rate_limit = self.policy.rule_for(card).rate
        rate = 0 if rate_limit is None else self._rates.take(caller.subject, card.name, rate_limit, monotonic())
        if standing.meter is None:
            counters = NOTHING_SPENT if rate == 0 else Counters(rate=rate)
            return Context(
                roles=caller.roles, authenticated=standing.authenticated, allowed_tools=standing.allowed_tools,
                counters=counters, granted=granted,
            )  # fmt: skip
        counters, limits = standing.meter.begin(monotonic(), spends=card.spends, rate=rate)
        return Context(
            roles=caller.roles, authenticated=standing.authenticated, allowed_tools=standing.allowed_tools,
            counters=counters, limits=limits, granted=granted,
        )  # fmt: skip

    async def _stop(self, case: Case, standing: Standing, since: float) -> Outcome:
        """Policy did not let it through: denied, or held for a person."""
        spends = case.proposal.card.spends
        if standing.meter is not None and spends is not None:
            standing.meter.give_back(spends)
        hold = None
        if case.decision.verdict == "ask":
            hold = await asyncio.to_thread(
                self._desk.hold, case.proposal, case.decision, case.session, case.policy_digest, case.inputs
            )
        return await self._recorder.stopped(case, _audience(standing), since, hold)

    # -- 3 execute -----------------------------------------------------------------------------------------------------

    async def _execute(self, case: Case, standing: Standing, since: float) -> Outcome:
        card = case.proposal.card
        started_id: str | None = None
        try:
            self._ledger.ready()
            if card.effect != "read" or card.origin != "local":
                # Nothing that may change something runs before this is durable.
                started_id = await self._recorder.started(case)
        except LedgerError as error:
            return self._recorder.unwritten(case.session, error, card)
        call = Call(session=case.session, tool=card.name, dry_run=case.proposal.dry_run, started_id=started_id)
        try:
            ran = Ran() if card.origin == "client" else await self._run(card.name, case.proposal.args, call)
        except asyncio.CancelledError:
            left = Ran(failure=Failure(fault=CANCELLED, message="the caller left before the tool had finished"))
            # The caller is gone; the receipt is not.
            await asyncio.shield(self._conclude(case, left, standing, since, call))
            raise
        return await self._conclude(case, ran, standing, since, call)

    async def _run(self, name: str, args: dict[str, Any], call: Call) -> Ran:
        entry = self.catalogue.get(name)
        if entry is None:
            return Ran(failure=Failure(fault=CANCELLED, message="the tool was unregistered before it could run"))
        return await self._runner.run(entry, args, call)

    # -- 4 record ------------------------------------------------------------------------------------------------------

    async def _conclude(self, case: Case, ran: Ran, standing: Standing, since: float, call: Call) -> Outcome:
        return await self._recorder.ran(
            case,
            ran,
            _audience(standing),
            since,
            started_id=call.started_id,
            file_refs=tuple(call.file_refs),
            handed_back=case.proposal.card.origin == "client",
        )

    async def _refuse(
        self, rejection: Rejection, inputs: bytes, standing: Standing, since: float, *, cot_leak: bool = False
    ) -> Outcome:
        return await self._recorder.refused(
            standing.session, rejection, inputs, policy_digest=self.policy.digest, since=since, cot_leak=cot_leak
        )


_NOBODY_IN_PARTICULAR = Audience()


def _audience(standing: Standing) -> Audience:
    if standing.step_bytes is None and standing.nonces is None:
        return _NOBODY_IN_PARTICULAR
    return Audience(step_bytes=standing.step_bytes, meter=standing.meter, in_turn=standing.nonces is not None)

"""The one path of every tool call.

    text → envelope → registry → schema → policy → (approval) → execute → output check → receipt → outcome

Start with `submit` for model text and `call` for calls that are already structured; both continue in `_admit`,
`_decide` and `_execute`. Only this module knows all the steps, and only this module runs a tool. A call that fails
before *execute* runs nothing but still gets a receipt; a call that may change something gets a durable `started` entry
before it runs.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from dataclasses import replace
from functools import partial
from time import monotonic
from typing import Any, TypeVar

from tallystick.errors import LedgerError, RegistrationError
from tallystick.gate.admit.arguments import admit_call
from tallystick.gate.admit.cleaned_arguments import CALLER_LEFT, cleaned, is_long_to_clean
from tallystick.gate.admit.envelope import open_envelope
from tallystick.gate.admit.names import Catalogue, Entry
from tallystick.gate.admit.nonces import USED
from tallystick.gate.admit.proposal import Proposal, Rejection
from tallystick.gate.codes import CANCELLED, LEDGER, STALE
from tallystick.gate.decide.approval_service import ApprovalService
from tallystick.gate.decide.approvals import Grant, Hold
from tallystick.gate.decide.budgets import RateWindows
from tallystick.gate.decide.call_context import CallContext
from tallystick.gate.decide.decide import decide, judge
from tallystick.gate.decide.own_rules import NO_RULES, OwnRules
from tallystick.gate.decide.policy import Policy
from tallystick.gate.decide.rules import ROOM_RULE_FAILED, read_snapshot
from tallystick.gate.decide.verdict import Decision
from tallystick.gate.execute.call import Call
from tallystick.gate.execute.outcome import Failure, Outcome, Ran
from tallystick.gate.execute.runner import Runner
from tallystick.gate.execute.stepping import shielded
from tallystick.gate.record import entries
from tallystick.gate.record.entries import DecidedCall
from tallystick.gate.record.ledger import Ledger
from tallystick.gate.record.recorder import Observer, Recorder, audience_of
from tallystick.gate.record.secrets import Redactor, secret_names
from tallystick.gate.tool import Tool, check_card

_log = logging.getLogger(__name__)
T = TypeVar("T")
PendingCall = Coroutine[Any, Any, Outcome]
"""A call that is admitted and decided but not run yet; await it for the outcome."""
NOTHING_RAN = Ran()
UNREGISTERED = Ran(failure=Failure(fault=CANCELLED, message="the tool was unregistered before it could run"))


class Pipeline:
    """Joins the five steps; one instance per open workspace."""

    def __init__(
        self, *, policy: Policy, ledger: Ledger, redactor: Redactor, desk: ApprovalService, cot: str = "strip",
        observer: Observer | None = None,
    ) -> None:  # fmt: skip
        self.catalogue = Catalogue()
        self.policy = policy
        self._ledger = ledger
        self._recorder = Recorder(ledger=ledger, observer=observer)
        self._redactor = redactor
        self._desk = desk
        self._cot = cot
        self._rates = RateWindows()
        self._runner = Runner()
        self._own_rules: dict[str, OwnRules] = {}

    def add(self, tool: Tool) -> Entry:
        """Register a tool: its card in the catalogue, its handler in the private runner."""
        card = tool.card
        check_card(card)
        entry = self.catalogue.add(card, tool.clean)
        try:
            self._runner.add(card, tool.handler, tool.codec)
        except RegistrationError:
            self.catalogue.remove(card.name)
            raise
        # A secret argument is also secret under its aliases.
        secrets = secret_names(card)
        secrets |= {key for key, real in entry.keys.items() if real in secrets}
        self._own_rules[card.name] = OwnRules(rule=tool.rule, snapshot=tool.snapshot, secrets=secrets)
        return entry

    def remove(self, name: str) -> None:
        """Unregister a tool."""
        self.catalogue.remove(name)
        self._runner.remove(name)
        self._own_rules.pop(name, None)

    def secret_names(self) -> frozenset[str]:
        """Return the argument names that are secret in at least one tool."""
        return frozenset().union(*(own.secrets for own in self._own_rules.values()))

    def close(self) -> None:
        """Shut down the worker threads."""
        self._runner.close()

    # -- 1 admit -------------------------------------------------------------------------------------------------------

    async def submit(self, text: str | bytes, standing: CallContext) -> Outcome:
        """Process model text and return the outcome; the step's nonce is consumed in every case."""
        since = monotonic()
        envelope = open_envelope(text, first=standing.first, may_finish=standing.may_finish, cot=self._cot)
        again = open_envelope(text, first=True) if isinstance(envelope, Rejection) and not standing.first else envelope
        nonce = None if isinstance(again, Rejection) else again.nonce
        wrong_nonce = None if standing.nonces is None else standing.nonces.take(nonce)
        if isinstance(envelope, Rejection):
            # A resent step-one message has the wrong form for a later step; its actual error is the reused nonce.
            rejection = USED if wrong_nonce is USED else envelope
            return await self._refuse(rejection, self._text(text), standing, since)
        if wrong_nonce is not None:
            inputs = self._text(text) if envelope.final else self._attempt(envelope.tool, envelope.args)
            return await self._refuse(wrong_nonce, inputs, standing, since, cot_leak=envelope.cot_leak)
        standing.first = False
        if envelope.final:
            return await self._recorder.finished(
                standing.session, policy_digest=self.policy.digest, since=since, cot_leak=envelope.cot_leak
            )
        return await self._admit(envelope.tool, envelope.args, standing, since, cot_leak=envelope.cot_leak)

    def call(self, tool: object, args: object, standing: CallContext, *, dry_run: bool = False) -> PendingCall:
        """Process a structured call (API, MCP, native tool calling) and return the outcome."""
        return self._admit(tool, args, standing, monotonic(), dry_run=dry_run)

    async def resume(self, tool: str, args: object, standing: CallContext, grant: Grant, *, dry_run: bool) -> Outcome:
        """Submit a held call after a person approved it; every check runs again."""
        return await self._admit(tool, args, standing, monotonic(), dry_run=dry_run, grant=grant)

    async def refuse(self, rejection: Rejection, text: str | bytes, standing: CallContext) -> Outcome:
        """Record a request that a door rejected before it became a proposal."""
        return await self._refuse(rejection, self._text(text), standing, monotonic())

    def _admit(
        self,
        tool: object,
        args: object,
        standing: CallContext,
        since: float,
        *,
        dry_run: bool = False,
        cot_leak: bool = False,
        grant: Grant | None = None,
    ) -> PendingCall:
        # Not a coroutine, so that concurrent calls are all admitted and decided before the first of them runs.
        catalogue = self.catalogue
        if standing.client_tools is not None and isinstance(tool, str) and standing.client_tools.get(tool):
            catalogue = standing.client_tools
        admit = partial(admit_call, catalogue, tool, args, dry_run=dry_run, cot_leak=cot_leak, session=standing.session)
        if is_long_to_clean(catalogue, tool, args):
            return self._admit_in_thread(admit, standing, since, grant)
        proposal = admit()
        if isinstance(proposal, Rejection):
            return self._refuse(proposal, self._attempt(tool, args), standing, since, cot_leak=cot_leak, step=True)
        return self._decide(proposal, standing, since, grant)

    async def _admit_in_thread(
        self, admit: "partial[Proposal | Rejection]", standing: CallContext, since: float, grant: Grant | None
    ) -> Outcome:
        """Admit in a worker thread: cleaning a megabyte of arguments takes seconds and would block the event loop."""
        proposal, left = await shielded(asyncio.to_thread(admit))
        if not left and not isinstance(proposal, Rejection):
            return await self._decide(proposal, standing, since, grant)
        inputs, _ = await shielded(asyncio.to_thread(self._attempt, *admit.args[1:]))
        why = proposal if isinstance(proposal, Rejection) else CALLER_LEFT
        outcome = await self._refuse(why, inputs, standing, since, cot_leak=admit.keywords["cot_leak"], step=True)
        if left:
            raise asyncio.CancelledError
        return outcome

    # -- 2 decide ------------------------------------------------------------------------------------------------------

    def _decide(self, proposal: Proposal, standing: CallContext, since: float, grant: Grant | None) -> PendingCall:
        card = proposal.card
        # A client-run tool has no rules but may have secrets; a tool unregistered meanwhile has neither.
        own = self._own_rules.get(card.name) if card.origin != "client" else OwnRules(secrets=secret_names(card))
        own, rule = own or NO_RULES, self.policy.rule_for(card)
        context = standing.context(proposal, self._rates, rule.rate, since, granted=grant is not None)
        snapshot = None if own.snapshot is None else read_snapshot(own.snapshot)
        decision = judge(proposal, context, rule, rule=own.rule, snapshot=snapshot)
        inputs, redacted = entries.call_inputs(proposal, self._redactor, own.secrets)
        case = DecidedCall(
            session=standing.session, proposal=proposal, decision=decision, context=context,
            policy_digest=self.policy.digest, inputs=inputs, redacted=redacted, grant=grant,
        )  # fmt: skip
        return self._apply(case, standing, since, own, snapshot)

    async def _apply(
        self, case: DecidedCall, standing: CallContext, since: float, own: OwnRules, snapshot: Any
    ) -> Outcome:
        """Act on a decision: use an approval, apply changed arguments, deny on a stale snapshot, then run or stop."""
        decision, proposal = case.decision, case.proposal
        left: asyncio.CancelledError | None = None
        if decision.verdict == "ask":
            asked = self._ask_approvals(self._desk.take, proposal, case.session, case.policy_digest)
            taken, left = await shielded(asked)
            if isinstance(taken, Rejection):
                return await self._refuse(taken, self._attempt(proposal.tool, proposal.args), standing, since)
            if taken is not None:
                case = replace(case, grant=taken, context=replace(case.context, granted=True))
                decision = decide(proposal, case.context, self.policy, rule=own.rule, snapshot=snapshot)
        if decision.args is not None:
            decision, proposal = self._changed(decision, proposal)
        if own.stale(proposal.card, decision):
            decision = replace(decision, verdict="deny", fault=STALE, reason="snapshot_stale")
        case = self._decided(case, decision, proposal, own)
        if decision.verdict == "allow":
            return await self._execute(case, standing, since, left=left)
        outcome, left_now = await shielded(self._stop(case, standing, since))
        if (cancelled := left or left_now) is not None:
            raise cancelled
        return outcome

    def _changed(self, decision: Decision, proposal: Proposal) -> tuple[Decision, Proposal]:
        """Apply the arguments that a room's rule changed; deny the call if they do not fit the tool's schema."""
        if (entry := self.catalogue.get(proposal.card.name)) is None or not entry.input.accepts(decision.args):
            return replace(ROOM_RULE_FAILED, snapshot_digest=decision.snapshot_digest), proposal
        return decision, replace(proposal, args=decision.args or {}, transformed=True)

    def _decided(self, case: DecidedCall, decision: Decision, proposal: Proposal, own: OwnRules) -> DecidedCall:
        """Return the case to record, with the final decision and the arguments that a room's rule may have changed."""
        if proposal is case.proposal:
            return case if decision is case.decision else replace(case, decision=decision)
        inputs, redacted = entries.call_inputs(proposal, self._redactor, own.secrets)
        return replace(case, decision=decision, proposal=proposal, inputs=inputs, redacted=redacted)

    async def _ask_approvals(self, ask: Callable[..., T], *question: Any) -> T | Rejection:
        """Query the approval store in a thread; fail closed if it is unavailable."""
        try:
            return await asyncio.to_thread(ask, *question)
        except Exception:  # noqa: BLE001 - a database may raise any exception
            _log.exception("the approvals cannot be reached")
            return Rejection(fault=LEDGER, reason="approvals_unavailable")

    async def _stop(self, case: DecidedCall, standing: CallContext, since: float) -> Outcome:
        """Record a call that policy denied or holds for approval."""
        if standing.meter is not None and case.proposal.card.spends is not None:
            standing.meter.give_back(case.proposal.card.spends)
        hold: Hold | Rejection | None = None
        if case.decision.verdict == "ask":
            hold = await self._ask_approvals(
                self._desk.request, case.proposal, case.decision, case.session, case.policy_digest, case.inputs
            )
        if isinstance(hold, Rejection):
            return await self._refuse(hold, case.inputs, standing, since)
        outcome = await self._recorder.stopped(case, audience_of(standing), since, hold)
        if hold is None or outcome.held is None:
            return outcome
        # Record before storing: a stored approval request is valid only if it matches its record in the ledger.
        stored = await self._ask_approvals(self._desk.store, hold)
        if isinstance(stored, Rejection):
            return replace(outcome, rejection=stored, held=None)
        same = stored.approval_id == hold.approval_id
        return outcome if same else await self._recorder.held(case, stored, outcome)

    # -- 3 execute -----------------------------------------------------------------------------------------------------

    async def _execute(
        self, case: DecidedCall, standing: CallContext, since: float, *, left: asyncio.CancelledError | None = None
    ) -> Outcome:
        proposal = case.proposal
        card, started_id = proposal.card, None
        try:
            if left is None and (card.effect != "read" or card.origin != "local"):
                # A call that may change something must not run before its `started` entry is durable.
                started_id, left = await shielded(self._recorder.started(case))
            else:
                self._ledger.ready()
        except LedgerError as error:
            return self._recorder.unwritten(case.session, error, card)
        call = Call(session=case.session, tool=card.name, dry_run=proposal.dry_run, started_id=started_id)
        entry, ran = self.catalogue.get(card.name), NOTHING_RAN
        if left is None and card.origin != "client":
            try:
                # The tool may have been unregistered while the `started` entry was being written.
                here = entry is not None and entry.card is card
                ran = await self._runner.run(entry, proposal.args, call) if entry is not None and here else UNREGISTERED
            except asyncio.CancelledError as cancelled:
                left = cancelled
        if left is not None:
            # The caller cancelled; the receipt must still be written.
            ran = Ran(failure=Failure(fault=CANCELLED, message="the caller left before the tool had finished"))
            await shielded(self._recorder.ran(case, ran, standing, since, call))
            raise left
        return await self._recorder.ran(case, ran, standing, since, call)

    # -- 4 record ------------------------------------------------------------------------------------------------------

    def _text(self, text: str | bytes) -> bytes:
        return entries.text_inputs(text, self._redactor, self.secret_names())

    def _attempt(self, tool: object, args: object) -> bytes:
        kept = cleaned(self.catalogue.meant(tool), args)
        return entries.attempt_inputs(tool, kept, self._redactor, self.secret_names())

    def _refuse(
        self, rejection: Rejection, inputs: bytes, standing: CallContext, since: float, *, cot_leak: bool = False,
        step: bool = False,
    ) -> PendingCall:  # fmt: skip
        if step and standing.meter is not None:
            standing.meter.begin(monotonic())
        return self._recorder.refused(
            standing.session, rejection, inputs, policy_digest=self.policy.digest, since=since, cot_leak=cot_leak
        )

"""The single path that every tool call takes.

    text → envelope → registry → schema → policy → (approval) → execute → output check → receipt → outcome

Start with `submit` for model text and `call` for calls that are already structured; both continue in `_admit`,
`_decide` and `_execute`. Only this module knows all the steps, and only this module runs a tool. A call that fails
before *execute* runs nothing but still gets a receipt; a call that may change something gets a durable `started` entry
before it runs.
"""

import asyncio
import logging
from collections import defaultdict
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
from tallystick.gate.decide.policy import Policy
from tallystick.gate.decide.rules import (
    NO_ROOM_CHECKS,
    ROOM_RULE_FAILED,
    RoomChecks,
    is_stale,
    read_snapshot,
    rule_failed,
)
from tallystick.gate.decide.verdict import Decision
from tallystick.gate.execute.call import Call
from tallystick.gate.execute.cancellation import shielded
from tallystick.gate.execute.outcome import Failure, Outcome, Ran
from tallystick.gate.execute.runner import Runner
from tallystick.gate.execute.serial_lock import SerialLock, lock_here, released_after
from tallystick.gate.record import entries
from tallystick.gate.record.entries import DecidedCall
from tallystick.gate.record.ledger import Ledger
from tallystick.gate.record.recorder import Observer, Recorder, audience_of
from tallystick.gate.record.secrets import Redactor, secret_names
from tallystick.gate.tool import Tool, check_card

_log = logging.getLogger(__name__)
T = TypeVar("T")
PendingCall = Coroutine[Any, Any, Outcome]
"""The rest of a call's processing; await it for the outcome.

The call has already been rejected or decided, unless its arguments are long and must first be cleaned in a thread.
"""
NOTHING_RAN = Ran()
STALE_WRITE = Decision(
    verdict="deny",
    fault=STALE,
    reason="snapshot_stale",
    hint="What the rule had read changed before the tool started. Call again.",
)
UNREGISTERED = Ran(failure=Failure(fault=CANCELLED, message="the tool was unregistered before it could run"))


class Pipeline:
    """Runs the five steps (admit, decide, execute, record, reply); one instance per open workspace."""

    def __init__(
        self,
        *,
        policy: Policy,
        ledger: Ledger,
        redactor: Redactor,
        approvals: ApprovalService,
        cot: str = "strip",
        observer: Observer | None = None,
        rates: RateWindows | None = None,
    ) -> None:
        self.catalogue = Catalogue()
        self.policy = policy
        self._ledger = ledger
        self._recorder = Recorder(ledger=ledger, observer=observer)
        self._redactor = redactor
        self._approvals = approvals
        self._cot = cot
        self._rates = rates or RateWindows()
        self._runner = Runner()
        self._room_checks: dict[str, RoomChecks] = {}
        self._locks: defaultdict[str | None, SerialLock] = defaultdict(SerialLock)
        """One for each room; the tools of the user's program share one."""

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
        self._room_checks[card.name] = RoomChecks(
            rule=tool.rule, snapshot=tool.snapshot, room=tool.room, secrets=secrets
        )
        return entry

    def remove(self, name: str) -> None:
        """Unregister a tool."""
        self.catalogue.remove(name)
        self._runner.remove(name)
        self._room_checks.pop(name, None)

    def secret_names(self) -> frozenset[str]:
        """Return the argument names that are secret in at least one tool."""
        return frozenset().union(*(room.secrets for room in self._room_checks.values()))

    def close(self) -> None:
        """Shut down the worker threads."""
        self._runner.close()

    # -- 1 admit -------------------------------------------------------------------------------------------------------

    async def submit(self, text: str | bytes, caller: CallContext) -> Outcome:
        """Process model text and return the outcome; the step's nonce is consumed in every case."""
        since = monotonic()
        envelope = open_envelope(text, first=caller.first, may_finish=caller.may_finish, cot=self._cot)
        again = open_envelope(text, first=True) if isinstance(envelope, Rejection) and not caller.first else envelope
        nonce = None if isinstance(again, Rejection) else again.nonce
        wrong_nonce = None if caller.nonces is None else caller.nonces.take(nonce)
        if isinstance(envelope, Rejection):
            # A resent step-one message has the wrong form for a later step; its actual error is the reused nonce.
            rejection = USED if wrong_nonce is USED else envelope
            return await self._refuse(rejection, self._text(text), caller, since)
        if wrong_nonce is not None:
            inputs = self._text(text) if envelope.final else self._attempt(envelope.tool, envelope.args)
            return await self._refuse(wrong_nonce, inputs, caller, since, cot_leak=envelope.cot_leak)
        caller.first = False
        if envelope.final:
            return await self._recorder.finished(
                caller.session, policy_digest=self.policy.digest, since=since, cot_leak=envelope.cot_leak
            )
        return await self._admit(envelope.tool, envelope.args, caller, since, cot_leak=envelope.cot_leak)

    def call(self, tool: object, args: object, caller: CallContext, *, dry_run: bool = False) -> PendingCall:
        """Process a structured call (API, MCP, native tool calling) and return the outcome."""
        return self._admit(tool, args, caller, monotonic(), dry_run=dry_run)

    async def resume(self, tool: str, args: object, caller: CallContext, grant: Grant, *, dry_run: bool) -> Outcome:
        """Submit a held call after a person approved it; every check runs again."""
        return await self._admit(tool, args, caller, monotonic(), dry_run=dry_run, grant=grant)

    async def refuse(self, rejection: Rejection, text: str | bytes, caller: CallContext) -> Outcome:
        """Record a request that an entry point (HTTP, MCP, command line) rejected before it became a proposal."""
        return await self._refuse(rejection, self._text(text), caller, monotonic())

    def _admit(
        self,
        tool: object,
        args: object,
        caller: CallContext,
        since: float,
        *,
        dry_run: bool = False,
        cot_leak: bool = False,
        grant: Grant | None = None,
    ) -> PendingCall:
        # Not a coroutine, so that concurrent calls are all admitted and decided before the first of them runs.
        catalogue = self.catalogue
        if caller.client_tools is not None and isinstance(tool, str) and caller.client_tools.get(tool):
            catalogue = caller.client_tools
        admit = partial(admit_call, catalogue, tool, args, dry_run=dry_run, cot_leak=cot_leak, session=caller.session)
        if is_long_to_clean(catalogue, tool, args):
            return self._admit_in_thread(admit, caller, since, grant)
        proposal = admit()
        if isinstance(proposal, Rejection):
            return self._refuse(proposal, self._attempt(tool, args), caller, since, cot_leak=cot_leak, step=True)
        return self._decide(proposal, caller, since, grant)

    async def _admit_in_thread(
        self, admit: "partial[Proposal | Rejection]", caller: CallContext, since: float, grant: Grant | None
    ) -> Outcome:
        """Admit in a worker thread: cleaning a megabyte of arguments takes seconds and would block the event loop."""
        proposal, left = await shielded(asyncio.to_thread(admit))
        if not left and not isinstance(proposal, Rejection):
            return await self._decide(proposal, caller, since, grant)
        inputs, _ = await shielded(asyncio.to_thread(self._attempt, *admit.args[1:]))
        why = proposal if isinstance(proposal, Rejection) else CALLER_LEFT
        outcome = await self._refuse(why, inputs, caller, since, cot_leak=admit.keywords["cot_leak"], step=True)
        if left:
            raise asyncio.CancelledError
        return outcome

    # -- 2 decide ------------------------------------------------------------------------------------------------------

    def _decide(self, proposal: Proposal, caller: CallContext, since: float, grant: Grant | None) -> PendingCall:
        card = proposal.card
        # A client-run tool has no rules but may have secrets; a tool unregistered meanwhile has neither.
        room = self._room_checks.get(card.name) if card.origin != "client" else RoomChecks(secrets=secret_names(card))
        room, rule = room or NO_ROOM_CHECKS, self.policy.rule_for(card)
        context = caller.context(
            proposal, self._rates, rule.rate, since, granted=grant is not None, of_room=room.room is not None
        )
        on_state = room.reads_state
        decision = judge(proposal, context, rule, rule=None if on_state else room.rule, snapshot=room.snapshot)
        inputs, redacted = entries.call_inputs(proposal, self._redactor, room.secrets)
        case = DecidedCall(
            session=caller.session,
            proposal=proposal,
            decision=decision,
            context=context,
            policy_digest=self.policy.digest,
            inputs=inputs,
            redacted=redacted,
            grant=grant,
        )
        if on_state and decision.verdict != "deny":
            return self._decide_on_state(case, caller, since, room)
        return self._apply(case, caller, since, room, room.snapshot)

    async def _decide_on_state(self, case: DecidedCall, caller: CallContext, since: float, room: RoomChecks) -> Outcome:
        """Let a room's rule decide on data that changes; no other write under a rule of the room runs meanwhile."""
        if case.proposal.card.effect == "read":
            return await self._apply_to_state(case, caller, since, room)
        lock = lock_here(self._locks[room.room])
        try:
            await lock.acquire()
        except asyncio.CancelledError:
            await shielded(self._refuse(CALLER_LEFT, case.inputs, caller, since))
            raise
        with released_after(lock):
            return await self._apply_to_state(case, caller, since, room)

    async def _apply_to_state(self, case: DecidedCall, caller: CallContext, since: float, room: RoomChecks) -> Outcome:
        if room.rule is None:
            return await self._apply(case, caller, since, room, None)
        # A snapshot of data that changes comes from a database or a file: read it in a thread.
        snapshot, left = await shielded(asyncio.to_thread(read_snapshot, room.snapshot))
        decision = decide(case.proposal, case.context, self.policy, rule=room.rule, snapshot=snapshot)
        return await self._apply(replace(case, decision=decision), caller, since, room, snapshot, left=left)

    async def _apply(
        self,
        case: DecidedCall,
        caller: CallContext,
        since: float,
        room: RoomChecks,
        snapshot: Any,
        *,
        left: asyncio.CancelledError | None = None,
    ) -> Outcome:
        """Act on a decision: apply changed arguments, use an approval, deny on a stale snapshot, then run or stop."""
        case = self._with_changed_args(case, room)
        if case.decision.verdict == "ask":
            asked = self._ask_approvals(self._approvals.take, case.proposal, case.session, case.policy_digest)
            taken, left_now = await shielded(asked)
            left = left or left_now
            if isinstance(taken, Rejection):
                inputs = self._attempt(case.proposal.tool, case.proposal.args)
                return await self._refuse(taken, inputs, caller, since)
            if taken is not None:
                case = self._granted(case, taken, room, snapshot)
        if case.decision.verdict == "allow" and room.checks_again(case.proposal.card.effect):
            now, left_now = await shielded(asyncio.to_thread(read_snapshot, room.snapshot))
            left = left or left_now
            if is_stale(case.decision, now):
                case = replace(case, decision=replace(STALE_WRITE, snapshot_digest=case.decision.snapshot_digest))
        if case.decision.verdict == "allow":
            return await self._execute(case, caller, since, left=left)
        outcome, left_now = await shielded(self._stop(case, caller, since))
        if (cancelled := left or left_now) is not None:
            raise cancelled
        return outcome

    def _granted(self, case: DecidedCall, grant: Grant, room: RoomChecks, snapshot: Any) -> DecidedCall:
        """Decide a call again, now that a person has approved it."""
        context = replace(case.context, granted=True)
        decision = decide(case.proposal, context, self.policy, rule=room.rule, snapshot=snapshot)
        return self._with_changed_args(replace(case, grant=grant, context=context, decision=decision), room)

    def _with_changed_args(self, case: DecidedCall, room: RoomChecks) -> DecidedCall:
        """Apply the arguments that the rule of a plugin (room) changed; deny the call if they do not fit the schema."""
        decision, entry = case.decision, self.catalogue.get(case.proposal.card.name)
        if decision.args is None:
            return case
        if entry is None or not entry.input.accepts(decision.args):
            failed = rule_failed("its arguments do not fit the tool's schema", decision.snapshot_digest)
            return replace(case, decision=failed)
        proposal = replace(case.proposal, args=decision.args, transformed=True)
        inputs, redacted = entries.call_inputs(proposal, self._redactor, room.secrets)
        return replace(case, proposal=proposal, inputs=inputs, redacted=redacted)

    async def _ask_approvals(self, ask: Callable[..., T], *question: Any) -> T | Rejection:
        """Query the approval store in a thread; fail closed if it is unavailable."""
        try:
            return await asyncio.to_thread(ask, *question)
        except Exception:  # noqa: BLE001 - a database may raise any exception
            _log.exception("the approval store is unavailable")
            return Rejection(fault=LEDGER, reason="approvals_unavailable")

    async def _stop(self, case: DecidedCall, caller: CallContext, since: float) -> Outcome:
        """Record a call that policy denied or holds for approval."""
        if caller.meter is not None and case.proposal.card.spends is not None:
            caller.meter.give_back(case.proposal.card.spends)
        hold: Hold | Rejection | None = None
        if case.decision.verdict == "ask":
            hold = await self._ask_approvals(
                self._approvals.request, case.proposal, case.decision, case.session, case.policy_digest, case.inputs
            )
        if isinstance(hold, Rejection):
            return await self._refuse(hold, case.inputs, caller, since)
        if case.decision.reason == ROOM_RULE_FAILED.reason:
            source = self._room_checks.get(case.proposal.card.name, NO_ROOM_CHECKS).source
            case = replace(case, decision=replace(case.decision, hint=f"{source}: {case.decision.hint}"))
        outcome = await self._recorder.stopped(case, audience_of(caller), since, hold)
        if hold is None or outcome.held is None:
            return outcome
        # Record before storing: a stored approval request is valid only if it matches its record in the ledger.
        stored = await self._ask_approvals(self._approvals.store, hold)
        if isinstance(stored, Rejection):
            return replace(outcome, rejection=stored, held=None)
        same = stored.approval_id == hold.approval_id
        return outcome if same else await self._recorder.held(case, stored, outcome)

    # -- 3 execute -----------------------------------------------------------------------------------------------------

    async def _execute(
        self, case: DecidedCall, caller: CallContext, since: float, *, left: asyncio.CancelledError | None = None
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
            ran = Ran(
                failure=Failure(fault=CANCELLED, message="the caller cancelled the call before the tool had finished")
            )
            await shielded(self._recorder.ran(case, ran, caller, since, call))
            raise left
        return await self._recorder.ran(case, ran, caller, since, call)

    # -- 4 record ------------------------------------------------------------------------------------------------------

    def _text(self, text: str | bytes) -> bytes:
        return entries.text_inputs(text, self._redactor, self.secret_names())

    def _attempt(self, tool: object, args: object) -> bytes:
        kept = cleaned(self.catalogue.meant(tool), args)
        return entries.attempt_inputs(tool, kept, self._redactor, self.secret_names())

    def _refuse(
        self,
        rejection: Rejection,
        inputs: bytes,
        caller: CallContext,
        since: float,
        *,
        cot_leak: bool = False,
        step: bool = False,
    ) -> PendingCall:
        if step and caller.meter is not None:
            caller.meter.begin(monotonic())
        return self._recorder.refused(
            caller.session, rejection, inputs, policy_digest=self.policy.digest, since=since, cot_leak=cot_leak
        )

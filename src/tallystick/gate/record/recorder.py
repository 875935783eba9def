"""Record each event of a call as a receipt, and return the outcome for the caller.

The package docstring, `gate/record/__init__.py`, lists the eight steps of a record. This module begins step 1 (the
draft) and performs step 7 (the outcome with the receipt id) and step 8 (metrics and traces). If a step in between
fails, no result is returned, and the outcome reports the failure.
"""

import logging
from dataclasses import replace
from time import monotonic
from typing import Any, Protocol

import orjson

from tallystick.errors import LedgerError
from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.codes import BUDGET, DENIED, LEDGER, OUTPUT_BUDGET
from tallystick.gate.decide.approvals import Hold
from tallystick.gate.decide.budgets import Meter
from tallystick.gate.decide.call_context import CallContext
from tallystick.gate.execute.call import Call
from tallystick.gate.execute.outcome import Failure, Held, Outcome, Output, Ran, Shown
from tallystick.gate.execute.output import show
from tallystick.gate.record import entries
from tallystick.gate.record.entries import DecidedCall, is_plain
from tallystick.gate.record.ledger import Ledger
from tallystick.gate.record.receipt import Draft
from tallystick.gate.record.secrets import mask
from tallystick.gate.session import Session
from tallystick.gate.tool import Card
from tallystick.records import record

_log = logging.getLogger("tallystick.record")

_FORCES_FINAL = frozenset({BUDGET.name, OUTPUT_BUDGET.name})
"""Faults that do not end the turn at once: the model may still give its final answer, but call no more tools."""


class Observer(Protocol):
    """Receives outcomes, e.g. for telemetry; it can neither change nor stop a call."""

    def called(
        self, *, session: Session, outcome: Outcome, card: Card | None, cot_leak: bool, duration_us: int
    ) -> None:
        """Report the outcome of one submission."""
        ...

    def replied(self, *, session: Session, bucket: str | None) -> None:
        """Report one reply check."""
        ...

    def required(self, *, by: str) -> None:
        """Report a turn that had to begin with a tool call.

        `by` says what required it: `flag` (an option of the turn) or `heuristic` (a phrase in the user's request).
        """
        ...

    def measured(self, *, what: str, value: float, of: str = "") -> None:
        """Report a metric of a plugin (room): `what` is its name, `of` its label, which never holds user text."""
        ...


@record
class Audience:
    """The receiver of the output; a model is shown no more than its budgets allow."""

    step_bytes: int | None = None
    """Maximum bytes shown per step; None: not a model, or a model without limits."""
    meter: Meter | None = None
    in_turn: bool = False

    def shown(self, ran: Ran) -> Shown | None:
        """Return the part of an output to show; None: no limit applies, or there is no output."""
        if ran.output is None or self.step_bytes is None:
            return None
        left = None if self.meter is None else self.meter.bytes_left()
        return show(ran.output, step_bytes=self.step_bytes, left_bytes=self.step_bytes if left is None else left)

    def saw(self, shown: Shown | None) -> None:
        """Charge the shown bytes to the budget."""
        if shown is not None and self.meter is not None:
            self.meter.spend(size=len(shown.text.encode()))


_NO_LIMITS = Audience()


def audience_of(caller: CallContext) -> Audience:
    """Return the audience of a call from its context."""
    if caller.step_bytes is None and caller.nonces is None:
        return _NO_LIMITS
    return Audience(step_bytes=caller.step_bytes, meter=caller.meter, in_turn=caller.nonces is not None)


class Recorder:
    """Records the outcome of each submission."""

    def __init__(self, *, ledger: Ledger, observer: Observer | None) -> None:
        self._ledger = ledger
        self.observer = observer

    async def started(self, case: DecidedCall) -> str:
        """Record durably that a call is about to run; if this raises LedgerError, the call must not run."""
        if case.grant is None:
            begun = await self._ledger.begin(case.session, case.proposal.card, case.policy_digest, case.inputs)
            if begun is not None:
                return begun
        return (await self._ledger.record(entries.started(case))).receipt_id

    async def ran(self, case: DecidedCall, ran: Ran, caller: CallContext, since: float, call: Call) -> Outcome:
        """Record a call that policy allowed."""
        card, output = case.proposal.card, ran.output
        # 1 draft
        failure = None if ran.failure is None else _clean(ran.failure)
        audience = None if caller.step_bytes is None else audience_of(caller)
        shown = None if audience is None else audience.shown(ran)
        duration_us = int((monotonic() - since) * 1_000_000)
        try:
            receipt_id = await self._store(case, ran, failure, shown, duration_us, call)
        except LedgerError as error:
            return self.unwritten(case.session, error, card)
        # 7 return the outcome
        if audience is not None:
            audience.saw(shown)
        outcome = Outcome(
            status="transformed" if case.proposal.transformed else "accepted",
            receipt_id=receipt_id,
            tool=card.name,
            args=case.proposal.args,
            failure=failure,
            result=None if output is None else output.value,
            shown=shown,
            handed_back=card.origin == "client" and failure is None,
        )
        # 8 observe
        return self._observed(case.session, outcome, card, duration_us, cot_leak=case.proposal.cot_leak)

    async def _store(
        self,
        case: DecidedCall,
        ran: Ran,
        failure: Failure | None,
        shown: Shown | None,
        duration_us: int,
        call: Call,
    ) -> str:
        """Take the outcome of a call through steps 1 to 6 and return its receipt id; `LedgerError`: not stored."""
        ledger, output = self._ledger, ran.output
        if output is not None and shown is None and not call.file_refs and is_plain(case):
            # 2 prepare: a plain record needs no draft
            factory = ledger.plain(
                case.session,
                case.proposal.card,
                case.policy_digest,
                case.inputs,
                output.data,
                duration_us,
                call.started_id,
                case.decision.snapshot_digest,
            )
            if factory is not None:
                return await ledger.store(factory, call.started_id)
        return (await ledger.record(_draft(case, ran, failure, shown, duration_us, call))).receipt_id

    async def stopped(self, case: DecidedCall, audience: Audience, since: float, hold: Hold | None = None) -> Outcome:
        """Record a call that policy denied or held for approval."""
        decision, card = case.decision, case.proposal.card
        rejection = Rejection(
            fault=decision.fault or DENIED,
            reason=decision.reason,
            pointer=decision.pointer,
            proposed_tool=card.name,
            hint=decision.hint,
        )
        duration_us = _since(since)
        try:
            receipt = await self._ledger.record(entries.outcome(case, duration_us=duration_us, rejection=rejection))
            if hold is not None:
                await self._ledger.record(entries.held(case, hold, receipt.receipt_id))
        except LedgerError as error:
            return self.unwritten(case.session, error, card)
        outcome = Outcome(
            status="rejected",
            receipt_id=receipt.receipt_id,
            tool=card.name,
            args=case.proposal.args,
            rejection=rejection,
            held=None if hold is None else Held(approval_id=hold.approval_id, expires_at=hold.expires_at),
            must_finish=audience.in_turn and rejection.fault.name in _FORCES_FINAL,
        )
        return self._observed(case.session, outcome, card, duration_us, cot_leak=case.proposal.cot_leak)

    async def held(self, case: DecidedCall, hold: Hold, outcome: Outcome) -> Outcome:
        """Record that a call is held and shares the approval request of an identical, concurrent call."""
        try:
            await self._ledger.record(entries.held(case, hold, outcome.receipt_id))
        except LedgerError as error:
            return self.unwritten(case.session, error, case.proposal.card)
        return replace(outcome, held=Held(approval_id=hold.approval_id, expires_at=hold.expires_at))

    async def refused(
        self,
        session: Session,
        rejection: Rejection,
        inputs: bytes,
        *,
        policy_digest: str,
        since: float,
        cot_leak: bool = False,
    ) -> Outcome:
        """Record a submission that was not a valid proposal."""
        duration_us = _since(since)
        draft = entries.undecided(
            session, rejection, inputs, policy_digest=policy_digest, duration_us=duration_us, cot_leak=cot_leak
        )
        outcome = Outcome(status="rejected", receipt_id="", tool=rejection.proposed_tool, rejection=rejection)
        return await self._only(draft, outcome, cot_leak=cot_leak)

    async def finished(self, session: Session, *, policy_digest: str, since: float, cot_leak: bool) -> Outcome:
        """Record the model's `final` action."""
        draft = entries.finished(session, policy_digest=policy_digest, duration_us=_since(since), cot_leak=cot_leak)
        return await self._only(draft, Outcome(status="accepted", receipt_id="", final=True), cot_leak=cot_leak)

    def unwritten(self, session: Session, error: LedgerError, card: Card | None) -> Outcome:
        """Return the outcome when the ledger cannot write: no tool runs, and no result of one that ran is shown."""
        _log.error("ledger: %s (%s)", error, error.code)
        failure = Failure(fault=LEDGER, message=f"the ledger cannot write: {error}", hint=error.code)
        outcome = Outcome(status="rejected", receipt_id="", tool=None if card is None else card.name, failure=failure)
        return self._observed(session, outcome, card, 0, cot_leak=False)

    async def _only(self, draft: Draft, outcome: Outcome, *, cot_leak: bool) -> Outcome:
        try:
            receipt = await self._ledger.record(draft)
        except LedgerError as error:
            return self.unwritten(draft.session, error, None)
        outcome = replace(outcome, receipt_id=receipt.receipt_id)
        return self._observed(draft.session, outcome, None, draft.duration_us, cot_leak=cot_leak)

    def _observed(
        self, session: Session, outcome: Outcome, card: Card | None, duration_us: int, *, cot_leak: bool
    ) -> Outcome:
        if self.observer is not None:
            try:
                self.observer.called(
                    session=session, outcome=outcome, card=card, cot_leak=cot_leak, duration_us=duration_us
                )
            except Exception:  # noqa: BLE001 - observing must never stop a call
                _log.exception("an observer failed; the call is not affected")
        return outcome


def _draft(
    case: DecidedCall, ran: Ran, failure: Failure | None, shown: Shown | None, duration_us: int, call: Call
) -> Draft:
    return entries.outcome(
        case,
        duration_us=duration_us,
        failure=failure,
        outputs=None if ran.output is None else ran.output.data,
        excerpt_bytes=_bytes_seen(shown, ran.output),
        file_refs=call.sound_file_refs() if call.file_refs else (),
        links=None if call.started_id is None else {"started": call.started_id},
        audit=_audit(case, ran),
    )


def _bytes_seen(shown: Shown | None, output: Output | None) -> int | None:
    """Return how many recorded bytes the model saw, None if all; text is recorded with quotes and shown without."""
    if shown is None or output is None or not shown.truncated:
        return None
    return len(orjson.dumps(shown.text)) - 1 if isinstance(output.value, str) else len(shown.text.encode())


def _clean(failure: Failure) -> Failure:
    """Mask tokens in a failure, since even a tool's deliberate message may contain one."""
    return replace(failure, message=mask(failure.message), hint=None if failure.hint is None else mask(failure.hint))


def _audit(case: DecidedCall, ran: Ran) -> dict[str, Any] | None:
    card = case.proposal.card
    if not card.audited or ran.output is None:
        return None
    return entries.audit_record(card, case.session.caller, case.proposal.args, ran.output.value)


def _since(started: float) -> int:
    return int((monotonic() - started) * 1_000_000)

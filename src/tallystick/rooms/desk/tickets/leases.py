"""Leases: workers hold a ticket for a while, fill it or give it back; the built-in worker begins it directly.

A lease is a promise with an end, by the database's clock. A fill must present the proof of its lease first;
then lease, warnings, verdict and derivation are one transaction. What is tried without proof changes nothing, and
stands in the ledger like everything else that is tried.
"""

from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from typing import Any

import orjson

from tallystick.agents.problem import Problem
from tallystick.gate.session import LOCAL_OWNER, Caller
from tallystick.records import record
from tallystick.rooms.desk.model import Judgement, Kind, Ticket
from tallystick.rooms.desk.options import Options
from tallystick.rooms.desk.ports import ServicePorts
from tallystick.rooms.desk.store import Store, Transaction
from tallystick.rooms.desk.tickets import proof as proofs
from tallystick.rooms.desk.tickets.fill import FillResult, TicketFiller
from tallystick.rooms.desk.tickets.proof import Proof

MOST = 50
"""Tickets that one worker is given at once."""
SWEPT = 100
"""Ended leases that are looked after in passing."""
UNKNOWN = Problem(code="ticket_unknown", message="There is no such ticket. GET /v1/tickets lists them.")
NO_KIND = Problem(code="kind_unknown", message="Nobody works on tickets of this kind. Set metadata.kind.")
NOT_YET = Problem(code="not_yet", message="It failed a moment ago and waits before it is tried again.")
TAKEN = Problem(code="already_leased", message="Somebody holds this ticket. Wait until the lease ends.")
OUTPUTS = Problem(code="outputs_invalid", message="'outputs' is a JSON object.", pointer="/outputs")


@record
class LeasedTicket:
    """A ticket with the lease that a worker holds on it."""

    ticket: Ticket
    token: str
    lease_ms: int
    """How long, from now."""


class Leases:
    """Grants and ends leases on tickets."""

    def __init__(self, store: Store, options: Options, around: ServicePorts) -> None:
        self._store = store
        self._options = options
        self._around = around
        self._filling = TicketFiller(options, around)

    # -- taking --------------------------------------------------------------------------------------------------------

    def lease_some(
        self,
        owner: str,
        *,
        kind: Kind | None = None,
        limit: int = 1,
        lease_s: int | None = None,
        caller: Caller = LOCAL_OWNER,
    ) -> list[LeasedTicket]:
        """Give a worker the oldest tickets that wait; none is no problem.

        Args:
            owner: The worker, by a name of its own.
            kind: Only this kind.
            limit: How many.
            lease_s: How long; never above the desk's own.
            caller: Who asks; calls of this subject count for the ticket.
        """
        with self._store.transaction() as tx:
            self._give_back_late(tx)
            waiting = tx.waiting(kind=kind, limit=min(limit, MOST))
            return [self._lease(tx, ticket, owner, self._ms(lease_s), caller) for ticket in waiting]

    def lease_one(
        self,
        ticket_id: str,
        owner: str,
        *,
        lease_s: int | None = None,
        token: str | None = None,
        caller: Caller = LOCAL_OWNER,
    ) -> LeasedTicket | Problem:
        """Give a worker one ticket; with the token of a lease that holds, it is made to last longer."""
        with self._store.transaction() as tx:
            ticket = tx.get(ticket_id)
            if ticket is None:
                return UNKNOWN
            if token is not None:
                return self._renew(tx, ticket, Proof(owner=owner, token=token), self._ms(lease_s))
            if ticket.status == "running" and 0 < ticket.lease_until <= tx.clock():
                ticket = self._late(tx, ticket).ticket
            obstacle = _obstacle(tx, ticket)
            return obstacle or self._lease(tx, ticket, owner, self._ms(lease_s), caller)

    def _lease(self, tx: Transaction, ticket: Ticket, owner: str, lasts_ms: int, caller: Caller) -> LeasedTicket:
        token = self._around.new_token()
        made = Proof(owner=owner, token=token)
        # Every attempt has the ticket's budget; what was called before the first belongs to it.
        held = replace(ticket, holder=caller.subject, held_from=ticket.updated if ticket.attempts else 0)
        leased = tx.lease(held, owner=owner, token_hash=made.token_hash, lasts_ms=lasts_ms)
        return LeasedTicket(ticket=leased, token=token, lease_ms=lasts_ms)

    def _renew(self, tx: Transaction, ticket: Ticket, shown: Proof, lasts_ms: int) -> LeasedTicket | Problem:
        problem = proofs.check(tx, ticket, shown)
        if problem is not None:
            return problem
        leased = tx.lease(ticket, owner=shown.owner, token_hash=shown.token_hash, lasts_ms=lasts_ms)
        return LeasedTicket(ticket=leased, token=shown.token, lease_ms=lasts_ms)

    def _ms(self, lease_s: int | None) -> int:
        return 1_000 * min(lease_s or self._options.lease_s, self._options.max_lease_s)

    # -- filling -------------------------------------------------------------------------------------------------------

    def fill(self, ticket_id: str, outputs: Any, *, by: str, proof: Proof, caller: Caller) -> FillResult | Problem:
        """Fill a ticket that is leased. The same once more is the same; the rest of the codes say what is wrong.

        Raises:
            LedgerUnwritable: It cannot be recorded, so nothing was done.
        """
        with self._store.transaction() as tx:
            ticket = tx.get(ticket_id)
            if ticket is None:
                return UNKNOWN
            what = f"fill:{_digest(outputs)}"
            if proofs.done_before(tx, ticket, proof, what):
                return FillResult(ticket=ticket, repeated=True)
            problem = proofs.check(tx, ticket, proof)
            if problem is None and not isinstance(outputs, Mapping):
                problem = OUTPUTS
            if problem is not None:
                self._tried(caller, ticket, "desk.fill", outputs, {"refused": problem.code})
                return problem
            filled = self._filling.fill(tx, ticket, outputs, by=by)
            proofs.mark_done(tx, ticket, proof, what)
            self._tried(caller, ticket, "desk.fill", outputs, _came_to(filled))
        self._wake(filled)
        return filled

    def nack(self, ticket_id: str, *, proof: Proof, caller: Caller) -> FillResult | Problem:
        """Give a ticket back undone; it is tried again after a while.

        Raises:
            LedgerUnwritable: It cannot be recorded, so nothing was done.
        """
        with self._store.transaction() as tx:
            ticket = tx.get(ticket_id)
            if ticket is None:
                return UNKNOWN
            if proofs.done_before(tx, ticket, proof, "nack"):
                return FillResult(ticket=ticket, repeated=True)
            problem = proofs.check(tx, ticket, proof)
            if problem is not None:
                self._tried(caller, ticket, "desk.nack", None, {"refused": problem.code})
                return problem
            given_back = self._filling.retry(tx, ticket, "given_back")
            proofs.mark_done(tx, ticket, proof, "nack")
            self._tried(caller, ticket, "desk.nack", None, _came_to(given_back))
        return given_back

    # -- our own workers -----------------------------------------------------------------------------------------------

    def begin(self, ticket_id: str, run_id: str) -> Ticket | Problem:
        """Take a ticket for a run of the durable engine, which has no end of its own; the same run may ask again."""
        with self._store.transaction() as tx:
            ticket = tx.get(ticket_id)
            if ticket is None:
                return UNKNOWN
            if _is_of(ticket, run_id):
                return ticket
            if ticket.status == "running" and 0 < ticket.lease_until <= tx.clock():
                ticket = self._late(tx, ticket).ticket
            # Outputs that came with the ticket rest on the calls of its poster.
            held = replace(ticket, holder=ticket.holder if ticket.final_outputs else None, held_from=0)
            return _obstacle(tx, ticket) or tx.lease(held, owner=run_id, token_hash=None, lasts_ms=None)

    def finish(self, ticket_id: str, run_id: str, outputs: Mapping[str, Any], *, by: str) -> FillResult | Problem:
        """Fill a ticket for the run that began it. The same run once more gives what there is.

        Raises:
            LedgerUnwritable: It cannot be recorded, so nothing was done.
        """
        return self._end(ticket_id, run_id, outputs, by=by)

    def give_up(self, ticket_id: str, run_id: str, why: str) -> FillResult | Problem:
        """Give a ticket back that a run could not finish; it is tried again, and in the end has failed.

        Args:
            ticket_id: Which.
            run_id: The run that began it.
            why: A fixed code.
        """
        return self._end(ticket_id, run_id, None, by=why)

    def _end(self, ticket_id: str, run_id: str, outputs: Mapping[str, Any] | None, *, by: str) -> FillResult | Problem:
        # A run's own id is its proof: only the worker that carries it out comes through here.
        proof = Proof(owner=run_id, token=run_id)
        with self._store.transaction() as tx:
            ticket = tx.get(ticket_id)
            if ticket is None:
                return UNKNOWN
            if not _is_of(ticket, run_id):
                known = proofs.done_before(tx, ticket, proof, "end")
                return FillResult(ticket=ticket, repeated=True) if known else proofs.NOT_YOURS
            ended = (
                self._filling.retry(tx, ticket, by)
                if outputs is None
                else self._filling.fill(tx, ticket, outputs, by=by)
            )
            proofs.mark_done(tx, ticket, proof, "end")
            self._tried(LOCAL_OWNER, ticket, "desk.finish", outputs, _came_to(ended))
        self._wake(ended)
        return ended

    # -- the clock -----------------------------------------------------------------------------------------------------

    def give_back_late(self) -> int:
        """Let tickets go back whose lease has ended; gives how many."""
        with self._store.transaction() as tx:
            late = self._give_back_late(tx)
        self._around.wake([one.ticket.ticket_id for one in late if one.ticket.status == "pending"])
        return len(late)

    def _give_back_late(self, tx: Transaction) -> list[FillResult]:
        return [self._late(tx, ticket) for ticket in tx.overdue(limit=SWEPT)]

    def _late(self, tx: Transaction, ticket: Ticket) -> FillResult:
        proofs.mark_lost(tx, ticket)
        tx.count("lost_leases")
        return self._filling.retry(tx, ticket, "lease_lost", at_once=True)

    # -- telling -------------------------------------------------------------------------------------------------------

    def _wake(self, filled: FillResult) -> None:
        if filled.derived:
            self._around.wake(filled.derived)
        if filled.ticket.status == "review":
            self._around.tell()

    def _tried(self, caller: Caller, ticket: Ticket, action: str, outputs: Any, more: Mapping[str, Any]) -> None:
        """Before the transaction ends: what the ledger does not take is not done either."""
        proposed = outputs.get("tool_verdict") if isinstance(outputs, Mapping) else None
        status = proposed.get("status") if isinstance(proposed, Mapping) else None
        said = {"kind": ticket.kind or "", "outputs_sha256": _digest(outputs), **more}
        if isinstance(status, str):
            said["proposed"] = status[:16]
        self._around.note(caller, action, ticket.ticket_id, said)


def _obstacle(tx: Transaction, ticket: Ticket) -> Problem | None:
    """Why a ticket cannot begin now."""
    if ticket.status == "running":
        return TAKEN if ticket.lease_until else proofs.OURS
    if ticket.status != "pending":
        return Problem(code="not_pending", message=f"The ticket is {ticket.status}. Only pending ones are given out.")
    if ticket.kind is None:
        return NO_KIND
    return NOT_YET if ticket.not_before > tx.clock() else None


def _is_of(ticket: Ticket, run_id: str) -> bool:
    return ticket.status == "running" and ticket.lease_until == 0 and ticket.lease_owner == run_id


def _came_to(filled: FillResult) -> dict[str, Any]:
    said: dict[str, Any] = {"status": filled.ticket.status, "derived": list(filled.derived)}
    if filled.incomplete is not None:
        said["incomplete"] = filled.incomplete
    if filled.ticket.judged is not None:
        said |= {"verdict": filled.ticket.judged.status, "rule_id": filled.ticket.judged.rule_id}
        said |= _used(filled.ticket.judged)
    return said


def _used(judged: Judgement) -> dict[str, list[str]]:
    """Receipts of the calls whose results counted, and of those that were context for people."""
    if not judged.sources:
        return {}
    return {
        "counted": [one.receipt_id for one in judged.sources if one.counts],
        "context": [one.receipt_id for one in judged.sources if not one.counts],
    }


def _digest(outputs: Any) -> str:
    return sha256(orjson.dumps(outputs, option=orjson.OPT_SORT_KEYS)).hexdigest()

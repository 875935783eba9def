"""The ticket service for doors: show, list and judge tickets, and withdraw a verdict."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tallystick.agents.problem import Problem
from tallystick.gate.session import Caller
from tallystick.rooms.desk.model import Judgement, Ticket, message_key, session_of
from tallystick.rooms.desk.options import Options
from tallystick.rooms.desk.ports import ServicePorts
from tallystick.rooms.desk.reply.outbox import chain
from tallystick.rooms.desk.store import Store, Transaction
from tallystick.rooms.desk.tickets.fill import FillResult, TicketFiller, author_of, with_verdict
from tallystick.rooms.desk.tickets.leases import TAKEN, UNKNOWN
from tallystick.rooms.desk.tickets.proof import OURS

NO_VERDICT = Problem(code="verdict_missing", message="Nothing was judged yet: the ticket has no outputs to judge.")
NOT_JUDGED = Problem(code="verdict_not_proceed", message="Only a PROCEED of this server can be taken back.")
NOT_TOOL = Problem(code="not_a_tool_ticket", message="Only TOOL tickets have a verdict.")
WITHDRAWN = "defer.withdrawn"


class TicketService:
    """Shows, lists and judges tickets."""

    def __init__(self, store: Store, options: Options, around: ServicePorts) -> None:
        self._store = store
        self._around = around
        self._filling = TicketFiller(options, around)

    def show(self, ticket_id: str) -> dict[str, Any] | None:
        """Return one ticket."""
        with self._store.reading() as tx:
            found = tx.get(ticket_id, lock=False)
            return None if found is None else wire(found, children=[one.ticket_id for one in tx.children(ticket_id)])

    def list(
        self,
        *,
        status: Sequence[str] = (),
        kind: str | None = None,
        thread_id: str | None = None,
        limit: int = 50,
        offset: int = 0,
    ) -> tuple[list[dict[str, Any]], int]:
        """Tickets, newest first, and how many there are in all."""
        with self._store.reading() as tx:
            found, total = tx.list(status=status, kind=kind, thread_id=thread_id, limit=limit, offset=offset)
        return [wire(one) for one in found], total

    def verdict(self, ticket_id: str) -> dict[str, Any] | Problem:
        """What the server said of a ticket, and what was proposed."""
        with self._store.reading() as tx:
            found = tx.get(ticket_id, lock=False)
        if found is None:
            return UNKNOWN
        return NO_VERDICT if found.judged is None else verdict_of(found)

    def judge(self, ticket_id: str, *, caller: Caller) -> FillResult | Problem:
        """Say the server's own word about a ticket that came with its outputs; what follows, follows.

        Raises:
            LedgerUnwritable: It cannot be recorded, so nothing was done.
        """
        with self._store.transaction() as tx:
            ticket = tx.get(ticket_id)
            if ticket is None:
                return UNKNOWN
            if ticket.judged is not None:
                return FillResult(ticket=ticket, repeated=True)
            problem = _unjudgeable(ticket)
            if problem is not None:
                return problem
            filled = self._filling.fill(tx, ticket, ticket.final_outputs, by=author_of(ticket))
            self._noted(caller, filled.ticket, "desk.verdict")
        if filled.derived:
            self._around.wake(filled.derived)
        return filled

    def withdraw(self, ticket_id: str, *, caller: Caller, reason: str) -> dict[str, Any] | Problem:
        """Withdraw a PROCEED and withhold its queued reply. Returns the state of the message.

        Raises:
            LedgerUnwritable: It cannot be recorded, so nothing was done.
        """
        with self._store.transaction() as tx:
            ticket = tx.get(ticket_id)
            if ticket is None:
                return UNKNOWN
            if ticket.judged is not None and ticket.judged.rule_id == WITHDRAWN:
                return {**verdict_of(ticket), "message": _message_state(tx, ticket)}
            if ticket.kind != "TOOL" or ticket.judged is None or ticket.judged.status != "PROCEED":
                return NOT_JUDGED
            proposed = ticket.final_outputs.get("tool_verdict")
            judged = Judgement(status="DEFER", rule_id=WITHDRAWN, reason=reason)
            changed = with_verdict(replace(ticket, judged=judged), proposed if isinstance(proposed, Mapping) else {})
            saved = tx.save(changed, was=ticket)
            tx.count("withdrawn")
            state = _withhold(tx, saved)
            self._noted(caller, saved, "desk.withdraw")
        return {**verdict_of(saved), "message": state}

    def _noted(self, caller: Caller, ticket: Ticket, action: str) -> None:
        said: dict[str, Any] = {"status": ticket.status}
        if ticket.judged is not None:
            said |= {"verdict": ticket.judged.status, "rule_id": ticket.judged.rule_id}
        self._around.note(caller, action, ticket.ticket_id, said)


def wire(ticket: Ticket, *, children: Sequence[str] | None = None) -> dict[str, Any]:
    """A ticket for readers: the contract's JSON as it is, and what the desk knows under `_desk`."""
    beside: dict[str, Any] = {
        "session": session_of(ticket.ticket_id),
        "kind": ticket.kind,
        "attempts": ticket.attempts,
        "not_before": ticket.not_before,
        "lease_owner": ticket.lease_owner,
        "lease_until": ticket.lease_until,
        "created": ticket.created,
        "updated": ticket.updated,
        "warnings": list(ticket.warnings),
        "verdict": None if ticket.judged is None else ticket.judged.as_dict(),
    }
    if children is not None:
        beside["derived"] = list(children)
    return {**ticket.body, "_desk": beside}


def verdict_of(ticket: Ticket) -> dict[str, Any]:
    """The server's word about a ticket."""
    said = ticket.final_outputs.get("tool_verdict")
    return {
        "ticket_id": ticket.ticket_id,
        "status": ticket.status,
        "tool_verdict": None if ticket.judged is None else ticket.judged.as_dict(),
        "proposed": said.get("proposed") if isinstance(said, Mapping) else None,
    }


def _unjudgeable(ticket: Ticket) -> Problem | None:
    if ticket.kind != "TOOL":
        return NOT_TOOL
    if ticket.status == "running":
        return TAKEN if ticket.lease_until else OURS
    if ticket.status != "pending":
        return Problem(code="not_pending", message=f"The ticket is {ticket.status}; nothing follows from it any more.")
    return None if ticket.final_outputs else NO_VERDICT


def _withhold(tx: Transaction, ticket: Ticket) -> str | None:
    found = tx.outgoing(message_key(chain(tx, ticket)[-1].ticket_id))
    if found is None or found.state != "queued":
        return None if found is None else found.state
    held = tx.change_outgoing(replace(found, state="withheld", note="verdict_withdrawn"), was="queued")
    return "withheld" if held else "sending"


def _message_state(tx: Transaction, ticket: Ticket) -> str | None:
    found = tx.outgoing(message_key(chain(tx, ticket)[-1].ticket_id))
    return None if found is None else found.state

"""Filling a ticket: store its outputs, compute the server's verdict, create the next ticket.

All of it happens in the transaction of the caller, which has checked the lease. Workers
outside and our own come through here alike.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tallystick.records import record
from tallystick.rooms.desk.derivation import (
    DECISIONS,
    draft_of,
    is_reply_to,
    needs_of,
    parent_of,
    reply_ticket,
    tool_ticket,
    triage_of,
)
from tallystick.rooms.desk.intake.warnings import warnings_of
from tallystick.rooms.desk.model import BEFORE_SENDING, VERDICTS, Judgement, Review, Ticket, wait_after
from tallystick.rooms.desk.options import Options
from tallystick.rooms.desk.ports import ServicePorts
from tallystick.rooms.desk.reply.outbox import queue_reply
from tallystick.rooms.desk.store import Transaction
from tallystick.rooms.desk.triage.categories import GENERAL, PERSON

DEFERRED = Judgement(status="DEFER", rule_id="defer.triage", reason="Triage left it to a person.")
PERSON_WANTED = Judgement(status="DEFER", rule_id="defer.person-wanted", reason="The customer asks for a person.")
SWITCHED_OFF = Judgement(
    status="DEFER", rule_id="defer.no-tool-phase", reason="TOOL tickets are switched off, so a person must approve."
)
NO_NEED = Judgement(
    status="DEFER", rule_id="defer.no-need", reason="Triage named nothing to look up, so a person must approve."
)
NO_PROCEED = Judgement(
    status="DEFER", rule_id="defer.no-proceed", reason="No PROCEED of this server stands behind the reply."
)


@record
class FillResult:
    """The result of a fill."""

    ticket: Ticket
    """As it is now."""
    derived: tuple[str, ...] = ()
    """Tickets that were made."""
    queued: bool = False
    """Whether a message waits in the outbox."""
    incomplete: str | None = None
    """Why the outputs were no result, as a fixed code: the ticket is tried again, or has failed for good."""
    repeated: bool = False
    """Whether it was all done before."""


class TicketFiller:
    """Fills tickets of each kind."""

    def __init__(self, options: Options, around: ServicePorts) -> None:
        self._options = options
        self._around = around

    def fill(self, tx: Transaction, ticket: Ticket, outputs: Mapping[str, Any], *, by: str) -> FillResult:
        """Store outputs and let follow what follows.

        Raises:
            TicketConflict: The ticket is another by now, or has ended.
        """
        filled = self._with_outputs(ticket, outputs, by)
        if ticket.kind == "TRIAGE":
            return self._triage(tx, ticket, filled, outputs)
        if ticket.kind == "TOOL":
            return self._tool(tx, ticket, filled, outputs)
        return self._reply(tx, ticket, filled, outputs)

    def retry(self, tx: Transaction, ticket: Ticket, why: str, *, at_once: bool = False) -> FillResult:
        """Give a ticket another try after a while; after the last it has failed, for a person to see.

        Args:
            tx: The transaction.
            ticket: As it was read.
            why: A fixed code, kept on the ticket.
            at_once: Without waiting, because it was not the ticket's fault.
        """
        attempts = ticket.attempts + 1
        wait = wait_after(attempts)
        status = "failed" if wait is None else "pending"
        tx.count(f"retry.{why}" if wait is not None else "dead_letters")
        again = replace(
            moved(ticket, status),
            attempts=attempts,
            not_before=0 if at_once or wait is None else tx.clock() + wait,
            warnings=(*ticket.warnings, f"{why}: attempt {attempts} gave no result."),
        )
        return FillResult(ticket=tx.save(again, was=ticket), incomplete=why)

    # -- by kind -------------------------------------------------------------------------------------------------------

    def _triage(self, tx: Transaction, was: Ticket, filled: Ticket, outputs: Mapping[str, Any]) -> FillResult:
        triage = triage_of(outputs)
        decision = triage.get("decision")
        if decision not in DECISIONS:
            return self.retry(tx, was, "decision_missing")
        if decision == "REJECT":
            return FillResult(ticket=tx.save(moved(filled, "done"), was=was))
        why = self._left_to_people(filled, triage)
        if why is not None:
            # There will be no TOOL ticket to be judged, so this is the server's word on the matter.
            tx.count(f"verdict.{why.status}")
            return self._review(tx, was, replace(filled, judged=why), why, draft_of(outputs))
        child = tool_ticket(filled, triage, self._options.tool_policy, now=self._around.now())
        known = self._around.known_tools()
        child = replace(
            child, warnings=warnings_of(child.body, known_tools=known, validate=self._options.schema_validation)
        )
        tx.add(child)
        return FillResult(ticket=tx.save(moved(filled, "done"), was=was), derived=(child.ticket_id,))

    def _left_to_people(self, ticket: Ticket, triage: Mapping[str, Any]) -> Judgement | None:
        """Why nothing is derived from a message that is to be answered; None: a TOOL ticket is."""
        if triage.get("decision") == "DEFER":
            return PERSON_WANTED if PERSON in self._around.judge().categories(ticket.content) else DEFERRED
        if not self._options.tool_derivation:
            return SWITCHED_OFF
        return None if needs_of(triage) else NO_NEED

    def _tool(self, tx: Transaction, was: Ticket, filled: Ticket, outputs: Mapping[str, Any]) -> FillResult:
        proposed = outputs.get("tool_verdict")
        if not isinstance(proposed, Mapping) or proposed.get("status") not in VERDICTS:
            return self.retry(tx, was, "verdict_missing")
        judged = self._around.judge().verdict(filled)
        tx.count(f"verdict.{judged.status}")
        filled = with_verdict(replace(filled, judged=judged), proposed)
        if judged.status == "BLOCK":
            return FillResult(ticket=tx.save(moved(filled, "blocked"), was=was))
        if judged.status == "DEFER":
            return self._review(tx, was, filled, judged, draft_of(outputs))
        child = reply_ticket(filled, now=self._around.now())
        tx.add(child)
        return FillResult(ticket=tx.save(moved(filled, "done"), was=was), derived=(child.ticket_id,))

    def _reply(self, tx: Transaction, was: Ticket, filled: Ticket, outputs: Mapping[str, Any]) -> FillResult:
        draft = draft_of(outputs)
        if not draft.strip():
            return self.retry(tx, was, "draft_missing")
        parent = parent_of(filled)
        tool = None if parent is None else tx.get(parent)
        if tool is None or not is_reply_to(filled, tool):
            tx.count("draft.DEFER")
            return self._review(tx, was, replace(filled, judged=NO_PROCEED), NO_PROCEED, draft)
        checked = self._around.judge().reply(filled, tool)
        tx.count(f"draft.{checked.judgement.status}")
        tx.count("sentences", checked.sentences)
        tx.count("sentences.unsupported", checked.unsupported)
        filled = replace(filled, judged=checked.judgement)
        if checked.judgement.status == "BLOCK":
            return FillResult(ticket=tx.save(moved(filled, "blocked"), was=was))
        if checked.judgement.status == "DEFER" or not checked.text.strip():
            return self._review(tx, was, filled, checked.judgement, draft)
        category = next(iter(self._around.judge().categories(filled.content)), GENERAL)
        waits = _before_sending(category) if self._options.mode_of(category) == "review" else checked.waits
        if waits is not None:
            return self._review(tx, was, filled, waits, draft)
        saved = tx.save(moved(filled, "done"), was=was)
        queue_reply(tx, saved, checked.text, channel=self._options.channel, by="verdict")
        return FillResult(ticket=saved, queued=True)

    def _review(self, tx: Transaction, was: Ticket, filled: Ticket, why: Judgement, draft: str) -> FillResult:
        """Put it before people."""
        saved = tx.save(moved(filled, "review"), was=was)
        review = Review(ticket_id=saved.ticket_id, state="waiting", rule_id=why.rule_id, reason=why.reason, draft=draft)
        tx.put_review(review)
        return FillResult(ticket=saved)

    def _with_outputs(self, ticket: Ticket, outputs: Mapping[str, Any], by: str) -> Ticket:
        metadata = {**ticket.metadata, "final_outputs": dict(outputs), "filled_by": by}
        body = {**ticket.body, "metadata": metadata}
        # What was said when the ticket came stays said.
        said = warnings_of(body, known_tools=self._around.known_tools(), validate=self._options.schema_validation)
        return replace(ticket, body=body, warnings=tuple(dict.fromkeys((*ticket.warnings, *said))))


def _before_sending(category: str) -> Judgement:
    reason = f"Replies about '{category}' wait for a person; rooms.desk.send sends them at once."
    return Judgement(status="PROCEED", rule_id=BEFORE_SENDING, reason=reason)


def moved(ticket: Ticket, status: str) -> Ticket:
    """The ticket with another status."""
    return replace(ticket, body={**ticket.body, "status": status})


def with_verdict(ticket: Ticket, proposed: Mapping[str, Any]) -> Ticket:
    """The ticket with the server's word where readers of the contract look, and what was proposed beside it."""
    if ticket.judged is None:
        return ticket
    verdict = {**ticket.judged.as_dict(), "proposed": dict(proposed)}
    outputs = {**ticket.final_outputs, "tool_verdict": verdict}
    return replace(ticket, body={**ticket.body, "metadata": {**ticket.metadata, "final_outputs": outputs}})


def author_of(ticket: Ticket) -> str:
    """Who filled a ticket that came with its outputs, as far as it says."""
    said = ticket.metadata.get("filled_by")
    return said if isinstance(said, str) else "posted"

"""Whether a message may still go out, asked at the last moment: much can happen between a draft and its sending."""

from tallystick.rooms.desk.deriving import event_of, is_reply_to, parent_of
from tallystick.rooms.desk.intake.taking import last_heard
from tallystick.rooms.desk.nouns import Outgoing, Ticket
from tallystick.rooms.desk.outbox.queueing import chain
from tallystick.rooms.desk.store import Transaction

GONE = "ticket_gone"
VERDICT = "verdict_fell"
PERSON = "person_took_over"
WRITTEN = "customer_wrote_again"


def obstacle(tx: Transaction, message: Outgoing) -> str | None:
    """Why a message must not go out, as a fixed code; None: it may."""
    ticket = tx.get(message.ticket_id, lock=False)
    if ticket is None:
        return GONE
    tickets = chain(tx, ticket)
    approved = _approved(tx, tickets)
    if approved is None:
        return PERSON
    if not approved and not _proceeds(tx, ticket):
        return VERDICT
    return WRITTEN if _wrote_again(tx, tickets[-1]) else None


def _approved(tx: Transaction, tickets: tuple[Ticket, ...]) -> bool | None:
    """Whether a person has approved it; None: a person has it in hand, or has turned it down."""
    found = (tx.review(one.ticket_id, lock=False) for one in tickets)
    # What was sent back for more evidence is a machine's matter again.
    reviews = [review for review in found if review is not None and review.state != "returned"]
    if any(review.state != "approved" for review in reviews):
        return None
    return bool(reviews)


def _proceeds(tx: Transaction, ticket: Ticket) -> bool:
    """Whether a PROCEED of the server stands behind it, for the draft and for the evidence."""
    if ticket.kind != "REPLY" or ticket.judged is None or ticket.judged.status != "PROCEED":
        return False
    parent = parent_of(ticket)
    return parent is not None and is_reply_to(ticket, tx.get(parent, lock=False))


def _wrote_again(tx: Transaction, root: Ticket) -> bool:
    thread = event_of(root).get("thread_id")
    if not isinstance(thread, str) or not thread:
        return False
    if root.kind == "TRIAGE":
        latest = last_heard(tx, thread)
        return latest is not None and latest != root.ticket_id
    # A TOOL ticket made by hand is no customer's message itself.
    newest = tx.newest_in_thread(thread, kind="TRIAGE")
    return newest is not None and newest.created > root.created

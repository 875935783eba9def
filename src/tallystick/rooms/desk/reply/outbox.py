"""The outbox: queue a reply, check again that it may go, mark it as sending, deliver it, mark it as sent.

A worker may die at any point. Before the mark nothing was sent. After it the outcome is unknown: the message is sent
again with the same key where the channel is idempotent, and left to a person otherwise.
"""

from collections.abc import Mapping
from dataclasses import replace

from tallystick.gate.session import LOCAL_OWNER
from tallystick.records import record
from tallystick.rooms.desk.derivation import event_of, is_reply_to, parent_of
from tallystick.rooms.desk.intake.service import last_heard
from tallystick.rooms.desk.model import Outgoing, Ticket, derived_id, message_key
from tallystick.rooms.desk.ports import Note, Undelivered
from tallystick.rooms.desk.reply.channels import UNCLEAR, Channel
from tallystick.rooms.desk.store import Store, Transaction

FAR = 8
"""Tickets in a chain; TRIAGE, TOOL and REPLY are three."""
GONE = "ticket_gone"
VERDICT = "verdict_fell"
PERSON = "person_took_over"
WRITTEN = "customer_wrote_again"
STUCK_MS = 120_000
"""A message on its way for longer was left there by a worker that is gone: one try takes ten seconds at most."""
FIRST_PAUSE_MS = 2_000
LONGEST_PAUSE_MS = 900_000
AT_ONCE = 20
NO_CHANNEL = "channel_unknown"


@record
class SendResult:
    """The result of one round of sending."""

    sent: int = 0
    withheld: int = 0
    again: int = 0
    failed: int = 0


class OutboxSender:
    """Sends queued messages. Several workers may send at once; each message is claimed by one."""

    def __init__(self, store: Store, channels: Mapping[str, Channel], note: Note, *, attempts: int) -> None:
        self._store = store
        self._channels = channels
        self._note = note
        self._attempts = attempts

    def send_due(self, *, limit: int = AT_ONCE) -> SendResult:
        """Send what is due."""
        self._free_stuck()
        with self._store.reading() as tx:
            due, _ = tx.outbox(state="queued", due=True, limit=limit)
        outcomes = [self.send(message.key) for message in due]
        return SendResult(
            sent=outcomes.count("sent"),
            withheld=outcomes.count("withheld"),
            again=outcomes.count("queued"),
            failed=outcomes.count("failed"),
        )

    def send(self, key: str) -> str | None:
        """Send one message that is queued; gives its state then, None: it was not queued any more."""
        with self._store.transaction() as tx:
            message = tx.outgoing(key)
            if message is None or message.state != "queued":
                return None
            begun = self._begin(tx, message)
        if begun.state != "sending":
            return begun.state
        try:
            self._channels[begun.channel].deliver(begun)
        except Undelivered as error:
            return self._later(begun, str(error), final=error.final)
        with self._store.transaction() as tx:
            # Another worker may have claimed it as stuck meanwhile; the key then makes it arrive once.
            if tx.change_outgoing(replace(begun, state="sent", note=""), was="sending"):
                tx.count("sent")
                self._noted(begun, "sent")
        return "sent"

    def _begin(self, tx: Transaction, message: Outgoing) -> Outgoing:
        why = obstacle(tx, message)
        if why is not None:
            changed = replace(message, state="withheld", note=why)
            tx.count(f"withheld.{why}")
        elif message.channel not in self._channels:
            changed = replace(message, state="failed", note=NO_CHANNEL)
        else:
            changed = replace(message, state="sending", attempts=message.attempts + 1)
        tx.change_outgoing(changed, was="queued")
        # Record the message in the ledger before sending: a crash may lose its `sent` mark, but never its record.
        self._noted(changed, changed.state)
        return changed

    def _later(self, message: Outgoing, why: str, *, final: bool) -> str:
        over = final or message.attempts >= self._attempts
        state = "failed" if over else "queued"
        pause = min(FIRST_PAUSE_MS << min(message.attempts - 1, 20), LONGEST_PAUSE_MS)
        with self._store.transaction() as tx:
            changed = replace(message, state=state, note=why)
            tx.change_outgoing(changed, was="sending", not_before=0 if over else tx.clock() + pause)
            if over:
                tx.count("unsent")
        return state

    def _free_stuck(self) -> None:
        with self._store.transaction() as tx:
            on_their_way, _ = tx.outbox(state="sending", limit=AT_ONCE)
            for message in on_their_way:
                if message.updated > tx.clock() - STUCK_MS:
                    continue
                channel = self._channels.get(message.channel)
                again = channel is not None and channel.repeatable
                state, note = ("queued", "") if again else ("failed", UNCLEAR)
                tx.change_outgoing(replace(message, state=state, note=note), was="sending")

    def _noted(self, message: Outgoing, state: str) -> None:
        said = {"key": message.key, "state": state, "attempt": message.attempts, "note": message.note}
        self._note(LOCAL_OWNER, "desk.send", message.ticket_id, said)


def queue_reply(tx: Transaction, ticket: Ticket, text: str, *, channel: str, by: str) -> Outgoing:
    """Queue the reply of a ticket and return the message.

    There is one message to each thing a customer wrote. One that was withheld is queued again with the new text; one
    that is on its way, was sent, or whose end is unclear stays what it is.

    Args:
        tx: The transaction of the decision.
        ticket: The one whose answer it is: a REPLY, or whatever a person approved.
        text: The text to send.
        channel: Where to.
        by: Who let it go: `verdict`, or a person.
    """
    root = chain(tx, ticket)[-1]
    event = event_of(ticket)
    thread = event.get("thread_id")
    payload = {"ticket_id": ticket.ticket_id, "thread_id": thread, "to": event.get("actor"), "text": text, "by": by}
    message = Outgoing(
        key=message_key(root.ticket_id),
        ticket_id=ticket.ticket_id,
        channel=channel,
        payload=payload,
        state="queued",
        thread_id=thread if isinstance(thread, str) else None,
    )
    if tx.put_outgoing(message):
        return message
    there = tx.outgoing(message.key)
    if there is None or there.state != "withheld":
        return there or message
    again = replace(there, state="queued", payload=payload, note="", ticket_id=ticket.ticket_id, attempts=0)
    return again if tx.change_outgoing(again, was="withheld") else there


def chain(tx: Transaction, ticket: Ticket) -> tuple[Ticket, ...]:
    """A ticket and those the server derived it from, itself first; what a ticket made by hand names does not count."""
    found = [ticket]
    while len(found) < FAR:
        last = found[-1]
        name = parent_of(last)
        if name is None or last.kind is None or last.ticket_id != derived_id(last.kind, name):
            break
        parent = tx.get(name, lock=False)
        if parent is None:
            break
        found.append(parent)
    return tuple(found)


def obstacle(tx: Transaction, message: Outgoing) -> str | None:
    """Why a message must not be sent, as a fixed code; None if it may."""
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
    """Whether a person approved it; None: a review is open or was rejected."""
    found = (tx.review(one.ticket_id, lock=False) for one in tickets)
    # What was sent back for more evidence is a machine's matter again.
    reviews = [review for review in found if review is not None and review.state != "returned"]
    if any(review.state != "approved" for review in reviews):
        return None
    return bool(reviews)


def _proceeds(tx: Transaction, ticket: Ticket) -> bool:
    """Whether draft and evidence both have the server's PROCEED."""
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
    # A TOOL ticket created by hand is not a customer's message.
    newest = tx.newest_in_thread(thread, kind="TRIAGE")
    return newest is not None and newest.created > root.created

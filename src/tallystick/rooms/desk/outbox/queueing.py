"""Putting a reply into the outbox, inside the transaction that decided it."""

from dataclasses import replace

from tallystick.rooms.desk.deriving import event_of, parent_of
from tallystick.rooms.desk.naming import derived_id, message_key
from tallystick.rooms.desk.nouns import Outgoing, Ticket
from tallystick.rooms.desk.store import Transaction

FAR = 8
"""Tickets in a chain; TRIAGE, TOOL and REPLY are three."""


def queue_reply(tx: Transaction, ticket: Ticket, text: str, *, channel: str, by: str) -> Outgoing:
    """Queue the answer of a ticket; gives the message as it stands.

    There is one message to each thing a customer wrote. One that was withheld is queued again with the new text; one
    that is on its way, was sent, or whose end is unclear stays what it is.

    Args:
        tx: The transaction of the decision.
        ticket: The one whose answer it is: a REPLY, or whatever a person approved.
        text: As it goes out.
        channel: Where to.
        by: Who let it go: `verdict`, or a person.
    """
    root = chain(tx, ticket)[-1]
    event = event_of(ticket)
    thread = event.get("thread_id")
    payload = {
        "ticket_id": ticket.ticket_id, "thread_id": thread, "to": event.get("actor"), "text": text, "by": by,
    }  # fmt: skip
    message = Outgoing(
        key=message_key(root.ticket_id), ticket_id=ticket.ticket_id, channel=channel, payload=payload, state="queued",
        thread_id=thread if isinstance(thread, str) else None,
    )  # fmt: skip
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

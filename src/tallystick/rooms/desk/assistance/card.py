"""The card of a ticket that waits for people: customer, assignee, due time, and why there is no draft."""

from collections.abc import Mapping
from typing import Any

from tallystick.records import record
from tallystick.rooms.desk.model import Review, Ticket

HOUR_MS = 3_600_000
_NO_DRAFT: Mapping[str, str] = {
    "defer.person-wanted": "The customer asks for a person, and no document answers the message.",
    "defer.no-evidence": "No document answers it.",
    "defer.language": "No document is in the language of the message.",
    "defer.no-need": "The message names nothing to look up.",
    "defer.triage": "Triage assigned it to a person before any lookup.",
}
OTHERWISE = "No evidence that was found could be sent unchanged."


@record
class TicketCard:
    """One entry in the list of waiting tickets."""

    customer: str | None
    owner: str | None
    """The person who works on the ticket, else its assignee."""
    received: int
    """When the customer's message was received, in epoch milliseconds."""
    age_ms: int
    due: int
    """When the message should be answered, in epoch milliseconds."""
    overdue: bool
    no_draft: str | None
    """Why there is no draft; None if there is one."""

    def as_dict(self) -> dict[str, Any]:
        """The wire form."""
        return {
            "customer": self.customer,
            "owner": self.owner,
            "received": self.received,
            "due": self.due,
            "overdue": self.overdue,
            "no_draft": self.no_draft,
        }


def card_of(review: Review, ticket: Ticket, *, received: int, now: int, answer_hours: int) -> TicketCard:
    """Return the card of a review.

    Args:
        review: The review.
        ticket: The ticket under review.
        received: When the customer's message was received, in epoch milliseconds.
        now: The database's time, in epoch milliseconds.
        answer_hours: The number of hours within which a message should be answered.
    """
    actor = ticket.event.get("actor")
    due = received + answer_hours * HOUR_MS
    return TicketCard(
        customer=actor if isinstance(actor, str) and actor else None,
        owner=review.person or review.owner,
        received=received,
        age_ms=max(0, now - received),
        due=due,
        overdue=review.state in {"waiting", "taken"} and due < now,
        no_draft=None if review.draft.strip() else _NO_DRAFT.get(review.rule_id, OTHERWISE),
    )


def span_in_words(milliseconds: int) -> str:
    """Return a duration in minutes, hours or days, as text."""
    minutes = max(0, milliseconds) // 60_000
    for size, unit in ((1_440, "d"), (60, "h")):
        if minutes >= 2 * size:
            return f"{minutes // size} {unit}"
    return f"{minutes} min"

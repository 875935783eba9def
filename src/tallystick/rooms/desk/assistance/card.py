"""The card of a ticket that waits for people: customer, owner, clock, and why there is no draft."""

from collections.abc import Mapping
from typing import Any

from tallystick.records import record
from tallystick.rooms.desk.model import Review, Ticket

HOUR_MS = 3_600_000
_NO_DRAFT: Mapping[str, str] = {
    "defer.person-wanted": "The customer asks for a person, and no document answers the message.",
    "defer.no-evidence": "No document answers it.",
    "defer.language": "No document is in the language of the message.",
    "defer.no-need": "Nothing to look up was named, so nothing was found that could be said.",
    "defer.triage": "Triage left it to a person before anything was looked up.",
}
OTHERWISE = "Nothing that was found could be sent as it stands."


@record
class TicketCard:
    """What the list of waiting tickets says of one."""

    customer: str | None
    owner: str | None
    """Who has it in hand, or whose it is."""
    received: int
    """Epoch milliseconds: when the customer's message was taken in."""
    age_ms: int
    due: int
    """Epoch milliseconds: when it should be answered."""
    overdue: bool
    no_draft: str | None
    """Why there is no draft; None: there is one."""

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
        review: What people are asked.
        ticket: Its ticket.
        received: Epoch milliseconds: when the customer's message was taken in.
        now: Epoch milliseconds, by the database's clock.
        answer_hours: Within how many hours a message should be answered.
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
    """Return a span of time as people say it: minutes, hours or days."""
    minutes = max(0, milliseconds) // 60_000
    for size, unit in ((1_440, "d"), (60, "h")):
        if minutes >= 2 * size:
            return f"{minutes // size} {unit}"
    return f"{minutes} min"

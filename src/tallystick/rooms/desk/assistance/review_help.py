"""What stands beside a ticket that waits for people: its card, the conversation, similar tickets, a question to ask."""

from collections.abc import Callable, Mapping
from typing import Any

from tallystick.reading.embedder import Embedder
from tallystick.rooms.desk.assistance.canned_replies import sentences_of
from tallystick.rooms.desk.assistance.card import TicketCard, card_of
from tallystick.rooms.desk.assistance.clarification import clarifying_question
from tallystick.rooms.desk.assistance.content_gaps import ContentGap, content_gaps
from tallystick.rooms.desk.assistance.similar_tickets import SimilarTickets
from tallystick.rooms.desk.model import Review, Ticket
from tallystick.rooms.desk.store import Transaction
from tallystick.rooms.desk.verdict.case import Case

EARLIER = 10
"""Messages of the conversation that are shown, of each side."""


class ReviewHelp:
    """Computes it for one desk."""

    def __init__(
        self,
        answer_hours: int,
        *,
        choose_embedder: Callable[[], Embedder | None] = lambda: None,
        read_replies: Callable[[], Mapping[str, str]] = dict,
    ) -> None:
        """Join what it needs.

        Args:
            answer_hours: Within how many hours a message should be answered.
            choose_embedder: Loads the embedding model on first use.
            read_replies: Reads the owner's ready replies, by name.
        """
        self._answer_hours = answer_hours
        self._choose_embedder = choose_embedder
        self._similar = SimilarTickets(choose_embedder)
        self.replies = read_replies

    def card(self, tx: Transaction, review: Review, ticket: Ticket) -> TicketCard:
        """The card of one review."""
        root = ticket.metadata.get("triage_reference_id")
        first = tx.get(root, lock=False) if isinstance(root, str) else None
        received = (first or ticket).created or review.created
        return card_of(review, ticket, received=received, now=tx.clock(), answer_hours=self._answer_hours)

    def beside(self, tx: Transaction, ticket: Ticket, case: Case) -> dict[str, Any]:
        """The conversation, similar answered tickets, and what to ask the customer."""
        content = ticket.content or case.content
        similar = self._similar.find(tx, content, but=ticket.thread_id) if content.strip() else []
        return {
            "question": clarifying_question(case),
            "similar": [one.as_dict() for one in similar],
            "conversation": _conversation(tx, ticket),
        }

    def own_sentences(self, case: Case) -> frozenset[str]:
        """Sentences that need no evidence: of the owner's ready replies, and the question to the customer."""
        return sentences_of([*self.replies().values(), clarifying_question(case) or ""])

    def gaps(self, tx: Transaction, *, days: int) -> list[ContentGap]:
        """What was asked in the last days that no document answers."""
        return content_gaps(tx, days=days, embedder=self._choose_embedder())


def _conversation(tx: Transaction, ticket: Ticket) -> list[dict[str, Any]]:
    """What was written before in the conversation, oldest first."""
    if ticket.thread_id is None:
        return []
    root = ticket.metadata.get("triage_reference_id")
    mine = root if isinstance(root, str) else ticket.ticket_id
    asked, _ = tx.list(kind="TRIAGE", thread_id=ticket.thread_id, limit=EARLIER)
    told = [
        {"by": "customer", "text": one.content, "at": one.created}
        for one in asked
        if one.ticket_id != mine and one.created <= ticket.created
    ]
    sent, _ = tx.outbox(thread_id=ticket.thread_id, limit=EARLIER)
    told += [
        {"by": str(one.payload.get("by", "")), "text": str(one.payload.get("text", "")), "at": one.created}
        for one in sent
        if one.state == "sent" and one.ticket_id != ticket.ticket_id and one.created <= ticket.created
    ]
    return sorted(told, key=lambda one: one["at"])

"""Similar tickets that people or the desk have answered, with the answers: a colleague's words to begin with."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tallystick.reading.embedder import Embedder
from tallystick.records import record
from tallystick.rooms.desk.language.overlap import relevance
from tallystick.rooms.desk.store import Transaction

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LOOKED_AT = 500
"""Answered messages, the latest first."""
COMPARED = 40
"""Of those, the nearest by their words are compared by meaning."""
SHOWN = 3
LEAST_WORDS, LEAST_MEANING = 0.3, 0.5
HELD = 2_000
ANSWERED = ("sent", "queued", "sending")


@record
class SimilarTicket:
    """An answered message that is like another."""

    ticket_id: str
    message: str
    answer: str
    by: str
    likeness: float

    def as_dict(self) -> dict[str, Any]:
        """The wire form."""
        return {
            "ticket_id": self.ticket_id,
            "message": self.message,
            "answer": self.answer,
            "by": self.by,
            "likeness": self.likeness,
        }


class SimilarTickets:
    """Finds them; keeps the vectors of what was compared lately."""

    def __init__(self, choose_embedder: Callable[[], Embedder | None]) -> None:
        """Take the embedding model.

        Args:
            choose_embedder: Loads it on first use; None: messages are compared by their words alone.
        """
        self._choose_embedder = choose_embedder
        self._held: OrderedDict[str, NDArray[np.float32]] = OrderedDict()

    def find(self, tx: Transaction, content: str, *, but: str | None) -> list[SimilarTicket]:
        """Return answered messages like this one, the nearest first.

        Args:
            tx: Reads.
            content: A customer's words.
            but: The conversation it belongs to, whose own answers are shown as such.
        """
        answered = [one for one in self._answered(tx, but) if relevance(content, one.message) > 0]
        near = sorted(answered, key=lambda one: -relevance(content, one.message))[:COMPARED]
        likeness, least = self._likeness(content, [one.message for one in near])
        found = sorted(zip(likeness, near, strict=True), key=lambda pair: -pair[0])
        return [
            SimilarTicket(
                ticket_id=one.ticket_id,
                message=one.message,
                answer=one.answer,
                by=one.by,
                likeness=round(like, 4),
            )
            for like, one in found[:SHOWN]
            if like >= least
        ]

    def _answered(self, tx: Transaction, but: str | None) -> list[SimilarTicket]:
        found = []
        for message in tx.latest_outgoing(states=ANSWERED, limit=LOOKED_AT):
            ticket = None if but is not None and message.thread_id == but else tx.get(message.ticket_id, lock=False)
            if ticket is not None and ticket.content:
                answer, by = str(message.payload.get("text", "")), str(message.payload.get("by", ""))
                one = SimilarTicket(
                    ticket_id=ticket.ticket_id, message=ticket.content, answer=answer, by=by, likeness=0.0
                )
                found.append(one)
        return found

    def _likeness(self, content: str, messages: Sequence[str]) -> tuple[list[float], float]:
        embedder = self._choose_embedder() if messages else None
        if embedder is None:
            return [relevance(content, message) for message in messages], LEAST_WORDS
        new = [text for text in dict.fromkeys((content, *messages)) if text not in self._held]
        if new:
            self._held.update(zip(new, embedder.embed(new), strict=True))
        asked = self._held[content]
        likeness = [float(asked @ self._held[message]) for message in messages]
        while len(self._held) > HELD:
            self._held.popitem(last=False)
        return likeness, LEAST_MEANING

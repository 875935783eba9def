"""Evidence check of an answer: the gate checks each sentence, and failing sentences are removed."""

from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING

from tallystick.gate.reply.check import check_reply
from tallystick.gate.reply.own_text import NOTHING_WRITTEN
from tallystick.gate.reply.sources import Source
from tallystick.records import record
from tallystick.rooms.insight.analyse.sentence import Sentence
from tallystick.rooms.insight.model import Ticket

if TYPE_CHECKING:
    from tallystick.gate.record.receipt import Receipt
    from tallystick.rooms.insight.figures.calculator import Figures


@record
class RejectedSentence:
    """A removed sentence and the reason."""

    text: str
    code: str


def check_sentences(
    sentences: tuple[Sentence, ...], book: "Figures"
) -> tuple[tuple[Sentence, ...], tuple[RejectedSentence, ...]]:
    """Separate supported sentences from unsupported ones."""
    sources = TicketSources(ticket_text_of(book), book.value)
    kept: list[Sentence] = []
    refused: list[RejectedSentence] = []
    for sentence in sentences:
        found = check_reply(
            sentence.with_references(),
            sources=sources,
            receipts=_NoReceipts(),
            writings=NOTHING_WRITTEN,
            session_id="analysis",
            form="per-sentence",
        )
        if found.ok:
            kept.append(sentence)
        else:
            refused.append(RejectedSentence(text=sentence.text, code=found.fault or "evidence_invalid"))
    return tuple(kept), tuple(refused)


class TicketSources:
    """Tickets and figures as the only sources of the gate's check."""

    def __init__(self, text_of: Callable[[str], str | None], value: Callable[[str], Decimal | None]) -> None:
        self._text_of = text_of
        self._value = value

    def read(self, path: str) -> Source | None:
        """An answer about tickets cites no files."""
        del path
        return None

    def expand(self, scope: str) -> list[str]:
        """Nothing."""
        del scope
        return []

    def outline(self) -> Source | None:
        """Not available here."""
        return None

    def resolve(self, reference: str) -> str | None:
        """A ticket's words."""
        prefix, _, record_id = reference.partition(":")
        return self._text_of(record_id) if prefix == "ticket" else None

    def recompute(self, query: str) -> Decimal | None:
        """A figure, computed again."""
        return self._value(query)


class _NoReceipts:
    """No receipts: a computed answer uses no tool."""

    def find(self, receipt_id: str) -> "Receipt | None":
        del receipt_id
        return None


def ticket_text_of(book: "Figures") -> Callable[[str], str | None]:
    """A reader of a ticket's text by its id."""

    def text_of(ticket_id: str) -> str | None:
        found = book.store.ticket(int(ticket_id)) if ticket_id.isascii() and ticket_id.isdigit() else None
        return None if found is None else ticket_text(found)

    return text_of


def ticket_text(ticket: Ticket) -> str:
    """All words of a ticket that can be quoted."""
    said = ticket.said
    return "\n".join(part for part in (said.summary, said.text, said.resolution) if part)

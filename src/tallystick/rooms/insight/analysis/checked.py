"""What of an answer its evidence bears out. The gate's own check, sentence by sentence; what fails is left out."""

from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING

from tallystick.gate.reply.check import check_reply
from tallystick.gate.reply.own_text import NOTHING_WRITTEN
from tallystick.gate.reply.sources import Source
from tallystick.records import record
from tallystick.rooms.insight.analysis.sentence import Sentence
from tallystick.rooms.insight.nouns import Ticket

if TYPE_CHECKING:
    from tallystick.gate.record.receipt import Receipt
    from tallystick.rooms.insight.figures.book import Figures


@record
class Refused:
    """A sentence that was left out, and why."""

    text: str
    code: str


def bear_out(sentences: tuple[Sentence, ...], book: "Figures") -> tuple[tuple[Sentence, ...], tuple[Refused, ...]]:
    """The sentences that hold, and those that do not."""
    sources = TicketSources(ticket_text_of(book), book.value)
    kept: list[Sentence] = []
    refused: list[Refused] = []
    for sentence in sentences:
        found = check_reply(
            sentence.with_references(), sources=sources, receipts=_NoReceipts(), writings=NOTHING_WRITTEN,
            session_id="analysis", form="per-sentence",
        )  # fmt: skip
        if found.ok:
            kept.append(sentence)
        else:
            refused.append(Refused(text=sentence.text, code=found.fault or "evidence_invalid"))
    return tuple(kept), tuple(refused)


class TicketSources:
    """Tickets and figures, and nothing else, as the gate's check asks for them."""

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
        """There is none."""
        return None

    def resolve(self, reference: str) -> str | None:
        """A ticket's words."""
        prefix, _, record_id = reference.partition(":")
        return self._text_of(record_id) if prefix == "ticket" else None

    def recompute(self, query: str) -> Decimal | None:
        """A figure, computed again."""
        return self._value(query)


class _NoReceipts:
    """An answer from numbers rests on no tool."""

    def find(self, receipt_id: str) -> "Receipt | None":
        del receipt_id
        return None


def ticket_text_of(book: "Figures") -> Callable[[str], str | None]:
    """What gives a ticket's words by its id."""

    def text_of(ticket_id: str) -> str | None:
        found = book.store.ticket(int(ticket_id)) if ticket_id.isascii() and ticket_id.isdigit() else None
        return None if found is None else ticket_text(found)

    return text_of


def ticket_text(ticket: Ticket) -> str:
    """All words of a ticket that can be quoted."""
    said = ticket.said
    return "\n".join(part for part in (said.summary, said.text, said.resolution) if part)

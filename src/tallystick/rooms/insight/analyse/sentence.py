"""A sentence of an answer, with its figures, quotes and receipts."""

import re
from collections.abc import Iterable
from typing import Any

from tallystick.gate.quotes import word_count
from tallystick.records import record
from tallystick.rooms.insight.figures.calculator import Figure
from tallystick.rooms.insight.model import Ticket
from tallystick.text.sentences import sentences
from tallystick.text.stems import stems

_ENDS_A_SENTENCE = re.compile(r"(?<![.!?…])[.!?…]++(?=[\"'”’)*_]*+(?:\s|$))")  # noqa: RUF001 - as people type
_NOT_IN_A_NAME = re.compile(r"[\[\]\"“”„«»\x00-\x1f]+")
_OPENS_A_QUOTE = re.compile(r"(?<![^\W_])['‘’]")  # noqa: RUF001 - as above
_APART = re.compile(r"[\[\]\"“”„«»;…\x00-\x1f]|\.{2,}")
"""What a quote cannot run over: it would end the reference, or leave words out."""
_END_SIGNS = ".!?…'’)*_ "  # noqa: RUF001 - as above
_GREETING = re.compile(
    r"^(?:hi|hello|hey|dear|good (?:morning|day|afternoon|evening)|to whom it may concern)\b[^,]{0,30},\s*",
    re.IGNORECASE,
)
_LONGEST_NAME = 80
MOST_REFERENCES = 1_700
"""Characters in one pair of brackets; the check reads 2,000."""
FEWEST_WORDS, MOST_WORDS = 4, 24
"""Of a quote: enough to be found, short enough to be read."""


@record
class Quote:
    """Words of a ticket, verbatim."""

    ticket_id: int
    words: str
    """Empty: the ticket as a whole."""


@record
class Sentence:
    """A sentence and its evidence."""

    text: str
    """Without references, with its full stop."""
    figures: tuple[Figure, ...] = ()
    quotes: tuple[Quote, ...] = ()
    receipts: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The wire form."""
        wire: dict[str, Any] = {
            "text": self.text,
            "figures": [{"value": one.written, "shown": one.shown, "query": one.query} for one in self.figures],
            "tickets": [{"ticket_id": one.ticket_id, "quote": one.words} for one in self.quotes],
        }
        return wire | ({"receipts": list(self.receipts)} if self.receipts else {})

    def with_references(self) -> str:
        """As the check reads it: every sentence carries its references in square brackets."""
        brackets = " ".join(f"[{items}]" for items in _packed(self._references()))
        return f"{self.text.rstrip('.')} {brackets}." if brackets else self.text

    def _references(self) -> Iterable[str]:
        for figure in dict.fromkeys(self.figures):
            yield f"figure {figure.written} = {figure.query}"
        for quote in self.quotes:
            yield f'ticket:{quote.ticket_id} "{quote.words}"' if quote.words else f"ticket:{quote.ticket_id}"


def say(*parts: "str | Figure | Quote | None") -> Sentence:
    """A sentence of words and numbers; the numbers stay with it. A part that is not there leaves nothing behind."""
    text = "".join(_written(part) for part in parts if part is not None)
    return Sentence(
        text=text,
        figures=tuple(part for part in parts if isinstance(part, Figure)),
        quotes=tuple(part for part in parts if isinstance(part, Quote)),
    )


def listed(items: list[list[str | Figure | Quote]]) -> list[str | Figure | Quote]:
    """`a, b and c`, of things that hold numbers."""
    flat: list[str | Figure | Quote] = []
    for place, item in enumerate(items):
        if place:
            flat.append(" and " if place == len(items) - 1 else ", ")
        flat += item
    return flat


def name(value: str) -> str:
    """A name out of the data, such that it ends no sentence and opens no reference."""
    plain = " ".join(_OPENS_A_QUOTE.sub("", _NOT_IN_A_NAME.sub(" ", value)).split())
    plain = _ENDS_A_SENTENCE.sub("", plain)
    return (plain[: _LONGEST_NAME - 1] + "…") if len(plain) > _LONGEST_NAME else plain or "(no name)"


def quote_of(ticket: Ticket, wanted: Iterable[str] = ()) -> Quote:
    """A few words of a ticket that fit in a reference; otherwise the ticket itself.

    Args:
        ticket: Whose words.
        wanted: Stems that the quote should hold, if it can.
    """
    parts = [part for one in sentences(ticket.said.text, wrapped=False) for part in _APART.split(one)]
    pieces = [_GREETING.sub("", part.strip()).rstrip(_END_SIGNS) for part in parts]
    usable = [piece for piece in pieces if word_count(piece) >= FEWEST_WORDS]
    if not usable:
        return Quote(ticket_id=ticket.ticket_id, words="")
    sought = frozenset(wanted)
    best = max(usable, key=lambda piece: len(sought.intersection(stems(piece)))) if sought else usable[0]
    return Quote(ticket_id=ticket.ticket_id, words=_shortened(best))


def _shortened(piece: str) -> str:
    return " ".join(piece.split()[:MOST_WORDS]).strip(" ,:-'’")  # noqa: RUF001 - as above


def _written(part: str | Figure | Quote) -> str:
    if isinstance(part, Figure):
        return part.shown
    if isinstance(part, Quote):
        return f'"{part.words}"' if part.words else f"ticket {part.ticket_id}"
    return part


def _packed(items: Iterable[str]) -> Iterable[str]:
    """Items in as many brackets as they need."""
    held: list[str] = []
    length = 0
    for item in items:
        if held and length + len(item) > MOST_REFERENCES:
            yield "; ".join(held)
            held, length = [], 0
        held.append(item)
        length += len(item) + 2
    if held:
        yield "; ".join(held)

"""The shared context of a report's sections."""

from tallystick.records import record
from tallystick.rooms.insight.analyse.context import share_query, tickets_by_id
from tallystick.rooms.insight.analyse.sentence import name
from tallystick.rooms.insight.analyse.shifts import Side
from tallystick.rooms.insight.figures.calculator import Figure, Figures
from tallystick.rooms.insight.figures.facts import Facts
from tallystick.rooms.insight.figures.query import Given, Query, query
from tallystick.rooms.insight.figures.themes import Themes
from tallystick.rooms.insight.model import Dataset
from tallystick.rooms.insight.report.blocks import Line, NumberPiece, Piece, QuotePiece, ReportNotes

LONGEST_QUOTE = 240


@record
class Frame:
    """One dataset, and what its report notes."""

    book: Figures
    notes: ReportNotes
    dataset: Dataset
    facts: Facts
    themes: Themes | None
    whole: Given
    sides: tuple[Side, Side] | None
    """What is compared."""
    other: Dataset | None

    def count(self, label: str, *where: Given) -> Piece:
        """How many tickets."""
        return self.notes.maybe(f"Tickets: {label}", self.book.figure(query("tickets", *where)))

    def share(self, label: str, part: Given, of: Given) -> Piece:
        """Which part of them."""
        return self.notes.maybe(f"Share: {label}", self.book.figure(share_query(part, of), places=1, unit=" %"))

    def measure(self, label: str, asked: Query, *, places: int = 0, unit: str = "") -> Piece:
        """Any other number."""
        return self.notes.maybe(label, self.book.figure(asked, places=places, unit=unit))

    def noted(self, label: str, figure: Figure) -> NumberPiece:
        """A number that is known already."""
        return self.notes.number(label, figure)

    def p(self, label: str, figure: Figure) -> NumberPiece:
        """A p-value in a table, where its column says what it is."""
        plain = Figure(value=figure.value, shown=figure.shown.removeprefix("= "), query=figure.query)
        return self.notes.number(f"p: {label}", plain)

    def quotes(self, ids: tuple[int, ...], most: int = 3) -> tuple[QuotePiece, ...]:
        """Verbatim quotes of these tickets, without repeats."""
        found: dict[str, int] = {}
        for ticket in tickets_by_id(self.book, self.dataset.dataset_id, ids[: most * 3]):
            found.setdefault(shortened(ticket.said.text), ticket.ticket_id)
        return tuple(self.notes.quote(ticket_id, words) for words, ticket_id in list(found.items())[:most])


def shortened(text: str) -> str:
    """The beginning of a text, up to the end of a word; white space as one."""
    plain = " ".join(text.split())
    if len(plain) <= LONGEST_QUOTE:
        return plain
    return plain[:LONGEST_QUOTE].rpartition(" ")[0] or plain[:LONGEST_QUOTE]


def text(value: str) -> Line:
    """A name, as a cell."""
    return (name(value),)

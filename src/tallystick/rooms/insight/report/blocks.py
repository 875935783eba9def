"""Blocks of a report. Every number is noted with its query."""

from typing import Any

from tallystick.records import record
from tallystick.rooms.insight.figures.calculator import Figure


@record
class NumberPiece:
    """A number in a report, with its figure."""

    note_id: str
    """`f1`, `f2`, … in the order of the report."""
    label: str
    figure: Figure


@record
class QuotePiece:
    """A quote in a report."""

    note_id: str
    """`q1`, `q2`, …."""
    ticket_id: int
    words: str


Piece = str | NumberPiece
Line = tuple[Piece, ...]


@record
class Paragraph:
    """A few sentences."""

    line: Line


@record
class Table:
    """Rows under a head."""

    head: tuple[str, ...]
    rows: tuple[tuple[Line, ...], ...]


@record
class Quotes:
    """What customers wrote."""

    said: tuple[QuotePiece, ...]


@record
class Chart:
    """Bars, one for each number."""

    title: str
    upright: bool
    """One beside the other, as times go; else one below the other, with room for names."""
    bars: tuple[tuple[str, NumberPiece], ...]


Block = Paragraph | Table | Quotes | Chart


@record
class Section:
    """A heading and its blocks."""

    title: str
    blocks: tuple[Block, ...]
    level: int = 2


class ReportNotes:
    """Collects the numbers and quotes of a report."""

    def __init__(self) -> None:
        self.numbers: list[NumberPiece] = []
        self.words: list[QuotePiece] = []

    def number(self, label: str, figure: Figure) -> NumberPiece:
        """Note a number."""
        noted = NumberPiece(note_id=f"f{len(self.numbers) + 1}", label=label, figure=figure)
        self.numbers.append(noted)
        return noted

    def maybe(self, label: str, figure: Figure | None) -> Piece:
        """Note a number where there is one; else a dash."""
        return "–" if figure is None else self.number(label, figure)  # noqa: RUF001 - a dash in a table

    def quote(self, ticket_id: int, words: str) -> QuotePiece:
        """Note words of a ticket."""
        said = QuotePiece(note_id=f"q{len(self.words) + 1}", ticket_id=ticket_id, words=words)
        self.words.append(said)
        return said

    def as_dict(self) -> dict[str, Any]:
        """For the appendix."""
        return {
            "figures": [
                {
                    "id": one.note_id,
                    "label": one.label,
                    "shown": one.figure.shown,
                    "value": one.figure.written,
                    "query": one.figure.query,
                }
                for one in self.numbers
            ],
            "quotes": [{"id": one.note_id, "ticket_id": one.ticket_id, "words": one.words} for one in self.words],
        }

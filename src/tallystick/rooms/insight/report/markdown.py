"""A report as Markdown. Every number is a link whose title names its figure: `[41](#figures "f12")`."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from tallystick.rooms.insight.report.appendix import FENCE, HEADING, lines_of
from tallystick.rooms.insight.report.blocks import (
    Block,
    Chart,
    Line,
    NumberPiece,
    Paragraph,
    Piece,
    Quotes,
    Section,
    Table,
)

_MARKS = re.compile(r"([\\`*_{}\[\]<>|#!~])")
_BAR = 30
"""Characters of the longest bar."""


def as_markdown(title: str, head: Iterable[str], sections: Iterable[Section], appendix: Mapping[str, Any]) -> str:
    """The whole report, its appendix at the end."""
    parts = [f"# {plain_text(title)}", *map(plain_text, head)]
    for section in sections:
        parts.append(f"{'#' * section.level} {plain_text(section.title)}")
        parts += [_block(block) for block in section.blocks]
    body = "\n\n".join(parts)
    listed = "\n".join(lines_of(appendix, body))
    told = "Every number above, with the query that gives it again."
    return f"{body}\n\n## {HEADING}\n\n{told}\n\n{FENCE}json\n{listed}\n{FENCE}\n"


def _block(block: Block) -> str:
    if isinstance(block, Paragraph):
        return _line(block.line)
    if isinstance(block, Table):
        return _table(block)
    if isinstance(block, Quotes):
        return "\n".join(f"> {plain_text(said.words)} — ticket {said.ticket_id}\n" for said in block.said).rstrip()
    return _chart(block)


def _table(table: Table) -> str:
    rule = "|".join(["---", *["--:"] * (len(table.head) - 1)])
    rows = [f"| {' | '.join(_line(cell) for cell in row)} |" for row in table.rows]
    return "\n".join([f"| {' | '.join(map(plain_text, table.head))} |", f"|{rule}|", *rows])


def _chart(chart: Chart) -> str:
    """Bars of blocks: readable wherever Markdown is."""
    most = max((float(noted.figure.value) for _, noted in chart.bars), default=0.0)
    rows: list[str] = []
    for label, noted in chart.bars:
        long = round(_BAR * float(noted.figure.value) / most) if most else 0
        rows.append(f"| {plain_text(label)} | {_piece(noted)} | {'█' * long} |")
    return "\n".join([f"| {plain_text(chart.title)} | Tickets | |", "|---|--:|---|", *rows])


def _line(line: Line) -> str:
    return "".join(map(_piece, line)).rstrip()


def _piece(piece: Piece) -> str:
    if isinstance(piece, NumberPiece):
        return f'[{piece.figure.shown.replace("<", "&lt;")}](#figures "{piece.note_id}")'
    return plain_text(piece)


def plain_text(text: str) -> str:
    """User text with Markdown escaped."""
    return _MARKS.sub(r"\\\1", text.replace("\n", " ").replace("&", "&amp;"))

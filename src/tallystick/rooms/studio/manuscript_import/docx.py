"""Turns a Word document into a manuscript: headings by style, paragraphs as Markdown, and what could not be carried."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from tallystick.import_limits import DEFAULT, ImportLimits
from tallystick.rooms.studio.manuscript_import.inline import Span, plain, render
from tallystick.rooms.studio.manuscript_import.model import Losses, LossKind, Manuscript, Piece
from tallystick.rooms.studio.manuscript_import.structure import MAX_HEADING, assemble, is_break, label_of
from tallystick.text.documents.word import Block, Omission, Table, WordParagraph, read_word

_DOCUMENT = "word/document.xml"
_LOST: dict[Omission, LossKind] = {
    "comment": "comment",
    "deleted_text": "tracked_change",
    "endnote": "endnote",
    "equation": "equation",
    "footnote": "footnote",
    "formatting": "formatting",
    "header_footer": "header_footer",
    "hidden_text": "hidden_text",
    "image": "image",
    "inserted_text": "tracked_change",
    "link": "link",
    "symbol": "symbol",
    "text_box": "text_box",
}
_TYPED = re.compile(r"([0-9]{1,4})\\[.)] ")
"""A number that was typed before an entry, as Markdown escapes it."""


def read_docx(path: Path, losses: Losses, limits: ImportLimits = DEFAULT) -> Manuscript:
    """Read a whole book.

    Raises:
        DocumentRefused: It is no Word document, or damaged.
    """
    document = read_word(path, limits)
    reader = _Reader(losses)
    pieces = list(reader.pieces(document.blocks))
    for kind, count in document.omitted.items():
        losses.add(_LOST[kind], _DOCUMENT, count)
    title, chapters = assemble(pieces, losses, path.name)
    return Manuscript(
        format="docx",
        title=document.properties["title"] or reader.title or title,
        author=document.properties["creator"],
        chapters=chapters,
    )


class _Reader:
    def __init__(self, losses: Losses) -> None:
        self._losses = losses
        self.title = ""

    def pieces(self, blocks: Iterable[Block]) -> Iterator[Piece]:
        """Yield the pieces of a body or a cell; quoted paragraphs that follow each other become one block."""
        quotation: str | None = None
        for block in blocks:
            for piece in self._of(block):
                quoted = isinstance(block, WordParagraph) and piece.kind == "block" and block.quote
                if quotation is not None and isinstance(block, WordParagraph) and quoted and not block.apart:
                    quotation += f"\n>\n{piece.text}"
                    continue
                if quotation is not None:
                    yield Piece(kind="block", text=quotation)
                quotation = piece.text if quoted else None
                if not quoted:
                    yield piece
        if quotation is not None:
            yield Piece(kind="block", text=quotation)

    def _of(self, block: Block) -> Iterator[Piece]:
        return self._table(block) if isinstance(block, Table) else self._paragraph(block)

    def _paragraph(self, paragraph: WordParagraph) -> Iterator[Piece]:
        text = render([Span(text=run.text, italic=run.italic, bold=run.bold) for run in paragraph.runs])
        words = plain(text).strip()
        if not words:
            return
        if is_break(words):
            yield Piece(kind="break")
        elif paragraph.level == 0:
            self.title = self.title or " ".join(words.split())
        elif paragraph.level is not None:
            yield Piece(kind="heading", text=text.replace("\\\n", " "), level=paragraph.level)
        else:
            yield _block(paragraph, text, words)

    def _table(self, table: Table) -> Iterator[Piece]:
        self._losses.add("table", _DOCUMENT)
        for row in table.rows:
            cells = [" ".join(piece.text.replace("\\\n", " ") for piece in self.pieces(cell)) for cell in row]
            line = " | ".join(cell for cell in cells if cell)
            if line:
                yield Piece(kind="block", text=line)


def _block(paragraph: WordParagraph, text: str, words: str) -> Piece:
    lead, again = _lead(paragraph)
    if not lead and len(words) <= MAX_HEADING and label_of(words) in {"part", "chapter"}:
        # Many authors type their headings as plain paragraphs.
        return Piece(kind="heading", text=text, level=1 if label_of(words) == "part" else 2)
    typed = _TYPED.match(text) if paragraph.list_text and not lead else None
    if typed is not None:
        lead, text = f"{typed.group(1)}. ", text[typed.end() :]
        again = " " * len(lead)
    return Piece(kind="block", text=lead + text.replace("\n", f"\n{again}"))


def _lead(paragraph: WordParagraph) -> tuple[str, str]:
    if paragraph.quote:
        return "> ", "> "
    return ("- ", "  ") if paragraph.listed else ("", "")

"""The book as a Word document."""

import io
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from tallystick.rooms.studio.exporting.gathering import SECTION, ReadBlock, ReadBook
from tallystick.rooms.studio.exporting.markdown import BREAK
from tallystick.rooms.studio.exporting.zipping import repacked
from tallystick.rooms.studio.importing.inline import Span

_STYLES = {"quote": "Quote", "item": "List Bullet"}
_NUMBERED = "List Paragraph"
"""A list of Word's own would count on from the one before; so the author's numbers are written out."""
_GAP = 12
"""Points between two quotations; without them they would be one."""
_MOMENT = datetime(2000, 1, 1, tzinfo=UTC)
"""Word wants a time; the same book has the same one."""


def to_docx(book: ReadBook) -> bytes:
    """Headings by style, so that Word's own table of contents works."""
    # Loads lxml; most commands never write a document.
    from docx import Document  # noqa: PLC0415

    document: Any = Document()
    _describe(document, book)
    if book.title:
        document.add_paragraph(book.title, style="Title")
    level = 2 if book.has_parts else 1
    for chapter in book.chapters:
        if chapter.part:
            document.add_heading(chapter.part, level=1)
        document.add_heading(chapter.title, level=level)
        for place, scene in enumerate(chapter.scenes):
            if scene.title:
                document.add_heading(scene.title, level=level + 1)
            elif place:
                _add_break(document)
            before: ReadBlock | None = None
            for block in scene.blocks:
                _add(document, block, level + SECTION, apart=before is not None and before.kind == block.kind)
                before = block
    target = io.BytesIO()
    document.save(target)
    return repacked(target.getvalue())


def _describe(document: Any, book: ReadBook) -> None:
    about = document.core_properties
    about.title, about.author, about.language = book.title, book.author, book.language
    about.comments = about.last_modified_by = about.keywords = ""
    about.created = about.modified = _MOMENT
    about.revision = 1


def _add_break(document: Any) -> None:
    from docx.enum.text import WD_ALIGN_PARAGRAPH  # noqa: PLC0415 - as above

    document.add_paragraph(BREAK).alignment = WD_ALIGN_PARAGRAPH.CENTER


def _add(document: Any, block: ReadBlock, level: int, *, apart: bool) -> None:
    """Write a block.

    Args:
        document: Where to.
        block: What.
        level: Of a heading inside a scene.
        apart: One of the same kind stands before it.
    """
    if block.kind == "break":
        _add_break(document)
        return
    if block.kind == "heading":
        _write(document.add_heading(level=level), block.paragraphs[0])
        return
    lead = () if block.number is None else (Span(text=f"{block.number}. "),)
    style = _STYLES.get(block.kind) if block.number is None else _NUMBERED
    for place, spans in enumerate(block.paragraphs):
        paragraph = document.add_paragraph(style=style)
        if block.kind == "quote" and apart and not place:
            paragraph.paragraph_format.space_before = _points(_GAP)
        _write(paragraph, (*lead, *spans))


def _write(paragraph: Any, spans: Iterable[Span]) -> None:
    for span in spans:
        # A line feed in a run becomes a line break.
        run = paragraph.add_run(span.text)
        run.italic, run.bold = span.italic or None, span.bold or None


def _points(count: int) -> Any:
    from docx.shared import Pt  # noqa: PLC0415 - as above

    return Pt(count)

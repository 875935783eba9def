"""The formats of an export: Markdown, Word and EPUB."""

import io
import json
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from tallystick.rooms.studio.manuscript_export.epub import to_epub, without_timestamps
from tallystick.rooms.studio.manuscript_export.manuscript import SECTION, ExportBlock, ExportBook, ExportScene
from tallystick.rooms.studio.manuscript_import.inline import Span

BREAK = "* * *"


def to_markdown(book: ExportBook) -> bytes:
    """Title and author in front matter, then parts, chapters and scenes."""
    front = {"title": book.title, "author": book.author}
    fields = [f"{name}: {json.dumps(text, ensure_ascii=False)}" for name, text in front.items() if text]
    return ("\n\n".join(["\n".join(["---", *fields, "---"]), *_blocks(book)]) + "\n").encode()


def _blocks(book: ExportBook) -> Iterator[str]:
    chapter_level = 3 if book.has_parts else 2
    if book.title:
        yield f"# {book.title}"
    for chapter in book.chapters:
        if chapter.part:
            yield f"## {chapter.part}"
        yield f"{'#' * chapter_level} {chapter.title}"
        for place, scene in enumerate(chapter.scenes):
            if scene.title:
                yield f"{'#' * (chapter_level + 1)} {scene.title}"
            elif place:
                yield BREAK
            yield from _scene(scene, chapter_level)


def _scene(scene: ExportScene, chapter_level: int) -> Iterator[str]:
    for block in scene.blocks:
        yield f"{'#' * (chapter_level + SECTION)} {block.source}" if block.kind == "heading" else block.source


_STYLES = {"quote": "Quote", "item": "List Bullet"}
_NUMBERED = "List Paragraph"
"""A list of Word's own would count on from the one before; so the author's numbers are written out."""
_GAP = 12
"""Points between two quotations; without them they would be one."""
_MOMENT = datetime(2000, 1, 1, tzinfo=UTC)
"""Word requires a time; a constant keeps the bytes equal."""


def to_docx(book: ExportBook) -> bytes:
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
            before: ExportBlock | None = None
            for block in scene.blocks:
                _add(document, block, level + SECTION, apart=before is not None and before.kind == block.kind)
                before = block
    target = io.BytesIO()
    document.save(target)
    return without_timestamps(target.getvalue())


def _describe(document: Any, book: ExportBook) -> None:
    about = document.core_properties
    about.title, about.author, about.language = book.title, book.author, book.language
    about.comments = about.last_modified_by = about.keywords = ""
    about.created = about.modified = _MOMENT
    about.revision = 1


def _add_break(document: Any) -> None:
    from docx.enum.text import WD_ALIGN_PARAGRAPH  # noqa: PLC0415 - as above

    document.add_paragraph(BREAK).alignment = WD_ALIGN_PARAGRAPH.CENTER


def _add(document: Any, block: ExportBlock, level: int, *, apart: bool) -> None:
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


FORMATS: dict[str, Callable[[ExportBook], bytes]] = {"md": to_markdown, "docx": to_docx, "epub": to_epub}

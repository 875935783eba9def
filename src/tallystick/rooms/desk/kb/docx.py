"""Turns a Word document into lines: paragraphs, list entries and table rows, with its headings."""

from collections.abc import Iterable, Iterator

from tallystick.import_limits import DEFAULT, ImportLimits
from tallystick.text.documents.model import DocumentRefused, ParsedDocument
from tallystick.text.documents.word import Block, Omission, Table, WordParagraph, read_word
from tallystick.text.folding import squeeze
from tallystick.text.headings import Heading

_CODES = {"archive_bomb": "archive_bomb", "not_a_docx": "not_a_document", "xml_unsafe": "xml_unsafe"}
"""The reader's codes → those of the knowledge base; every other one means `damaged`."""
_LEFT_OUT: dict[Omission, str] = {
    "comment": "comment",
    "deleted_text": "deleted text",
    "hidden_text": "hidden text",
}
"""What a reader of the document does not see, and must not become evidence."""


def read_docx(data: bytes, limits: ImportLimits = DEFAULT) -> ParsedDocument:
    """Read one document.

    Raises:
        DocumentRefused: `damaged`, `archive_bomb`, `xml_unsafe` or `not_a_document`.
    """
    try:
        document = read_word(data, limits)
    except DocumentRefused as refused:
        raise DocumentRefused(str(refused), code=_CODES.get(refused.code, "damaged")) from refused
    lines: list[str] = []
    headings: list[Heading] = []
    for block in document.blocks:
        if isinstance(block, Table):
            lines += [*([""] if lines else []), *_rows(block)]
        elif any(map(str.isalnum, block.text)):
            lines += [""] if lines and not block.listed else []
            text = squeeze(block.text)
            lines.append(f"- {text}" if block.listed and block.level is None else text)
            if block.level is not None:
                headings.append(Heading(line=len(lines), level=max(block.level, 1), text=text))
    return ParsedDocument(
        text="\n".join(lines),
        headings=tuple(headings),
        title=document.properties["title"] or next((heading.text for heading in headings), ""),
        about=_about(document.properties["contentStatus"], document.properties["keywords"]),
        left_out=tuple(sorted(_LEFT_OUT[kind] for kind in document.omitted if kind in _LEFT_OUT)),
    )


def _rows(table: Table) -> Iterator[str]:
    for row in table.rows:
        cells = [squeeze(" ".join(_texts(cell))) for cell in row]
        if any(cells):
            yield " | ".join(cells)


def _texts(blocks: Iterable[Block]) -> Iterator[str]:
    for block in blocks:
        if isinstance(block, WordParagraph):
            yield block.text
        else:
            yield from (text for row in block.rows for cell in row for text in _texts(cell))


def _about(status: str, keywords: str) -> dict[str, str]:
    """Return what the properties say of a document: its status, and what replaced it, among the keywords."""
    about = {"status": status}
    for word in keywords.replace(";", ",").split(","):
        name, sign, value = word.partition(":")
        if sign:
            about.setdefault(name.strip().lower(), value.strip())
    return about

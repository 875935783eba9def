"""Document readers by file name: from bytes to a document."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import PurePosixPath

from tallystick.import_limits import DEFAULT, ImportLimits
from tallystick.rooms.desk.kb.docx import read_docx
from tallystick.rooms.desk.kb.model import Document, DocumentStatus, Kind, Section
from tallystick.rooms.desk.kb.passages import metadata_lines
from tallystick.text.documents.html import read_html
from tallystick.text.documents.markdown import read_markdown, read_text
from tallystick.text.documents.model import DocumentRefused, ParsedDocument
from tallystick.text.documents.pdf import read_pdf
from tallystick.text.encoding import decode_text
from tallystick.text.headings import Heading

MAX_LINES = 200_000
_KINDS: Mapping[str, Kind] = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".txt": "text",
    ".text": "text",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".docx": "docx",
    ".pdf": "pdf",
}
_READERS: Mapping[Kind, Callable[[bytes, ImportLimits], ParsedDocument]] = {
    "markdown": lambda data, _: read_markdown(_decoded(data)),
    "text": lambda data, _: read_text(_decoded(data)),
    "html": lambda data, _: read_html(_decoded(data)),
    "docx": read_docx,
    "pdf": read_pdf,
}


def kind_of(path: str) -> Kind | None:
    """What a file is, by its name; None: no document."""
    return _KINDS.get(PurePosixPath(path).suffix.lower())


def read_document(doc: str, data: bytes, limits: ImportLimits = DEFAULT) -> Document:
    """One document.

    Raises:
        DocumentRefused: It is not a document or cannot be read; the message says what to do.
    """
    kind = kind_of(doc)
    if kind is None:
        raise DocumentRefused("Give it as Markdown, text, HTML, PDF or .docx.", code="not_a_document")
    if len(data) > limits.document_bytes:
        raise too_large(limits)
    written = _READERS[kind](data, limits)
    if len(written.text) > limits.document_chars:
        raise too_large(limits, "document_chars")
    lines = max(1, written.text.count("\n") + (not written.text.endswith("\n")))
    if lines > MAX_LINES:
        raise DocumentRefused(f"It has more than {MAX_LINES} lines. Split it.", code="too_large")
    standing, by = standing_of(written.about)
    document = Document(
        doc=doc,
        kind=kind,
        title=written.title.strip() or PurePosixPath(doc).stem,
        text=written.text,
        sha256=sha256(data).hexdigest(),
        sections=tuple(sections_of(written.headings, lines)),
        standing=standing,
        superseded_by=by,
        left_out=written.left_out,
    )
    return document if standing != "current" else replace(document, standing=told_standing(document))


def _decoded(data: bytes) -> str:
    found = decode_text(data, guess=True)
    if found is None:
        raise DocumentRefused("It holds no text. Save it as UTF-8.", code="not_text")
    return found.text.removeprefix("\ufeff")


def too_large(limits: ImportLimits, name: str = "document_bytes") -> DocumentRefused:
    """The error for a file that is too large for one document."""
    return DocumentRefused(
        f"It is larger than one document may be. Split it, or raise {limits.named(name)}.", code="too_large"
    )


def standing_of(about: Mapping[str, str]) -> tuple[DocumentStatus, str | None]:
    """Whether a document still holds, and what replaced it."""
    by = about.get("superseded_by", "").strip() or None
    if by is not None and by.lower() in {"null", "none", "~", "[]", "no"}:
        by = None
    said = about.get("status", "").strip().lower()
    if said == "withdrawn":
        return "withdrawn", by
    return ("superseded", by) if said == "superseded" or by is not None else ("current", None)


_TOLD = re.compile(
    r"\W*(?:(withdrawn|retired|archived|obsolete|expired|no longer valid)|(superseded|replaced by))\b", re.IGNORECASE
)
"""What a line at the top or the foot says of the document: `Withdrawn, see KB-113`."""
_TOLD_OF_ITSELF = re.compile(
    r"\b(?:this|the)\s(?:document|page|article|policy|version|guide|notice|price list|text)\b[^.]{0,60}?"
    r"\b(?:is|was|has been)\s"
    r"(?:now\s|since\s)?(?:(withdrawn|retired|archived|obsolete|no longer valid|out of date)|(superseded|replaced))\b",
    re.IGNORECASE,
)
_SEGMENT = re.compile(r"\s[|·•]\s")
OPENING = 3
"""Filled lines at the top of a document that are read for what it says of itself."""


def told_standing(document: Document) -> DocumentStatus:
    """Whether a document still holds, by what its own first and last lines say."""
    lines = document.lines
    segments = (part for at in metadata_lines(document) for part in _SEGMENT.split(lines[at - 1]))
    found = next((match for part in segments if (match := _TOLD.match(part))), None)
    if found is None:
        opening = " ".join([line.strip("*_> ") for line in lines if line.strip()][1 : OPENING + 1])
        found = _TOLD_OF_ITSELF.search(opening) or _TOLD.match(opening)
    if found is None:
        return "current"
    return "withdrawn" if found[1] else "superseded"


def sections_of(headings: tuple[Heading, ...], lines: int) -> Iterator[Section]:
    """The parts of a document, each under its heading and those above it."""
    if not headings or headings[0].line > 1:
        yield Section(name="", first_line=1, last_line=headings[0].line - 1 if headings else lines, text_line=1)
    above: list[Heading] = []
    for at, heading in enumerate(headings):
        while above and above[-1].level >= heading.level:
            above.pop()
        above.append(heading)
        end = headings[at + 1].line - 1 if at + 1 < len(headings) else lines
        name = " > ".join(each.text for each in above if each.text)
        yield Section(name=name, first_line=heading.line, last_line=end, text_line=heading.line + heading.takes)

"""From the bytes of a file to a document, by what the file is called."""

from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from pathlib import PurePosixPath

from tallystick.errors import PathRefused
from tallystick.import_limits import DEFAULT, ImportLimits
from tallystick.rooms.desk.kb.docx import read_docx
from tallystick.rooms.desk.kb.html import read_html
from tallystick.rooms.desk.kb.markdown import read_markdown, read_text
from tallystick.rooms.desk.kb.nouns import Document, Heading, Kind, Section, Standing, Unreadable, Written
from tallystick.rooms.desk.kb.pdf import read_pdf
from tallystick.storage.files import decode

MAX_LINES = 200_000
_KINDS: Mapping[str, Kind] = {
    ".md": "markdown", ".markdown": "markdown", ".txt": "text", ".text": "text", ".html": "html", ".htm": "html",
    ".xhtml": "html", ".docx": "docx", ".pdf": "pdf",
}  # fmt: skip
_READERS: Mapping[Kind, Callable[[bytes, ImportLimits], Written]] = {
    "markdown": lambda data, _: read_markdown(decode(data)),
    "text": lambda data, _: read_text(decode(data)),
    "html": lambda data, _: read_html(decode(data)),
    "docx": read_docx,
    "pdf": read_pdf,
}


def kind_of(path: str) -> Kind | None:
    """What a file is, by its name; None: no document."""
    return _KINDS.get(PurePosixPath(path).suffix.lower())


def read_document(doc: str, data: bytes, limits: ImportLimits = DEFAULT) -> Document:
    """One document.

    Raises:
        Unreadable: It is none, or cannot be read; the message says what to do.
    """
    kind = kind_of(doc)
    if kind is None:
        raise Unreadable("not_a_document", "Give it as Markdown, text, HTML, PDF or .docx.")
    if len(data) > limits.document_bytes:
        raise too_large(limits)
    try:
        written = _READERS[kind](data, limits)
    except PathRefused:
        raise Unreadable("not_text", "It holds no text. Save it as UTF-8.") from None
    if len(written.text) > limits.document_chars:
        raise too_large(limits, "document_chars")
    lines = max(1, written.text.count("\n") + (not written.text.endswith("\n")))
    if lines > MAX_LINES:
        raise Unreadable("too_large", f"It has more than {MAX_LINES} lines. Split it.")
    standing, by = standing_of(written.about)
    return Document(
        doc=doc, kind=kind, title=written.title.strip() or PurePosixPath(doc).stem, text=written.text,
        sha256=sha256(data).hexdigest(), sections=tuple(sections_of(written.headings, lines)), standing=standing,
        superseded_by=by, left_out=written.left_out,
    )  # fmt: skip


def too_large(limits: ImportLimits, name: str = "document_bytes") -> Unreadable:
    """For a file that nobody reads as one document."""
    return Unreadable("too_large", f"It is larger than one document may be. Split it, or raise {limits.named(name)}.")


def standing_of(about: Mapping[str, str]) -> tuple[Standing, str | None]:
    """Whether a document still holds, and what replaced it."""
    by = about.get("superseded_by", "").strip() or None
    if by is not None and by.lower() in {"null", "none", "~", "[]", "no"}:
        by = None
    said = about.get("status", "").strip().lower()
    if said == "withdrawn":
        return "withdrawn", by
    return ("superseded", by) if said == "superseded" or by is not None else ("current", None)


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

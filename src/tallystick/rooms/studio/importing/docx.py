"""A Word document: its paragraphs by style, its runs by emphasis. Read from the XML itself; nothing else is opened."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tallystick.import_limits import DEFAULT, ImportLimits
from tallystick.rooms.studio.importing.archive import Archive
from tallystick.rooms.studio.importing.assembling import assemble
from tallystick.rooms.studio.importing.docx_styles import Styles, W, is_on, value_of
from tallystick.rooms.studio.importing.headings import MAX_HEADING, is_break, label_of
from tallystick.rooms.studio.importing.inline import Span, plain, render
from tallystick.rooms.studio.importing.nouns import Losses, LossKind, Manuscript, Piece, SourceRefused

_DOCUMENT = "word/document.xml"
_CORE = "docProps/core.xml"
_DC = "{http://purl.org/dc/elements/1.1/}"
_MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_LOST: dict[str, LossKind] = {
    f"{W}drawing": "image", f"{W}pict": "image", f"{W}object": "image", f"{W}footnoteReference": "footnote",
    f"{W}endnoteReference": "endnote", f"{W}commentReference": "comment", f"{W}sym": "symbol",
    f"{_MATH}oMath": "equation", f"{_MATH}oMathPara": "equation", f"{_MC}AlternateContent": "text_box",
    f"{W}del": "tracked_change", f"{W}moveFrom": "tracked_change",
}  # fmt: skip
_THROUGH = frozenset(
    f"{W}{name}" for name in ("ins", "moveTo", "hyperlink", "fldSimple", "smartTag", "sdt", "sdtContent", "customXml")
)
_SIGNS = {f"{W}tab": " ", f"{W}noBreakHyphen": "\u2011", f"{W}cr": "\n"}
_TYPED = re.compile(r"([0-9]{1,4})\\[.)] ")
"""A number that was typed before an entry, as Markdown escapes it."""
_CHANGED = frozenset({f"{W}ins", f"{W}moveTo"})


def read_docx(path: Path, losses: Losses, limits: ImportLimits = DEFAULT) -> Manuscript:
    """A whole book.

    Raises:
        SourceRefused: It is no Word document, or damaged.
    """
    with Archive(path, limits) as archive:
        document = archive.xml(_DOCUMENT)
        if document is None:
            raise SourceRefused(f"{path.name:.100} is no Word document.", code="not_a_docx")
        core = archive.xml(_CORE)
        reader = _Reader(Styles(archive.xml("word/styles.xml")), losses)
        pieces = [piece for body in document.iter(f"{W}body") for piece in reader.blocks(body)]
        for name in archive.names():
            if name.startswith(("word/header", "word/footer")) and _says_something(archive.xml(name)):
                losses.add("header_footer", _DOCUMENT)
    title, chapters = assemble(pieces, losses, path.name)
    return Manuscript(
        format="docx", title=_said(core, f"{_DC}title") or reader.title or title, author=_said(core, f"{_DC}creator"),
        chapters=chapters,
    )  # fmt: skip


class _Reader:
    def __init__(self, styles: Styles, losses: Losses) -> None:
        self._styles, self._losses = styles, losses
        self.title = ""

    def blocks(self, parent: Any) -> Iterator[Piece]:
        """The paragraphs and tables of a body, a cell or a content control."""
        quotation: str | None = None
        for child in parent:
            form = child.find(f"{W}pPr") if child.tag == f"{W}p" else None
            for piece in self._of(child):
                quoted = piece.kind == "block" and self._styles.is_quote(form)
                if quotation is not None and quoted and not self._styles.stands_apart(form):
                    quotation += f"\n>\n{piece.text}"
                    continue
                if quotation is not None:
                    yield Piece(kind="block", text=quotation)
                quotation = piece.text if quoted else None
                if not quoted:
                    yield piece
        if quotation is not None:
            yield Piece(kind="block", text=quotation)

    def _of(self, child: Any) -> Iterator[Piece]:
        if child.tag == f"{W}p":
            yield from self._paragraph(child)
        elif child.tag == f"{W}tbl":
            yield from self._table(child)
        elif child.tag in _THROUGH:
            yield from self.blocks(child)

    def _paragraph(self, paragraph: Any) -> Iterator[Piece]:
        form = paragraph.find(f"{W}pPr")
        text = render(self._spans(paragraph))
        words = plain(text).strip()
        if not words:
            return
        level = self._styles.level(form)
        if is_break(words):
            yield Piece(kind="break")
        elif level == 0:
            self.title = self.title or " ".join(words.split())
        elif level is not None:
            yield Piece(kind="heading", text=text.replace("\\\n", " "), level=level)
        else:
            yield self._block(form, text, words)

    def _block(self, form: Any, text: str, words: str) -> Piece:
        lead, again = self._lead(form)
        if not lead and len(words) <= MAX_HEADING and label_of(words) in {"part", "chapter"}:
            # Many authors type their headings as plain paragraphs.
            return Piece(kind="heading", text=text, level=1 if label_of(words) == "part" else 2)
        typed = _TYPED.match(text) if self._styles.is_list_text(form) and not lead else None
        if typed is not None:
            lead, text = f"{typed.group(1)}. ", text[typed.end() :]
            again = " " * len(lead)
        return Piece(kind="block", text=lead + text.replace("\n", f"\n{again}"))

    def _lead(self, form: Any) -> tuple[str, str]:
        if self._styles.is_quote(form):
            return "> ", "> "
        return ("- ", "  ") if self._styles.is_listed(form) else ("", "")

    def _table(self, table: Any) -> Iterator[Piece]:
        self._losses.add("table", _DOCUMENT)
        for row in table.iter(f"{W}tr"):
            cells = [
                " ".join(piece.text.replace("\\\n", " ") for piece in self.blocks(cell)) for cell in row.iter(f"{W}tc")
            ]
            line = " | ".join(cell for cell in cells if cell)
            if line:
                yield Piece(kind="block", text=line)

    def _spans(self, parent: Any) -> list[Span]:
        spans: list[Span] = []
        for child in parent:
            if child.tag == f"{W}r":
                spans += self._run(child)
            elif child.tag in _LOST:
                self._losses.add(_LOST[child.tag], _DOCUMENT)
            elif child.tag in _THROUGH:
                if child.tag in _CHANGED:
                    self._losses.add("tracked_change", _DOCUMENT)
                elif child.tag == f"{W}hyperlink":
                    self._losses.add("link", _DOCUMENT)
                spans += self._spans(child)
        return spans

    def _run(self, run: Any) -> list[Span]:
        form = run.find(f"{W}rPr")
        if is_on(form, "vanish"):
            self._losses.add("hidden_text", _DOCUMENT)
            return []
        if any(is_on(form, name) for name in ("strike", "dstrike", "smallCaps", "caps")) or value_of(form, "vertAlign"):
            self._losses.add("formatting", _DOCUMENT)
        italic, bold = self._styles.emphasis(form)
        text = ""
        for child in run:
            if child.tag == f"{W}t":
                text += child.text or ""
            elif child.tag == f"{W}br":
                kind = child.get(f"{W}type", "textWrapping")
                text += "\n" if kind == "textWrapping" else ""
            elif child.tag in _LOST:
                self._losses.add(_LOST[child.tag], _DOCUMENT)
            else:
                text += _SIGNS.get(child.tag, "")
        return [Span(text=text, italic=italic, bold=bold)]


def _says_something(part: Any) -> bool:
    return part is not None and any((text.text or "").strip() for text in part.iter(f"{W}t"))


def _said(core: Any, tag: str) -> str:
    found = None if core is None else core.find(tag)
    return "" if found is None else " ".join((found.text or "").split())

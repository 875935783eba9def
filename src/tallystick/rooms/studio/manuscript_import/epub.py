"""Reads an e-book: the XHTML documents of its spine, in order, as headings, paragraphs, quotes, lists and breaks."""

import posixpath
import re
from collections.abc import Iterator, Mapping
from html.entities import html5
from itertools import count, repeat
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from tallystick.import_limits import DEFAULT, ImportLimits
from tallystick.rooms.studio.manuscript_import.inline import Span, plain, render
from tallystick.rooms.studio.manuscript_import.model import Losses, LossKind, Manuscript, Piece, SourceRefused
from tallystick.rooms.studio.manuscript_import.structure import MAX_HEADING, assemble, is_break, label_of
from tallystick.text.documents.archive import Archive, parse_xml
from tallystick.text.documents.model import DocumentRefused

Style = tuple[bool, bool]
"""Italic, bold."""
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_PARAGRAPHS = frozenset({"p", "li", "dt", "dd", "pre", "figcaption", "address", *_HEADINGS})
_ITALIC, _BOLD = frozenset({"i", "em", "cite", "dfn", "var"}), frozenset({"b", "strong"})
_LOST: dict[str, LossKind] = {
    "img": "image",
    "svg": "image",
    "image": "image",
    "picture": "image",
    "object": "image",
    "audio": "audio_video",
    "video": "audio_video",
    "math": "equation",
    "iframe": "not_carried",
    "canvas": "not_carried",
}
_SKIPPED = frozenset({"script", "style", "head", "title", "template", "nav"})
_NOTES = frozenset({"footnote", "endnote", "rearnote", "footnotes", "endnotes", "rearnotes"})
_TYPE = "{http://www.idpf.org/2007/ops}type"
_DOCTYPE = re.compile(rb"<!DOCTYPE[^\[>]{0,1000}>", re.IGNORECASE)
_ENTITY = re.compile(rb"&([A-Za-z][A-Za-z0-9]{1,30});")
_ENTRY = re.compile(r"- |[0-9]{1,4}\. ")
_COUNT = re.compile(r"[0-9]{1,4}")
_XML_OWN = frozenset({b"amp", b"lt", b"gt", b"quot", b"apos"})


class Page:
    """One document of the book."""

    def __init__(self, data: bytes, name: str, losses: Losses, styles: Mapping[str, Style]) -> None:
        """Read a document.

        Args:
            data: Its bytes.
            name: Its name in the book.
            losses: Counts what cannot be carried.
            styles: What the book's classes look like.

        Raises:
            SourceRefused: It is no XHTML.
        """
        self._name, self._losses, self._styles = name, losses, styles
        # The names of HTML's characters come from its document type, which is not loaded.
        known = _ENTITY.sub(_character, _DOCTYPE.sub(b"", data, count=1))
        self._root = parse_xml(known, name)

    def kinds(self) -> frozenset[str]:
        """The declared type of the document: `titlepage`, `toc`, `cover`, …."""
        found = [self._root, *(child for child in self._root if _tag(child) == "body")]
        found += [inner for child in found[1:] for inner in child]
        return frozenset(word for element in found for word in element.get(_TYPE, "").split())

    def pieces(self) -> Iterator[Piece]:
        """Its pieces in reading order."""
        for child in self._root:
            if _tag(child) == "body":
                yield from self._inside(child, "")

    def _inside(self, element: Any, prefix: str) -> Iterator[Piece]:
        """A container: its paragraphs, and text that stands in it bare."""
        bare: list[Span] = [Span(text=_text(element.text))]
        marks = _marks(element)
        for child in element:
            tag = _tag(child)
            if _is_block(tag):
                yield from self._block(render(bare), prefix)
                bare = []
                yield from self._child(child, tag, f"{prefix}{next(marks)}" if tag == "li" else prefix)
            else:
                bare += self._spans(child, (False, False))
            bare.append(Span(text=_text(child.tail)))
        yield from self._block(render(bare), prefix)

    def _child(self, child: Any, tag: str, prefix: str) -> Iterator[Piece]:
        if tag in _SKIPPED or self._is_note(child):
            return
        if tag in _LOST:
            self._losses.add(_LOST[tag], self._name)
        elif tag == "hr":
            yield Piece(kind="break")
        elif tag == "table":
            yield from self._table(child, prefix)
        elif tag in _HEADINGS:
            text = render(self._spans(child, (False, False), inside=True)).replace("\\\n", " ")
            yield from self._heading(text, _HEADINGS[tag])
        elif tag in _PARAGRAPHS and not any(_is_block(_tag(inner)) for inner in child):
            text = render(self._spans(child, (False, False), inside=True))
            if not text and "break" in child.get("class", "").casefold():
                yield Piece(kind="break")
            yield from self._block(text, prefix)
        else:
            yield from self._container(child, tag, prefix)

    def _container(self, child: Any, tag: str, prefix: str) -> Iterator[Piece]:
        if tag == "blockquote":
            return _together(self._inside(child, f"{prefix}> "), f"{prefix}>")
        pieces = self._inside(child, prefix)
        return _entry(pieces, prefix) if tag == "li" else pieces

    def _heading(self, text: str, level: int) -> Iterator[Piece]:
        if is_break(plain(text)):
            yield Piece(kind="break")
        elif text:
            yield Piece(kind="heading", text=text, level=level)

    def _block(self, text: str, prefix: str) -> Iterator[Piece]:
        words = plain(text).strip()
        if not words:
            return
        if is_break(words):
            yield Piece(kind="break")
        elif not prefix and len(words) <= MAX_HEADING and label_of(words) in {"part", "chapter"}:
            # Books converted from plain text use paragraphs as headings.
            yield Piece(kind="heading", text=text, level=2 if label_of(words) == "chapter" else 1)
        else:
            yield Piece(kind="block", text=prefix + text.replace("\n", f"\n{_behind(prefix)}"))

    def _table(self, table: Any, prefix: str) -> Iterator[Piece]:
        self._losses.add("table", self._name)
        for row in table.iter():
            if _tag(row) == "tr":
                cells = [render(self._spans(cell, (False, False), inside=True)) for cell in row]
                yield from self._block(" | ".join(cell.replace("\\\n", " ") for cell in cells if cell), prefix)

    def _spans(self, element: Any, style: Style, *, inside: bool = False) -> list[Span]:
        """The text of an inline element and of all in it."""
        tag = _tag(element)
        if tag == "br":
            return [Span(text="\n")]
        if tag in _LOST or tag in _SKIPPED:
            if tag in _LOST:
                self._losses.add(_LOST[tag], self._name)
            return []
        if self._is_note(element):
            return []
        if tag == "a" and element.get("href", "").startswith(("http:", "https:", "mailto:")):
            self._losses.add("link", self._name)
        looks = style if inside else self._looks(element, tag, style)
        spans = [Span(text=_text(element.text), italic=looks[0], bold=looks[1])]
        for child in element:
            spans += self._spans(child, looks)
            spans.append(Span(text=_text(child.tail), italic=looks[0], bold=looks[1]))
        return spans

    def _looks(self, element: Any, tag: str, style: Style) -> Style:
        css = element.get("style", "")
        named = [self._styles.get(name, (False, False)) for name in element.get("class", "").split()]
        own = style_of(css)
        italic = tag in _ITALIC or own[0] or any(one[0] for one in named)
        bold = tag in _BOLD or own[1] or any(one[1] for one in named)
        return style[0] or italic, style[1] or bold

    def _is_note(self, element: Any) -> bool:
        kinds = set(element.get(_TYPE, "").split())
        if "noteref" in kinds or not _NOTES.isdisjoint(kinds):
            if "noteref" in kinds:
                self._losses.add("footnote", self._name)
            return True
        return False


def _marks(element: Any) -> Iterator[str]:
    """The marker of each list entry."""
    if _tag(element) != "ol":
        return repeat("- ")
    start = element.get("start", "")
    return (f"{number}. " for number in count(int(start) if _COUNT.fullmatch(start) else 1))


def _behind(prefix: str) -> str:
    """The indentation of an entry's further lines."""
    return _ENTRY.sub(lambda mark: " " * len(mark.group()), prefix)


def _entry(pieces: Iterator[Piece], prefix: str) -> Iterator[Piece]:
    """Only the first paragraph of an entry has its mark."""
    lead = prefix
    for piece in pieces:
        if piece.kind == "block":
            yield Piece(kind="block", text=f"{lead}{piece.text.removeprefix(prefix)}")
            lead = _behind(prefix)
        else:
            yield piece


def _together(pieces: Iterator[Piece], sign: str) -> Iterator[Piece]:
    """The paragraphs of one quotation as one block."""
    held: list[str] = []
    for piece in pieces:
        if piece.kind == "block":
            held.append(piece.text)
            continue
        if held:
            yield Piece(kind="block", text=f"\n{sign}\n".join(held))
        held = []
        yield piece
    if held:
        yield Piece(kind="block", text=f"\n{sign}\n".join(held))


_BLOCKS = _PARAGRAPHS | {
    "div",
    "section",
    "article",
    "blockquote",
    "hr",
    "table",
    "ul",
    "ol",
    "dl",
    "aside",
    "header",
    "footer",
    "main",
    "figure",
    "center",
    "body",
    "form",
}


def _is_block(tag: str) -> bool:
    return tag in _BLOCKS or tag in _SKIPPED


def style_of(css: str) -> Style:
    """Whether declarations make text italic and bold."""
    plain_css = css.replace(" ", "").lower()
    italic = "font-style:italic" in plain_css or "font-style:oblique" in plain_css
    return italic, re.search(r"font-weight:(?:bold|[6-9]00)", plain_css) is not None


def class_styles(css: str) -> dict[str, Style]:
    """Class → look, from a style sheet; only rules for a class by itself."""
    found: dict[str, Style] = {}
    for rule in re.finditer(r"([^{}]{1,500})\{([^{}]{0,2000})\}", css):
        look = style_of(rule.group(2))
        if any(look):
            for name in re.findall(r"(?:^|[\s,])(?:span|em|i|b|strong)?\.([\w-]{1,80})(?=\s*(?:,|$))", rule.group(1)):
                found[name] = look
    return found


def _character(found: re.Match[bytes]) -> bytes:
    name = found.group(1)
    if name in _XML_OWN:
        return found.group()
    return html5.get(f"{name.decode()};", "\ufffd").encode()


def _tag(element: Any) -> str:
    name = element.tag
    return name.rpartition("}")[2].lower() if isinstance(name, str) else ""


def _text(text: str | None) -> str:
    return re.sub(r"[ \t\r\n]+", " ", text or "")


_CONTAINER = "META-INF/container.xml"
_OPF = "{http://www.idpf.org/2007/opf}"
_DC = "{http://purl.org/dc/elements/1.1/}"
_ROOTFILE = "{urn:oasis:names:tc:opendocument:xmlns:container}rootfile"
_NO_STORY = frozenset(
    {"cover", "titlepage", "halftitlepage", "toc", "copyright-page", "landmarks", "imprint", "colophon"}
)
_LOCKED = "META-INF/encryption.xml"


def read_epub(path: Path, losses: Losses, limits: ImportLimits = DEFAULT) -> Manuscript:
    """A whole book.

    Raises:
        SourceRefused: It is no e-book, is locked, or is damaged where everything hangs on it.
    """
    with Archive(path, limits) as archive:
        package_name, package = _package(archive, path.name)
        if archive.read(_LOCKED) is not None:
            losses.add("not_carried", _LOCKED)
        items = {item.get("id"): item for item in package.iter(f"{_OPF}item")}
        folder = posixpath.dirname(package_name)
        styles = _styles(archive, items, folder)
        pieces: list[Piece] = []
        for name in _spine(package, items, folder):
            pieces += _page(archive, name, losses, styles)
        for name in archive.names():
            if name.lower().endswith((".jpg", ".jpeg", ".png", ".gif", ".webp")):
                losses.add("attachment", "images")
    title, chapters = assemble(pieces, losses, path.name)
    return Manuscript(
        format="epub",
        title=_first(package, f"{_DC}title") or title,
        author=_first(package, f"{_DC}creator"),
        chapters=chapters,
    )


def _package(archive: Archive, name: str) -> tuple[str, Any]:
    container = archive.xml(_CONTAINER)
    roots = [] if container is None else [file.get("full-path", "") for file in container.iter(_ROOTFILE)]
    package = archive.xml(roots[0]) if roots else None
    if package is None:
        raise SourceRefused(f"{name:.100} is not an e-book: it has no list of contents.", code="not_an_epub")
    return roots[0], package


def _spine(package: Any, items: dict[str, Any], folder: str) -> Iterator[str]:
    for reference in package.iter(f"{_OPF}itemref"):
        item = items.get(reference.get("idref"))
        if item is None or reference.get("linear") == "no" or "nav" in item.get("properties", "").split():
            continue
        yield posixpath.normpath(posixpath.join(folder, unquote(item.get("href", "").partition("#")[0])))


def _page(archive: Archive, name: str, losses: Losses, styles: dict[str, Style]) -> list[Piece]:
    data = archive.read(name)
    if data is None:
        losses.add("chapter_unreadable", name)
        return []
    try:
        page = Page(data, name, losses, styles)
    except DocumentRefused:
        # One bad chapter does not stop the rest.
        losses.add("chapter_unreadable", name)
        return []
    if not _NO_STORY.isdisjoint(page.kinds()):
        losses.add("not_carried", name)
        return []
    return list(page.pieces())


def _styles(archive: Archive, items: dict[str, Any], folder: str) -> dict[str, Style]:
    found: dict[str, Style] = {}
    for item in items.values():
        if item.get("media-type") == "text/css":
            data = archive.read(posixpath.normpath(posixpath.join(folder, unquote(item.get("href", "")))))
            found |= class_styles((data or b"").decode("utf-8", "replace"))
    return found


def _first(package: Any, tag: str) -> str:
    return next((" ".join(element.text.split()) for element in package.iter(tag) if element.text), "")

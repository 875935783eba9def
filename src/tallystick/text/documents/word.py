"""Read a Word document: paragraphs with their style and runs, tables, properties, and counts of what was left out.

The XML is parsed directly, because this code must detect content that a person viewing the document does not see:
deleted and hidden text, comments, content controls. (python-docx opens every part of the package, and exposes none of
these.)
"""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from tallystick.import_limits import DEFAULT, ImportLimits
from tallystick.records import record
from tallystick.text.documents.archive import Archive
from tallystick.text.documents.model import DocumentRefused

Omission = Literal[
    "comment",
    "deleted_text",
    "endnote",
    "equation",
    "footnote",
    "formatting",
    "header_footer",
    "hidden_text",
    "image",
    "inserted_text",
    "link",
    "symbol",
    "text_box",
]
"""Content that is left out. The text of insertions and links is kept; only the markup is lost."""

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_CP = "{http://schemas.openxmlformats.org/package/2006/metadata/core-properties}"
_DC = "{http://purl.org/dc/elements/1.1/}"
_MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_OMITTED: dict[str, Omission] = {
    f"{_W}drawing": "image",
    f"{_W}pict": "image",
    f"{_W}object": "image",
    f"{_W}footnoteReference": "footnote",
    f"{_W}endnoteReference": "endnote",
    f"{_W}commentReference": "comment",
    f"{_W}sym": "symbol",
    f"{_MATH}oMath": "equation",
    f"{_MATH}oMathPara": "equation",
    f"{_MC}AlternateContent": "text_box",
    f"{_W}del": "deleted_text",
    f"{_W}moveFrom": "deleted_text",
}
_MARKED: dict[str, Omission] = {
    f"{_W}ins": "inserted_text",
    f"{_W}moveTo": "inserted_text",
    f"{_W}hyperlink": "link",
}
"""Elements whose text is kept while the markup (insertion mark, link target) is dropped."""
_THROUGH = frozenset(
    f"{_W}{name}" for name in ("ins", "moveTo", "hyperlink", "fldSimple", "smartTag", "sdt", "sdtContent", "customXml")
)
_SIGNS = {f"{_W}tab": " ", f"{_W}noBreakHyphen": "\u2011", f"{_W}cr": "\n"}
_HEADING = re.compile(r"(?:heading|überschrift|titre|título|titolo) ?([1-6])")
_TITLES = frozenset({"title", "titel", "titre"})
_QUOTES = frozenset({"quote", "intense quote", "block text", "blockquote", "block quotation", "quotations"})
_LIST_TEXT = "list paragraph"
_BODY_LEVEL = 6
"""Outline levels from here on are not treated as headings."""
MAX_PARENTS = 12
"""Maximum length of a chain of base styles; also stops circular chains."""


@record
class WordRun:
    """Text in one style; a line feed is a line break inside the paragraph."""

    text: str
    italic: bool = False
    bold: bool = False


@record
class WordParagraph:
    """One paragraph."""

    runs: tuple[WordRun, ...]
    level: int | None = None
    """Level of a heading, 1 to 6; 0 for the title of the document; None if it is not a heading."""
    listed: bool = False
    """Whether it is a list entry, by its own properties or its style."""
    list_text: bool = False
    """Whether it has the style "List Paragraph" (layout of a list entry), where any number is plain text."""
    quote: bool = False
    apart: bool = False
    """Whether it has its own setting of space before the paragraph."""

    @property
    def text(self) -> str:
        """The text of all runs."""
        return "".join(run.text for run in self.runs)


@record
class Table:
    """A table: rows of cells, each of which contains blocks."""

    rows: "tuple[tuple[tuple[Block, ...], ...], ...]"


Block = WordParagraph | Table


@record
class WordDocument:
    """The content of a Word document."""

    blocks: tuple[Block, ...]
    properties: dict[str, str]
    """`title`, `creator`, `keywords`, `contentStatus`; empty where the document has none."""
    omitted: dict[Omission, int]
    """How often each kind of content was left out."""


def read_word(source: Path | bytes, limits: ImportLimits = DEFAULT) -> WordDocument:
    """Read a document.

    Args:
        source: The file, or its content.
        limits: Maximum sizes of what is read.

    Raises:
        DocumentRefused: `not_a_docx`, or as `Archive` and `parse_xml` raise it.
    """
    with Archive(source, limits) as archive:
        document = archive.xml("word/document.xml")
        if document is None:
            raise DocumentRefused("The file is a zip archive, but not a Word document.", code="not_a_docx")
        core = archive.xml("docProps/core.xml")
        reader = _Reader(_Styles(archive.xml("word/styles.xml")))
        blocks = tuple(block for body in document.iter(f"{_W}body") for block in reader.blocks(body))
        for name in archive.names():
            if name.startswith(("word/header", "word/footer")) and _says_something(archive.xml(name)):
                reader.omitted["header_footer"] += 1
    tags = {"title": f"{_DC}title", "creator": f"{_DC}creator"}
    tags |= {name: f"{_CP}{name}" for name in ("keywords", "contentStatus")}
    properties = {name: _property(core, tag) for name, tag in tags.items()}
    return WordDocument(blocks=blocks, properties=properties, omitted=dict(reader.omitted))


class _Reader:
    def __init__(self, styles: "_Styles") -> None:
        self._styles = styles
        self.omitted: Counter[Omission] = Counter()

    def blocks(self, parent: Any) -> Iterator[Block]:
        """Yield the paragraphs and tables of a body, a cell or a content control."""
        for child in parent:
            if child.tag == f"{_W}p":
                yield self._paragraph(child)
            elif child.tag == f"{_W}tbl":
                yield Table(rows=tuple(self._cells(row) for row in _inner(child, f"{_W}tr")))
            elif child.tag in _THROUGH:
                yield from self.blocks(child)

    def _cells(self, row: Any) -> tuple[tuple[Block, ...], ...]:
        return tuple(tuple(self.blocks(cell)) for cell in _inner(row, f"{_W}tc"))

    def _paragraph(self, paragraph: Any) -> WordParagraph:
        form = paragraph.find(f"{_W}pPr")
        return WordParagraph(
            runs=tuple(self._runs(paragraph)),
            level=self._styles.level(form),
            listed=self._styles.is_listed(form),
            list_text=self._styles.has_name(form, frozenset({_LIST_TEXT})),
            quote=self._styles.has_name(form, _QUOTES),
            apart=_asks_for_a_gap(form),
        )

    def _runs(self, parent: Any) -> Iterator[WordRun]:
        for child in parent:
            if child.tag == f"{_W}r":
                yield from self._run(child)
            elif child.tag in _OMITTED:
                self.omitted[_OMITTED[child.tag]] += 1
            elif child.tag in _THROUGH:
                if child.tag in _MARKED:
                    self.omitted[_MARKED[child.tag]] += 1
                yield from self._runs(child)

    def _run(self, run: Any) -> Iterator[WordRun]:
        form = run.find(f"{_W}rPr")
        if _is_on(form, "vanish"):
            self.omitted["hidden_text"] += 1
            return
        if any(_is_on(form, name) for name in ("strike", "dstrike", "smallCaps", "caps")) or _value(form, "vertAlign"):
            self.omitted["formatting"] += 1
        text = "".join(map(self._written, run))
        yield WordRun(text=text, italic=self._styles.has(form, "i"), bold=self._styles.has(form, "b"))

    def _written(self, child: Any) -> str:
        if child.tag == f"{_W}t":
            return child.text or ""
        if child.tag == f"{_W}br":
            return "\n" if child.get(f"{_W}type", "textWrapping") == "textWrapping" else ""
        if child.tag in _OMITTED:
            self.omitted[_OMITTED[child.tag]] += 1
        return _SIGNS.get(child.tag, "")


class _Styles:
    """The style sheet of one document."""

    def __init__(self, sheet: Any | None) -> None:
        self._styles = {} if sheet is None else {style.get(f"{_W}styleId"): style for style in sheet.iter(f"{_W}style")}

    def level(self, form: Any | None) -> int | None:
        """Return the level of a heading with these properties; 0: the title; None: not a heading."""
        own = _outline_level(form)
        if own is not None:
            return own
        named = _value(form, "pStyle")
        if named is not None and named not in self._styles:
            # Style names are localised; for a style that the sheet does not define, use its English id (`Heading1`).
            return _named_level(re.sub(r"(?<=[a-z])(?=\d)", " ", named))
        for style in self._chain(named):
            level = _named_level(_value(style, "name") or "")
            level = _outline_level(style.find(f"{_W}pPr")) if level is None else level
            if level is not None:
                return level
        return None

    def has_name(self, form: Any | None, names: frozenset[str]) -> bool:
        """Return whether the style of a paragraph, or one it is based on, has one of these names."""
        return any((_value(style, "name") or "").casefold() in names for style in self._chain(_value(form, "pStyle")))

    def is_listed(self, form: Any | None) -> bool:
        """Return whether a paragraph is a list entry, by its own properties or its style."""
        held = [form, *(style.find(f"{_W}pPr") for style in self._chain(_value(form, "pStyle")))]
        return any(properties is not None and properties.find(f"{_W}numPr") is not None for properties in held)

    def has(self, form: Any | None, name: str) -> bool:
        """Return whether a run is italic (`i`) or bold (`b`), by its own properties or its style."""
        chain = self._chain(_value(form, "rStyle"))
        for properties in (form, *(style.find(f"{_W}rPr") for style in chain)):
            if properties is not None and properties.find(f"{_W}{name}") is not None:
                return _is_on(properties, name)
        return False

    def _chain(self, style_id: str | None) -> list[Any]:
        """Return a style and those it is based on."""
        chain: list[Any] = []
        while style_id in self._styles and len(chain) < MAX_PARENTS:
            chain.append(self._styles[style_id])
            style_id = _value(chain[-1], "basedOn")
        return chain


def _named_level(name: str) -> int | None:
    folded = name.casefold()
    found = _HEADING.fullmatch(folded)
    if found:
        return int(found.group(1))
    return 0 if folded in _TITLES else None


def _outline_level(form: Any | None) -> int | None:
    level = _value(form, "outlineLvl")
    return int(level) + 1 if level is not None and level.isdecimal() and int(level) < _BODY_LEVEL else None


def _asks_for_a_gap(form: Any | None) -> bool:
    found = None if form is None else form.find(f"{_W}spacing")
    return found is not None and found.get(f"{_W}before", "0") != "0"


def _inner(parent: Any, tag: str) -> Iterator[Any]:
    """Yield the rows of a table or the cells of a row, without those of nested tables."""
    for child in parent:
        if child.tag == tag:
            yield child
        elif child.tag in _THROUGH:
            yield from _inner(child, tag)


def _value(properties: Any | None, name: str) -> str | None:
    found = None if properties is None else properties.find(f"{_W}{name}")
    return None if found is None else found.get(f"{_W}val")


def _is_on(properties: Any | None, name: str) -> bool:
    """Return whether a switch is on: the element is present and its value is not off."""
    found = None if properties is None else properties.find(f"{_W}{name}")
    return found is not None and found.get(f"{_W}val", "true").lower() not in {"0", "false", "off", "none"}


def _says_something(part: Any) -> bool:
    return part is not None and any((text.text or "").strip() for text in part.iter(f"{_W}t"))


def _property(core: Any, tag: str) -> str:
    found = None if core is None else core.find(tag)
    return "" if found is None else " ".join((found.text or "").split())

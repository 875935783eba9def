"""A Word document: its paragraphs in lines, its headings by style. Only the parts that hold text are unpacked."""

import io
import zipfile
from collections.abc import Iterator
from typing import Any

from tallystick.import_limits import DEFAULT, ImportLimits
from tallystick.rooms.desk.kb.nouns import Heading, Unreadable, Written
from tallystick.storage.archives import DAMAGED

MAX_ENTRIES = 5_000
MAX_RATIO = 200
"""Word's own XML packs to a tenth or a twentieth."""
FREE_OF_RATIO = 1024 * 1024
MAX_DEPTH = 200
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_CP = "{http://schemas.openxmlformats.org/package/2006/metadata/core-properties}"
_DC = "{http://purl.org/dc/elements/1.1/}"
_THROUGH = frozenset(
    f"{_W}{name}" for name in ("ins", "moveTo", "hyperlink", "smartTag", "sdt", "sdtContent", "fldSimple")
)
_LEFT_OUT = {f"{_W}del": "deleted text", f"{_W}moveFrom": "deleted text", f"{_W}commentReference": "comment"}


def read_docx(data: bytes, limits: ImportLimits = DEFAULT) -> Written:
    """One document.

    Raises:
        Unreadable: `damaged`, `archive_bomb`, `xml_unsafe` or `not_a_document`.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            _check(archive)
            document = _xml(archive, "word/document.xml", limits)
            styles = _xml(archive, "word/styles.xml", limits)
            core = _xml(archive, "docProps/core.xml", limits)
    except DAMAGED as error:
        message = "It is no Word document that can be opened. Save it again without a password."
        raise Unreadable("damaged", message) from error
    if document is None:
        raise Unreadable("not_a_document", "It is an archive, but no Word document.")
    reader = _Reader(_levels(styles))
    for body in document.iter(f"{_W}body"):
        reader.blocks(body)
    return Written(
        text="\n".join(reader.lines), headings=tuple(reader.headings),
        title=_said(core, f"{_DC}title") or next((heading.text for heading in reader.headings), ""),
        about=_about(core), left_out=tuple(sorted(reader.left_out)),
    )  # fmt: skip


class _Reader:
    def __init__(self, levels: dict[str, int]) -> None:
        self._levels = levels
        self.lines: list[str] = []
        self.headings: list[Heading] = []
        self.left_out: set[str] = set()

    def blocks(self, parent: Any) -> None:
        """The paragraphs and tables of a body, a cell or a content control."""
        for child in parent:
            if child.tag == f"{_W}p":
                self._paragraph(child)
            elif child.tag == f"{_W}tbl":
                self._table(child)
            elif child.tag in _THROUGH:
                self.blocks(child)

    def _paragraph(self, paragraph: Any) -> None:
        text = " ".join("".join(self._texts(paragraph)).split())
        if not any(map(str.isalnum, text)):
            return
        form = paragraph.find(f"{_W}pPr")
        style = None if form is None else form.find(f"{_W}pStyle")
        name = "" if style is None else style.get(f"{_W}val", "")
        listed = form is not None and form.find(f"{_W}numPr") is not None
        level = self._levels.get(name)
        if self.lines and not listed:
            self.lines.append("")
        self.lines.append(f"- {text}" if listed and level is None else text)
        if level is not None:
            self.headings.append(Heading(line=len(self.lines), level=level, text=text))

    def _table(self, table: Any) -> None:
        self.lines += [""] if self.lines else []
        for row in table.iter(f"{_W}tr"):
            cells = [" ".join("".join(self._texts(cell)).split()) for cell in row.iter(f"{_W}tc")]
            if any(cells):
                self.lines.append(" | ".join(cells))

    def _texts(self, parent: Any) -> Iterator[str]:
        for child in parent:
            if child.tag == f"{_W}r":
                yield from self._run(child)
            elif child.tag in _LEFT_OUT:
                self.left_out.add(_LEFT_OUT[child.tag])
            elif child.tag == f"{_W}p":
                yield from self._texts(child)
                yield " "
            elif child.tag in _THROUGH:
                yield from self._texts(child)

    def _run(self, run: Any) -> Iterator[str]:
        form = run.find(f"{_W}rPr")
        vanish = None if form is None else form.find(f"{_W}vanish")
        if vanish is not None and vanish.get(f"{_W}val", "1") not in {"0", "false", "off"}:
            self.left_out.add("hidden text")
            return
        for child in run:
            if child.tag == f"{_W}t":
                yield child.text or ""
            elif child.tag in {f"{_W}tab", f"{_W}br", f"{_W}cr"}:
                yield " "
            elif child.tag in _LEFT_OUT:
                self.left_out.add(_LEFT_OUT[child.tag])


def _levels(styles: Any) -> dict[str, int]:
    """Style → level of its headings. Word translates the ids of its styles, not the names."""
    levels = {"Title": 1, **{f"Heading{level}": level for level in range(1, 7)}}
    for style in () if styles is None else styles.iter(f"{_W}style"):
        named = style.find(f"{_W}name")
        name = "" if named is None else named.get(f"{_W}val", "").lower()
        if name == "title":
            levels[style.get(f"{_W}styleId", "")] = 1
        elif name.startswith("heading ") and name[8:].isdecimal():
            levels[style.get(f"{_W}styleId", "")] = min(int(name[8:10]), 6)
    return levels


def _about(core: Any) -> dict[str, str]:
    """Word keeps a document's status among its properties; what replaced it may stand among its keywords."""
    about = {"status": _said(core, f"{_CP}contentStatus")}
    for word in _said(core, f"{_CP}keywords").replace(";", ",").split(","):
        name, sign, value = word.partition(":")
        if sign:
            about.setdefault(name.strip().lower(), value.strip())
    return about


def _said(core: Any, tag: str) -> str:
    found = None if core is None else core.find(tag)
    return "" if found is None else " ".join((found.text or "").split())


def _check(archive: zipfile.ZipFile) -> None:
    parts = archive.infolist()
    huge = [part for part in parts if part.file_size > max(FREE_OF_RATIO, part.compress_size * MAX_RATIO)]
    if len(parts) > MAX_ENTRIES or huge:
        raise Unreadable("archive_bomb", "It would unpack to far more than a document. Save it again.")


def _xml(archive: zipfile.ZipFile, name: str, limits: ImportLimits) -> Any | None:
    # Loaded when there is a Word document to read.
    from xml.etree.ElementTree import ParseError  # noqa: PLC0415 - the error's class alone

    from defusedxml import DefusedXmlException  # noqa: PLC0415
    from defusedxml.ElementTree import fromstring  # noqa: PLC0415

    try:
        entry = archive.getinfo(name)
    except KeyError:
        return None
    with archive.open(entry) as part:
        # What the directory says is not believed: parts may overlap, or unpack to more.
        data = part.read(limits.document_bytes + 1)
    if len(data) > limits.document_bytes:
        message = (
            f"It would unpack to far more than a document. Save it again, or raise {limits.named('document_bytes')}."
        )
        raise Unreadable("archive_bomb", message)
    try:
        tree = fromstring(data, forbid_dtd=True)
    except DefusedXmlException:
        raise Unreadable("xml_unsafe", "It brings entities of its own. Save it again without them.") from None
    except (ParseError, ValueError, LookupError) as error:
        raise Unreadable("damaged", "Its text is damaged. Save it again.") from error
    if _is_too_deep(tree):
        raise Unreadable("xml_unsafe", "It nests deeper than any text. Save it again.")
    return tree


def _is_too_deep(tree: Any) -> bool:
    level, depth = [tree], 0
    while level and depth <= MAX_DEPTH:
        level = [child for element in level for child in element]
        depth += 1
    return bool(level)

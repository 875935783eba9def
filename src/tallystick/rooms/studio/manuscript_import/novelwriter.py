"""Reads a novelWriter project: the tree of its project file, and one text file per document and note."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tallystick.import_limits import DEFAULT, ImportLimits
from tallystick.records import record
from tallystick.rooms.studio.book.model import CardKind
from tallystick.rooms.studio.manuscript_import.folder import SourceFiles
from tallystick.rooms.studio.manuscript_import.model import (
    CardDraft,
    ChapterDraft,
    Losses,
    Manuscript,
    SceneDraft,
    SourceRefused,
)
from tallystick.rooms.studio.manuscript_import.novelwriter_text import Document, Section, read_document
from tallystick.rooms.studio.manuscript_import.structure import settled
from tallystick.text.documents.archive import parse_xml

PROJECT = "nwProject.nwx"
_HANDLE = re.compile(r"[0-9a-f]{13}")
_KINDS: dict[str, CardKind] = {
    "CHARACTER": "character",
    "WORLD": "location",
    "PLOT": "theme",
    "TIMELINE": "event",
    "OBJECT": "technology",
    "ENTITY": "faction",
    "CUSTOM": "misc",
}
_REFERENCES = {
    "pov": "pov",
    "focus": "focus",
    "char": "characters",
    "location": "locations",
    "plot": "plot",
    "time": "timeline",
    "object": "objects",
    "entity": "factions",
    "custom": "mentions",
    "mention": "mentions",
    "story": "story",
}
_OLDEST = (1, 5)


@record
class _Item:
    handle: str
    parent: str
    order: int
    kind: str
    """ROOT, FOLDER or FILE."""
    group: str
    """NOVEL, CHARACTER, …."""
    layout: str
    name: str
    active: bool
    """Whether the author wants it in the manuscript."""


def read_novelwriter(folder: Path, losses: Losses, limits: ImportLimits = DEFAULT) -> Manuscript:
    """A whole project.

    Raises:
        SourceRefused: The project file is missing, damaged or of an old version.
    """
    files = SourceFiles(limits)
    tree = parse_xml(files.read(folder / PROJECT), PROJECT)
    _check_version(tree)
    items = [_item(element) for element in tree.iter("item")]
    documents = [(item, _document(folder, item, losses, files)) for item in _in_order(items) if item.kind == "FILE"]
    notes = [(item, document) for item, document in documents if document is not None and item.layout == "NOTE"]
    names = {tag: document.name for item, document in notes for tag in document.tags if item.group in _KINDS}
    story = [(item, doc) for item, doc in documents if doc is not None and item.layout != "NOTE"]
    maker = _Maker(names, losses)
    for item, document in story:
        if item.group == "NOVEL":
            maker.take(document)
    return Manuscript(
        format="novelwriter",
        title=maker.title or _text(tree, "project/name"),
        author=_text(tree, "project/author"),
        chapters=maker.finished(),
        cards=tuple(_cards(notes)),
    )


def _check_version(tree: Any) -> None:
    found = re.fullmatch(r"([0-9]{1,3})\.([0-9]{1,3})", tree.get("fileVersion", ""))
    if tree.tag != "novelWriterXML" or found is None:
        raise SourceRefused(f"{PROJECT} is not a novelWriter project file.", code="not_a_novelwriter_project")
    if (int(found.group(1)), int(found.group(2))) < _OLDEST:
        message = (
            "The project is of an old version. Open it once in novelWriter 2.0 or later, which brings it up to date."
        )
        raise SourceRefused(message, code="novelwriter_too_old")


def _item(element: Any) -> _Item:
    order = element.get("order", "0")
    named = element.find("name")
    return _Item(
        handle=element.get("handle", ""),
        parent=element.get("parent", "None"),
        order=int(order) if order.isdigit() else 0,
        kind=element.get("type", ""),
        group=element.get("class", ""),
        layout=element.get("layout", ""),
        name=_text(element, "name"),
        active=named is None or named.get("active") != "no",
    )


def _in_order(items: list[_Item]) -> Iterator[_Item]:
    """As the project tree shows them, from top to bottom; each once, however the file is made."""
    below: dict[str, list[_Item]] = {}
    for item in items:
        below.setdefault(item.parent, []).append(item)
    waiting = sorted(below.get("None", []), key=lambda item: item.order, reverse=True)
    seen: set[str] = set()
    while waiting:
        item = waiting.pop()
        if item.handle in seen:
            continue
        seen.add(item.handle)
        yield item
        waiting += sorted(below.get(item.handle, []), key=lambda inner: inner.order, reverse=True)


def _document(folder: Path, item: _Item, losses: Losses, files: SourceFiles) -> Document | None:
    where = item.name or item.handle
    set_aside = item.layout == "DOCUMENT" and not item.active
    if set_aside or item.group in {"ARCHIVE", "TRASH", "TEMPLATE"}:
        losses.add("not_carried", where)
        return None
    path = folder / "content" / f"{item.handle}.nwd"
    # A handle is a name of a file; what is none must not become a path.
    if not _HANDLE.fullmatch(item.handle) or path.is_symlink() or not path.is_file():
        losses.add("chapter_unreadable", where)
        return None
    return read_document(files.read(path), where, losses)


def _cards(notes: "list[tuple[_Item, Document]]") -> Iterator[CardDraft]:
    for item, document in notes:
        kind = _KINDS.get(item.group, "misc")
        aliases = tuple(tag for tag in document.tags if tag.casefold() != document.name.casefold())
        yield CardDraft(kind=kind, name=document.name, aliases=aliases, blocks=document.all_blocks())


class _Maker:
    """Chapters and scenes, document by document."""

    def __init__(self, names: dict[str, str], losses: Losses) -> None:
        self.title = ""
        self._losses = losses
        self._names = names
        self._part: str | None = None
        self._chapters: list[tuple[str, str | None, list[SceneDraft]]] = []

    def take(self, document: Document) -> None:
        """The sections of one document."""
        for section in document.sections:
            if section.role == "title":
                self.title = self.title or section.heading
                words = sum(len(block.split()) for block in section.blocks)
                if words:
                    self._losses.add("front_matter", section.heading, words)
            elif section.role == "part":
                self._part = section.heading
            else:
                self._story(section)

    def _story(self, section: Section) -> None:
        if section.role == "chapter":
            self._chapters.append((section.heading, self._part, []))
        if not section.blocks:
            return
        if not self._chapters:
            self._chapters.append(("", self._part, []))
        title = section.heading if section.role == "scene" else None
        scene = SceneDraft(title=title or None, blocks=section.blocks, front=self._front(section.references))
        self._chapters[-1][2].append(scene)

    def finished(self) -> tuple[ChapterDraft, ...]:
        """All chapters."""
        made = [ChapterDraft(title=title, part=part, scenes=tuple(scenes)) for title, part, scenes in self._chapters]
        return settled(made, self._losses, PROJECT)

    def _front(self, references: dict[str, list[str]]) -> dict[str, str | tuple[str, ...]]:
        front: dict[str, str | tuple[str, ...]] = {}
        for key, tags in references.items():
            named = tuple(self._names.get(tag, tag) for tag in tags)
            if key == "synopsis":
                front[key] = " ".join(tags)
            elif key in _REFERENCES and named:
                field = _REFERENCES[key]
                front[field] = named[0] if field == "pov" else named
        return front


def _text(element: Any, path: str) -> str:
    found = element.find(path)
    return "" if found is None else " ".join((found.text or "").split())

"""An e-book: the documents of its spine, in their order."""

import posixpath
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from tallystick.import_limits import DEFAULT, ImportLimits
from tallystick.rooms.studio.importing.archive import Archive
from tallystick.rooms.studio.importing.assembling import assemble
from tallystick.rooms.studio.importing.nouns import Losses, Manuscript, Piece, SourceRefused
from tallystick.rooms.studio.importing.xhtml import Page, Style, class_styles

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
        raise SourceRefused(f"{name:.100} is no e-book: it names no contents.", code="not_an_epub")
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
    except SourceRefused:
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

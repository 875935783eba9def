"""The index file: what was read of each document, keyed by its file's hash; only changed files are read again.

The file is built from the documents and can be deleted at any time; a damaged file or one of another version is
ignored.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from tallystick.rooms.desk.kb.model import Document, Section, UnusedFile
from tallystick.storage.file_cache import Signature
from tallystick.storage.journal import disk

VERSION = "6"
"""Of everything that decides what is kept: how files are read. Raise it with any change there."""
MAX_BYTES = 1024**3


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One document or unreadable file, as of its last reading."""

    signature: Signature
    sha256: str
    document: Document | None
    """Of Markdown and text without its text, which is read from the file when it is needed."""
    unused: UnusedFile | None = None


def entry_of(document: Document, signature: Signature) -> Entry:
    """The entry of a document that was read."""
    return Entry(signature=signature, sha256=document.sha256, document=document)


class IndexFile:
    """The index file in `.control-room`."""

    def __init__(self, path: Path, root: Path) -> None:
        """Name the file; it need not be there.

        Args:
            path: Where it is kept.
            root: Whose documents they are; what was kept of another folder counts for nothing.
        """
        self._path = path
        self._root = str(root)

    def load(self) -> dict[str, Entry]:
        """What is kept; empty when nothing usable is."""
        try:
            if self._path.stat().st_size > MAX_BYTES:
                return {}
            kept = orjson.loads(disk.read_whole(self._path) or b"null")
            if not isinstance(kept, dict) or (kept["version"], kept["root"]) != (VERSION, self._root):
                return {}
            return {doc: _loaded(doc, each) for doc, each in kept["documents"].items()}
        except (OSError, ValueError, KeyError, TypeError, IndexError):
            return {}

    def save(self, entries: Mapping[str, Entry]) -> None:
        """Keep this; a disk that is full or closed only means that the next start is slower."""
        documents = {doc: _saved(entry) for doc, entry in entries.items()}
        kept = {"version": VERSION, "root": self._root, "documents": documents}
        try:
            disk.make_folder(self._path.parent)
            disk.write_whole(self._path, orjson.dumps(kept), durable=False)
        except OSError:
            return


def _saved(entry: Entry) -> dict[str, Any]:
    saved: dict[str, Any] = {"signature": entry.signature, "sha256": entry.sha256}
    if entry.unused is not None:
        return saved | {"unused": [entry.unused.code, entry.unused.message]}
    document = entry.document
    if document is None:
        return saved
    about = {
        "kind": document.kind,
        "title": document.title,
        "standing": document.standing,
        "by": document.superseded_by,
        "left_out": document.left_out,
        "text": document.text if is_made(document) else None,
        "sections": [[each.name, each.first_line, each.last_line, each.text_line] for each in document.sections],
    }
    return saved | {"document": about}


def _loaded(doc: str, saved: Mapping[str, Any]) -> Entry:
    first, second, third, fourth, fifth = saved["signature"]
    signature = (first, second, third, fourth, fifth)
    if "document" not in saved:
        code, message = saved["unused"]
        unused = UnusedFile(doc=doc, code=code, message=message)
        return Entry(signature=signature, sha256=saved["sha256"], document=None, unused=unused)
    about = saved["document"]
    document = Document(
        doc=doc,
        kind=about["kind"],
        title=about["title"],
        text=about["text"] or "",
        sha256=saved["sha256"],
        sections=tuple(_sections(about["sections"])),
        standing=about["standing"],
        superseded_by=about["by"],
        left_out=tuple(about["left_out"]),
    )
    return Entry(signature=signature, sha256=saved["sha256"], document=document)


def _sections(saved: Iterable[tuple[str, int, int, int]]) -> Iterable[Section]:
    return (Section(name=name, first_line=begin, last_line=last, text_line=text) for name, begin, last, text in saved)


def is_made(document: Document) -> bool:
    """Whether the text was made from the file, and is not the file itself."""
    return document.kind in {"html", "docx", "pdf"}

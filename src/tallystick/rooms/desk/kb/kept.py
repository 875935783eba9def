"""What was read of each document, kept by the hash of its file, so that only what changed is read again.

The file is made from the documents and can be thrown away at any time: one that is damaged, or of another version of
this code, is as good as none.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import orjson

from tallystick.rooms.desk.kb.index import Counted, count
from tallystick.rooms.desk.kb.nouns import Document, Passage, Section, Unused
from tallystick.rooms.desk.kb.passages import passages_of
from tallystick.rooms.desk.kb.words import stems
from tallystick.storage.file_cache import Signature
from tallystick.storage.journal import disk

VERSION = 2
"""Of everything that decides what is kept: how files are read, cut and counted. Raise it with any change there."""
MAX_BYTES = 1024**3


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One document, or one file that gives none, as it was when it was read."""

    signature: Signature
    sha256: str
    document: Document | None
    """Of Markdown and text without its text, which is read from the file when it is needed."""
    passages: tuple[Passage, ...] = ()
    words: tuple[Counted, ...] = ()
    """Of each passage."""
    unused: Unused | None = None


def entry_of(document: Document, signature: Signature) -> Entry:
    """Cut and count one document."""
    passages = tuple(passages_of(document))
    # Folders and file names say what a document is about as its title does.
    named = re.sub(r"[\d\W_]+", " ", PurePosixPath(document.doc).with_suffix("").as_posix())
    title = list(stems(f"{document.title} {named}"))
    words = tuple(
        count(stems(document.text[each.start : each.end]), stems(document.sections[each.section].name), title)
        for each in passages
    )
    return Entry(signature=signature, sha256=document.sha256, document=document, passages=passages, words=words)


class IndexFile:
    """The file in the control room."""

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
            vocabulary: list[str] = kept["words"]
            return {doc: _loaded(doc, each, vocabulary) for doc, each in kept["documents"].items()}
        except (OSError, ValueError, KeyError, TypeError, IndexError):
            return {}

    def save(self, entries: Mapping[str, Entry]) -> None:
        """Keep this; a disk that is full or closed only means that the next start is slower."""
        vocabulary: dict[str, int] = {}
        documents = {doc: _saved(entry, vocabulary) for doc, entry in entries.items()}
        kept = {"version": VERSION, "root": self._root, "words": list(vocabulary), "documents": documents}
        try:
            disk.make_folder(self._path.parent)
            disk.write_whole(self._path, orjson.dumps(kept), durable=False)
        except OSError:
            return


def _saved(entry: Entry, vocabulary: dict[str, int]) -> dict[str, Any]:
    saved: dict[str, Any] = {"signature": entry.signature, "sha256": entry.sha256}
    if entry.unused is not None:
        return saved | {"unused": [entry.unused.code, entry.unused.message]}
    document = entry.document
    if document is None:
        return saved
    about = {
        "kind": document.kind, "title": document.title, "standing": document.standing, "by": document.superseded_by,
        "left_out": document.left_out, "text": document.text if is_made(document) else None,
        "sections": [[each.name, each.first_line, each.last_line, each.text_line] for each in document.sections],
    }  # fmt: skip
    passages = [[each.section, each.first_line, each.last_line, each.start, each.end] for each in entry.passages]
    words = [_packed(each, vocabulary) for each in entry.words]
    return saved | {"document": about, "passages": passages, "counts": words}


def _packed(words: Counted, vocabulary: dict[str, int]) -> list[Any]:
    numbers = [vocabulary.setdefault(word, len(vocabulary)) for word in words.counts]
    return [numbers, list(words.counts.values()), words.run]


def _loaded(doc: str, saved: Mapping[str, Any], vocabulary: list[str]) -> Entry:
    first, second, third, fourth, fifth = saved["signature"]
    signature = (first, second, third, fourth, fifth)
    if "document" not in saved:
        code, message = saved["unused"]
        unused = Unused(doc=doc, code=code, message=message)
        return Entry(signature=signature, sha256=saved["sha256"], document=None, unused=unused)
    about = saved["document"]
    document = Document(
        doc=doc, kind=about["kind"], title=about["title"], text=about["text"] or "", sha256=saved["sha256"],
        sections=tuple(_sections(about["sections"])), standing=about["standing"], superseded_by=about["by"],
        left_out=tuple(about["left_out"]),
    )  # fmt: skip
    passages = tuple(
        Passage(section=section, first_line=begin, last_line=last, start=start, end=end)
        for section, begin, last, start, end in saved["passages"]
    )
    words = tuple(_unpacked(each, vocabulary) for each in saved["counts"])
    return Entry(signature=signature, sha256=saved["sha256"], document=document, passages=passages, words=words)


def _unpacked(saved: Sequence[Any], vocabulary: list[str]) -> Counted:
    numbers, counts, run = saved
    found = dict(zip([vocabulary[number] for number in numbers], counts, strict=True))
    return Counted(counts=found, run=run)


def _sections(saved: Iterable[tuple[str, int, int, int]]) -> Iterable[Section]:
    return (Section(name=name, first_line=begin, last_line=last, text_line=text) for name, begin, last, text in saved)


def is_made(document: Document) -> bool:
    """Whether the text was made from the file, and is not the file itself."""
    return document.kind in {"html", "docx", "pdf"}

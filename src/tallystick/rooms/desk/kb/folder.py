"""The documents of one folder; each is read again only when its file changes."""

import contextlib
import os
import time
import unicodedata
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from tallystick.errors import PathRefused
from tallystick.import_limits import DEFAULT, ImportLimits
from tallystick.rooms.desk.kb.document_reader import kind_of, read_document, too_large
from tallystick.rooms.desk.kb.index_file import Entry, IndexFile, entry_of, is_made
from tallystick.rooms.desk.kb.model import Document, UnusedFile
from tallystick.storage.file_cache import Signature, is_settled, signature_of
from tallystick.storage.files import FileSources
from tallystick.storage.paths import nameable
from tallystick.text.documents.model import DocumentRefused

MAX_FILES = 50_000
MAX_DEPTH = 32
MOST_OPEN = 256
"""Documents kept open with their texts."""
MOST_WATCHED = 200
"""Folders checked on every query; changes in others are seen a second later."""
_UNSETTLED: Signature = (0, 0, 0, 0, 0)
"""For a file that changed so shortly before it was read that a further change might not show: it is read again."""


class DocumentFolder:
    """A folder."""

    def __init__(
        self,
        root: Path,
        kept: IndexFile | None,
        *,
        clock_ns: Callable[[], int] = time.time_ns,
        limits: ImportLimits = DEFAULT,
    ) -> None:
        self._root, self._kept, self._clock_ns, self._limits = root, kept, clock_ns, limits
        self._files = FileSources(root, max_bytes=limits.document_bytes)
        self._entries: dict[str, Entry] = {}
        self._open: OrderedDict[tuple[str, str], Document] = OrderedDict()
        self._loaded = kept is None
        self._folders: dict[str, Signature] = {}
        """The folders that hold documents, as they were before the last look."""

    @property
    def entries(self) -> Mapping[str, Entry]:
        """What is known of each file, by path, in their order."""
        return self._entries

    def look(self) -> bool:
        """Read what changed in the folder; says whether anything did."""
        before = self._before()
        now = self._clock_ns()
        self._folders = {
            name: signature if is_settled(signature, now) else _UNSETTLED
            for name, signature in self._folders_of(before).items()
        }
        after: dict[str, Entry] = {}
        for doc, signature in walk(self._root).items():
            held = before.get(doc)
            after[doc] = held if held is not None and held.signature == signature else self._read(doc, signature, held)
        changed = before.keys() != after.keys() or any(before[doc] is not entry for doc, entry in after.items())
        self._entries = after
        if changed and self._kept is not None:
            self._kept.save(after)
        return changed

    def stirred(self) -> bool:
        """Whether files came or went since the last look, in the folders known by then: a question of a moment."""
        return self._folders != self._folders_of(self._entries)

    def document(self, doc: str) -> Document | None:
        """One document as it is now; None: there is none.

        Raises:
            PathRefused: The path leaves the folder, or names no plain file.
            DocumentRefused: It is no document, or cannot be read.
        """
        try:
            found = self._files.read_bytes(doc)
        except PathRefused as refused:
            if refused.code == "not_found":
                return None
            raise
        if found.sha256 is None:
            raise too_large(self._limits)
        key = (found.path, found.sha256)
        document = self._open.pop(key, None) or self._made(*key) or read_document(found.path, found.data, self._limits)
        self._open[key] = document
        if len(self._open) > MOST_OPEN:
            self._open.popitem(last=False)
        return document

    def _folders_of(self, entries: Mapping[str, Entry]) -> dict[str, Signature]:
        found: dict[str, Signature] = {}
        for name in sorted({"", *(doc.rpartition("/")[0] for doc in entries)})[:MOST_WATCHED]:
            with contextlib.suppress(OSError):  # taken away meanwhile: then it is not among them
                found[name] = signature_of((self._root / name).stat())
        return found

    def _before(self) -> dict[str, Entry]:
        if not self._loaded and self._kept is not None:
            self._loaded, self._entries = True, self._kept.load()
        return self._entries

    def _made(self, doc: str, digest: str) -> Document | None:
        """What was made of this very file before: a PDF is not read twice."""
        held = self._entries.get(doc)
        document = None if held is None or held.sha256 != digest else held.document
        return document if document is not None and is_made(document) else None

    def _read(self, doc: str, signature: Signature, held: Entry | None) -> Entry:
        settled = signature if is_settled(signature, self._clock_ns()) else _UNSETTLED
        digest = ""
        try:
            found = self._files.read_bytes(doc)
            if found.sha256 is None:
                raise too_large(self._limits)
            digest = found.sha256
            if held is not None and held.sha256 == digest:
                # Touched, copied or fetched anew, but the same.
                return replace(held, signature=settled)
            return entry_of(read_document(doc, found.data, self._limits), settled)
        except DocumentRefused as why:
            unused = UnusedFile(doc=doc, code=why.code, message=str(why))
        except PathRefused as refused:
            unused = UnusedFile(doc=doc, code=refused.code, message=str(refused))
        return Entry(signature=settled, sha256=digest, document=None, unused=unused)


def walk(root: Path) -> dict[str, Signature]:
    """Every file that may be a document → what changes when it does; in order of their names."""
    found: dict[str, Signature] = {}
    for doc, signature in _under(root, "", MAX_DEPTH):
        if len(found) >= MAX_FILES:
            break
        found[doc] = signature
    return dict(sorted(found.items()))


def _under(folder: Path, path: str, depth: int) -> Iterator[tuple[str, Signature]]:
    try:
        with os.scandir(folder) as entries:
            listed = sorted(entries, key=lambda entry: entry.name)
    except OSError:
        # Taken away or closed meanwhile: nothing to list there.
        return
    for entry in listed:
        if entry.name.startswith(".") or not nameable(entry.name):
            continue
        doc = path + unicodedata.normalize("NFC", entry.name)
        if entry.is_dir(follow_symlinks=False):
            if depth > 0:
                yield from _under(Path(entry.path), f"{doc}/", depth - 1)
        elif entry.is_file(follow_symlinks=False) and kind_of(doc) is not None:
            try:
                yield doc, signature_of(entry.stat(follow_symlinks=False))
            except OSError:
                continue

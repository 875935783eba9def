"""The knowledge base: search passages and read documents. Changes in the folder take effect at once.

Before an answer the folder is looked through (at most once a second), and only files that changed are read again. The
text of a hit is taken from the document as it is now, never from what was kept of an older one.
"""

import re
import time
from collections.abc import Callable
from functools import cached_property
from pathlib import Path, PurePosixPath
from threading import RLock

from tallystick.errors import PathRefused
from tallystick.import_limits import DEFAULT, ImportLimits
from tallystick.reading.embedder import Embedder
from tallystick.reading.fts import FtsIndex
from tallystick.reading.index import IndexedDocument
from tallystick.reading.retriever import FoundPassage, Retriever
from tallystick.reading.vectors import VectorFile
from tallystick.rooms.desk.kb.confidence import EmbeddedTexts, ScoredPassage, score_search
from tallystick.rooms.desk.kb.disagreements import find_disagreements
from tallystick.rooms.desk.kb.folder import DocumentFolder
from tallystick.rooms.desk.kb.index_file import IndexFile
from tallystick.rooms.desk.kb.languages import SAMPLE, language_of
from tallystick.rooms.desk.kb.model import Document, Hit, SearchResult, SkippedDocument, UnusedFile
from tallystick.rooms.desk.kb.passages import answer_passages
from tallystick.rooms.desk.kb.readable_text import read_passage
from tallystick.text.documents.model import DocumentRefused

LOOK_S = 1.0
"""How long a look at the folder counts; looking through ten thousand files takes a tenth of a second."""
CANDIDATES = 16
"""Passages of documents that hold, of which the nearest to the question are chosen."""
SPARE = 12
"""Candidates beyond those, since some are of outdated documents."""
LEXICAL = 60
"""Passages whose lexical score is known."""
MOST_PASSED = 5
EMBED_S = 120.0
"""Time for the vectors of a folder that is new; what is left is found by its words until the next look."""
CUT = "1"
"""Of the cut of the passages; raise it with any change there."""


class KnowledgeBase:
    """The documents of one folder."""

    def __init__(
        self,
        root: Path,
        kept: Path,
        *,
        choose_embedder: Callable[[], Embedder | None] = lambda: None,
        monotonic: Callable[[], float] = time.monotonic,
        clock_ns: Callable[[], int] = time.time_ns,
        limits: ImportLimits = DEFAULT,
    ) -> None:
        """Set the folder; it is read on the first query.

        Args:
            root: The folder.
            kept: The folder of the index, which can be made again from the documents at any time.
            choose_embedder: Loads the embedding model on first use; None: passages are found by their words alone.
            monotonic: Tells how long ago the folder was looked at.
            clock_ns: The wall clock that the file system's times are compared with.
            limits: How large a document may be.
        """
        self.root = root.resolve()
        self._kept = kept
        self._folder = DocumentFolder(
            self.root, IndexFile(kept / "index.json", self.root), clock_ns=clock_ns, limits=limits
        )
        self._choose_embedder = choose_embedder
        self._monotonic = monotonic
        self._lock = RLock()
        self._looked: float | None = None
        self._embedded = EmbeddedTexts()
        self._spoken: tuple[str, ...] | None = None
        """Languages of the documents; None: they changed."""

    @cached_property
    def _index(self) -> FtsIndex:
        return FtsIndex(self._kept / "passages.db")

    @cached_property
    def _embedder(self) -> Embedder | None:
        return self._choose_embedder()

    @cached_property
    def _retriever(self) -> Retriever:
        vectors = None if self._embedder is None else VectorFile(self._kept / "vectors.db")
        return Retriever(
            self._index, read=self._indexed, vectors=vectors, choose_embedder=lambda: self._embedder, rerank=False
        )

    @property
    def is_there(self) -> bool:
        """Whether the folder exists."""
        return self.root.is_dir()

    def close(self) -> None:
        """Close the index."""
        if "_retriever" in self.__dict__:
            self._retriever.close()

    def search(self, query: str, k: int = 5) -> SearchResult:
        """The passages nearest to a question, of documents that hold, and how likely they answer it."""
        with self._lock:
            self.refresh()
            documents = {each.doc: each for each in self.documents()}
            found = self._retriever.search(query, limit=CANDIDATES + SPARE)
            current = [each for each in found if documents[each.name].standing == "current"][:CANDIDATES]
            passed = {each.name: _passed(documents[each.name]) for each in found}
            lexical = {(hit.name, hit.passage.number): hit.score for hit in self._index.search(query, limit=LEXICAL)}
            scored = score_search(query, current, lexical, self._embedder, self._embedded)
            return SearchResult(
                hits=tuple(hit for each in scored.passages[:k] if (hit := self._hit(each)) is not None),
                passed=tuple(each for each in passed.values() if each.standing != "current")[:MOST_PASSED],
                confidence=scored.confidence,
                disagreements=tuple(find_disagreements(query, scored.passages, self._embedder)),
                features=scored.features,
                language=language_of(query),
                languages=self._languages(),
                searched=len(documents),
            )

    def document(self, doc: str) -> Document | None:
        """One document as it is now; None: there is none.

        Raises:
            PathRefused: The path leaves the folder, or names no plain file.
            DocumentRefused: It is no document, or cannot be read.
        """
        with self._lock:
            return self._folder.document(doc)

    def documents(self) -> list[Document]:
        """All there are, in order; those of Markdown and text without their texts."""
        with self._lock:
            self.refresh()
            return [entry.document for entry in self._folder.entries.values() if entry.document is not None]

    def unused(self) -> list[UnusedFile]:
        """The files that give no document, and why."""
        with self._lock:
            self.refresh()
            return [entry.unused for entry in self._folder.entries.values() if entry.unused is not None]

    def refresh(self, *, now: bool = False) -> None:
        """Look through the folder, if the last look is not recent or files came or went since."""
        with self._lock:
            moment = self._monotonic()
            recent = self._looked is not None and moment - self._looked < LOOK_S
            # Somebody who adds a document and asks again must not get the old answer.
            if not now and recent and not self._folder.stirred():
                return
            changed = self._folder.look()
            if changed or self._looked is None:
                documents = (entry.document for entry in self._folder.entries.values())
                versions = {each.doc: _version(each) for each in documents if each is not None}
                self._retriever.update(versions, seconds=EMBED_S)
                self._spoken = None
            self._looked = moment

    def _languages(self) -> tuple[str, ...]:
        if self._spoken is None:
            opened = (self._open(each.doc) for each in self.documents())
            told = {language_of(document.text[:SAMPLE]) for document in opened if document is not None}
            known = [each for each in told if each is not None]
            self._spoken = tuple(sorted(known))
        return self._spoken

    def _indexed(self, doc: str) -> IndexedDocument | None:
        document = self._open(doc)
        if document is None:
            return None
        # Folders and file names say what a document is about as its title does.
        named = re.sub(r"[\d\W_]+", " ", PurePosixPath(doc).with_suffix("").as_posix()).strip()
        title = document.title if named.casefold() in document.title.casefold() else f"{document.title} ({named})"
        return IndexedDocument(
            name=doc,
            version=_version(document),
            title=title,
            text=document.text,
            passages=answer_passages(document),
        )

    def _open(self, doc: str) -> Document | None:
        try:
            return self._folder.document(doc)
        except (PathRefused, DocumentRefused):
            return None

    def _hit(self, scored: ScoredPassage) -> Hit | None:
        found: FoundPassage = scored.found
        document = self._open(found.name)
        if document is None or _version(document) != found.version:
            # It changed since we looked: what is kept of it says nothing any more.
            self._looked = None
            return None
        section = document.sections[found.passage.section].name
        headings = found.passage.headings
        lead = headings[-1] if headings and not section.endswith(headings[-1]) else ""
        return Hit(
            doc=document.doc,
            title=document.title,
            section=section,
            first_line=found.passage.first_line,
            last_line=found.passage.last_line,
            snippet=found.text,
            text=read_passage(found.text, lead),
            score=scored.score,
            sha256=document.sha256,
        )


def _version(document: Document) -> str:
    return f"{CUT} {document.sha256}"


def _passed(document: Document) -> SkippedDocument:
    return SkippedDocument(
        doc=document.doc, title=document.title, standing=document.standing, superseded_by=document.superseded_by
    )

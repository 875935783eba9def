"""A knowledge base that can be asked: searched by words, read by document. What changes in the folder shows at once.

Before an answer the folder is looked through (at most once a second), and only files that changed are read again. The
text of a hit is taken from the document as it is now, never from what was kept of an older one.
"""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import RLock

from tallystick.errors import PathRefused
from tallystick.import_limits import DEFAULT, ImportLimits
from tallystick.records import record
from tallystick.rooms.desk.kb.index import Found, Index, best_of
from tallystick.rooms.desk.kb.kept import Entry, IndexFile
from tallystick.rooms.desk.kb.meaning import CERTAIN, WEIGHT, Meaning
from tallystick.rooms.desk.kb.nouns import Answer, Document, Hit, Passed, Unreadable, Unused
from tallystick.rooms.desk.kb.shelf import Shelf

LOOK_S = 1.0
"""How long a look at the folder counts; looking through ten thousand files takes a tenth of a second."""
SPARE = 20
"""Passages looked at beyond those asked for, since some are of documents that no longer hold."""
CANDIDATES = 200
"""The best by words, and the best by meaning, among which the best by both are looked for."""
MOST_PASSED = 5


class KnowledgeBase:
    """The documents of one folder."""

    def __init__(
        self,
        root: Path,
        kept: Path | None = None,
        *,
        meaning: Meaning | None = None,
        monotonic: Callable[[], float] = time.monotonic,
        clock_ns: Callable[[], int] = time.time_ns,
        limits: ImportLimits = DEFAULT,
    ) -> None:
        """Name a folder; it is looked at when something is asked.

        Args:
            root: The folder.
            kept: The file in which what was read is kept for the next start; None: nowhere.
            meaning: The passages' vectors; None: passages are found by their words alone.
            monotonic: Tells how long ago the folder was looked at.
            clock_ns: The wall clock that the file system's times are compared with.
            limits: How large a document may be.
        """
        self.root = root.resolve()
        file = None if kept is None else IndexFile(kept, self.root)
        self._shelf = Shelf(self.root, file, clock_ns=clock_ns, limits=limits)
        self._meaning = meaning
        self._monotonic = monotonic
        self._lock = RLock()
        self._looked: float | None = None
        self._index = Index(())
        self._places: list[tuple[str, int]] = []
        """Number of a passage in the index → its document, and its number there."""

    @property
    def is_there(self) -> bool:
        """Whether the folder exists."""
        return self.root.is_dir()

    def search(self, query: str, k: int = 5) -> Answer:
        """The passages that fit a question best, of documents that hold."""
        with self._lock:
            self.refresh()
            hits: list[Hit] = []
            passed: dict[str, Passed] = {}
            found = self._index.find(query)
            for document, number, ranked in self._opened(query, found, k + SPARE):
                if len(hits) >= k:
                    break
                if document.standing == "current":
                    hits.append(self._hit(document, number, ranked))
                else:
                    passed.setdefault(document.doc, _passed(document))
            unknown = tuple(" ".join(name) for name in found.unknown())
            return Answer(
                hits=tuple(hits), passed=tuple(passed.values())[:MOST_PASSED], unknown=unknown,
                searched=self._index.size,
            )  # fmt: skip

    def document(self, doc: str) -> Document | None:
        """One document as it is now; None: there is none.

        Raises:
            PathRefused: The path leaves the folder, or names no plain file.
            Unreadable: It is no document, or cannot be read.
        """
        with self._lock:
            return self._shelf.document(doc)

    def documents(self) -> list[Document]:
        """All there are, in order; those of Markdown and text without their texts."""
        with self._lock:
            self.refresh()
            return [entry.document for entry in self._shelf.entries.values() if entry.document is not None]

    def unused(self) -> list[Unused]:
        """The files that give no document, and why."""
        with self._lock:
            self.refresh()
            return [entry.unused for entry in self._shelf.entries.values() if entry.unused is not None]

    def refresh(self, *, now: bool = False) -> None:
        """Look through the folder, if the last look is not recent or files came or went since."""
        with self._lock:
            moment = self._monotonic()
            recent = self._looked is not None and moment - self._looked < LOOK_S
            # Somebody who adds a document and asks again must not get the old answer.
            if not now and recent and not self._shelf.stirred():
                return
            changed = self._shelf.look()
            if changed or self._looked is None:
                self._index_all()
            self._looked = moment

    def _index_all(self) -> None:
        entries = self._shelf.entries
        self._index = Index(words for entry in entries.values() for words in entry.words)
        self._places = [(doc, at) for doc, entry in entries.items() for at in range(len(entry.passages))]
        if self._meaning is not None:
            self._meaning.take([text for doc, entry in entries.items() for text in self._texts(doc, entry)])

    def _texts(self, doc: str, entry: Entry) -> Iterator[tuple[str, str]]:
        """Heading and text of each passage, for their vectors."""
        document = self._open(doc)
        for passage in entry.passages:
            if document is None or document.sha256 != entry.sha256:
                yield "", ""
            else:
                heading = document.sections[passage.section].name.rpartition(" > ")[2]
                yield f"{document.title}. {heading}", document.text[passage.start : passage.end]

    def _opened(self, query: str, found: Found, limit: int) -> Iterator[tuple[Document, int, "_Ranked"]]:
        for ranked in self._ranked(query, found, limit):
            doc, number = self._places[ranked.number]
            document = self._open(doc)
            if document is not None and document.sha256 == self._shelf.entries[doc].sha256:
                yield document, number, ranked
            else:
                # It changed since we looked: what is kept of it says nothing any more.
                self._looked = None

    def _ranked(self, query: str, found: Found, limit: int) -> Iterator["_Ranked"]:
        """The best passages by words and meaning; those that lack a name of the question are about something else."""
        likeness = {} if self._meaning is None else self._likeness(query, found)
        best = max(found.scores.values(), default=1.0)
        near = likeness or dict.fromkeys(best_of(found.scores, CANDIDATES), 0.0)
        both = {
            number: found.scores.get(number, 0.0) / best + WEIGHT * value
            for number, value in near.items()
            if all(found.is_about(number, name) for name in found.names)
        }
        for number in best_of(both, limit):
            score = found.share(number)
            if likeness:
                score = (score + min(1.0, max(0.0, likeness[number] / CERTAIN))) / 2
            yield _Ranked(number=number, score=score, missing=found.missing(number))

    def _likeness(self, query: str, found: Found) -> dict[int, float]:
        """How alike passages are to a question: the best by words, and the most alike."""
        if self._meaning is None:
            return {}
        alike = self._meaning.likeness(query, CANDIDATES)
        near = (*best_of(found.scores, CANDIDATES), *alike.best)
        return {number: float(alike.values[number]) for number in near}

    def _open(self, doc: str) -> Document | None:
        try:
            return self._shelf.document(doc)
        except (PathRefused, Unreadable):
            return None

    def _hit(self, document: Document, number: int, ranked: "_Ranked") -> Hit:
        passage = self._shelf.entries[document.doc].passages[number]
        return Hit(
            doc=document.doc, title=document.title, section=document.sections[passage.section].name,
            first_line=passage.first_line, last_line=passage.last_line,
            snippet=document.text[passage.start : passage.end], score=round(ranked.score, 4), missing=ranked.missing,
            sha256=document.sha256,
        )  # fmt: skip


@record
class _Ranked:
    number: int
    score: float
    missing: tuple[str, ...]


def _passed(document: Document) -> Passed:
    return Passed(
        doc=document.doc, title=document.title, standing=document.standing, superseded_by=document.superseded_by
    )

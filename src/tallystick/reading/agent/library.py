"""The workspace as the agent reads it: its files by name, its passages by question, and the example requests."""

from collections.abc import Callable, Collection, Iterable
from functools import cached_property
from pathlib import Path
from threading import Lock

from tallystick.errors import PathRefused
from tallystick.gate.reply.sources import Source
from tallystick.reading.agent.intents import IntentIndex, RequestExample
from tallystick.reading.agent.names import NamedFile, named_file
from tallystick.reading.embedder import Embedder
from tallystick.reading.files import FileLibrary
from tallystick.reading.fts import FtsIndex
from tallystick.reading.retriever import ChooseEmbedder, FoundPassage
from tallystick.reading.vectors import VectorFile
from tallystick.storage.files import FileSources

EMBED_S = 10.0
"""Time that one question may spend on embedding; the rest of a large workspace follows with the next questions."""
MAX_FILES = 2_000


class Library:
    """Everything one workspace's agent reads with; loaded on first use and shared by its turns."""

    def __init__(
        self,
        sources: FileSources,
        index_file: Path,
        *,
        choose_embedder: ChooseEmbedder,
        examples: Callable[[], Iterable[RequestExample]],
    ) -> None:
        """Load nothing yet.

        Args:
            sources: The files.
            index_file: Where their index is.
            choose_embedder: Loads the embedding model; returns None for reading by words.
            examples: Returns the example requests of the open rooms.
        """
        self._sources = sources
        self._index_file = index_file
        self._choose_embedder = choose_embedder
        self._examples = examples
        self._lock = Lock()
        self._named: dict[str, tuple[str, NamedFile]] = {}

    @cached_property
    def embedder(self) -> Embedder | None:
        """The embedding model; None: reading is by words."""
        return self._choose_embedder()

    @cached_property
    def intents(self) -> IntentIndex:
        """The example requests."""
        return IntentIndex(self._examples(), self.embedder)

    def named_files(self) -> list[NamedFile]:
        """Return the files of the workspace with what they may be called."""
        with self._lock:
            return [file for path in self._paths() if (file := self._name(path)) is not None]

    def search(self, question: str, limit: int, *, within: Collection[str] | None = None) -> list[FoundPassage]:
        """Return the passages that fit a question, the best first."""
        with self._lock:
            self._files.update(self._paths(), seconds=EMBED_S)
            return self._files.search(question, limit=limit, within=within)

    def read(self, path: str) -> Source | None:
        """Return a file; None if it is gone, too large or not text."""
        try:
            return self._sources.read(path)
        except PathRefused:
            return None

    @cached_property
    def _files(self) -> FileLibrary:
        vectors = VectorFile(self._index_file.with_name(f"{self._index_file.stem}-vectors.db"))
        index = FtsIndex(self._index_file)
        return FileLibrary(self._sources, index, vectors=vectors, choose_embedder=lambda: self.embedder)

    def _paths(self) -> list[str]:
        return self._sources.paths()[:MAX_FILES]

    def _name(self, path: str) -> NamedFile | None:
        source = self.read(path)
        if source is None:
            return None
        held = self._named.get(path)
        if held is None or held[0] != source.sha256:
            held = self._named[path] = (source.sha256, named_file(path, source.text))
        return held[1]

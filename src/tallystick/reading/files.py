"""The files of a workspace in an index: only what changed is read and cut again."""

from collections.abc import Collection, Iterable

from tallystick.errors import PathRefused
from tallystick.gate.reply.sources import Source
from tallystick.reading.index import IndexedDocument, LexicalIndex
from tallystick.reading.passages import cut_passages
from tallystick.reading.retriever import ChooseEmbedder, FoundPassage, Retriever
from tallystick.reading.vectors import VectorFile
from tallystick.storage.files import FileSources


class FileLibrary:
    """Search over the text files of one workspace."""

    def __init__(
        self,
        sources: FileSources,
        index: LexicalIndex,
        *,
        vectors: VectorFile | None = None,
        choose_embedder: ChooseEmbedder = lambda: None,
    ) -> None:
        """Join files and index.

        Args:
            sources: The files.
            index: Belongs to these files alone.
            vectors: Belongs to these files alone.
            choose_embedder: Loads the embedding model; returns None for lexical retrieval.
        """
        self._sources = sources
        self._index = index
        self._retriever = Retriever(index, read=self._document, vectors=vectors, choose_embedder=choose_embedder)

    def close(self) -> None:
        """Close the index."""
        self._retriever.close()

    def update(self, paths: Collection[str], *, seconds: float = 20.0) -> int:
        """Bring the index up to date: index what is new or changed, remove what is gone.

        Args:
            paths: All files of the workspace that are to be searched.
            seconds: Time for embedding.

        Returns:
            The number of passages that still wait for their vectors.
        """
        versions = {path: source.sha256 for path in paths if (source := self._read(path)) is not None}
        return self._retriever.update(versions, seconds=seconds)

    def search(self, query: str, *, limit: int, within: Collection[str] | None = None) -> list[FoundPassage]:
        """Return the passages that fit a query, the best first; a file that has changed since `update` is left out.

        Args:
            query: A question or words.
            limit: Maximum number of passages.
            within: The files to search; None: all.
        """
        return self._retriever.search(query, limit, within=within)

    def forms(self, stem: str) -> list[str]:
        """Return the words of the files that have this stem."""
        return self._index.forms(stem)

    def holders(self, beginnings: Iterable[str]) -> set[str]:
        """Return the files that may hold a word with one of these beginnings, or another form of it."""
        return self._index.holders(beginnings)

    def _document(self, path: str) -> IndexedDocument | None:
        source = self._read(path)
        return None if source is None else _document(source)

    def _read(self, path: str) -> Source | None:
        """Return a file's text; None if it is gone, too large or not text."""
        try:
            return self._sources.read(path)
        except PathRefused:
            return None


def _document(source: Source) -> IndexedDocument:
    name = source.path.rpartition("/")[2].rpartition(".")[0]
    return IndexedDocument(
        name=source.path,
        version=source.sha256,
        title=f"{source.path.replace('/', ' ')} {name.replace('-', ' ').replace('_', ' ')}",
        text=source.text,
        passages=cut_passages(source.text),
    )

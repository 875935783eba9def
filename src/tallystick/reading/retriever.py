"""Hybrid retrieval: the passages of a corpus that answer a question, by their words and by their meaning.

Two rankings are joined by reciprocal rank: the lexical index (which also finds names and numbers) and the vectors of an
embedding model (which also finds other words for the same). The best are then compared with the question token by
token. Without an embedding model, retrieval is lexical.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING

from tallystick.reading.embedder import Embedder
from tallystick.reading.fts import FtsIndex
from tallystick.reading.index import Hit, IndexedDocument, LexicalIndex
from tallystick.reading.passages import IndexedPassage
from tallystick.reading.vectors import VectorFile
from tallystick.records import record

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

AT_ONCE = 50
"""Documents per transaction: other processes wait for no more than a second."""
EMBEDDED_AT_ONCE = 64
"""Passages between two looks at the clock."""
CANDIDATES = 50
"""Passages that each ranking contributes."""
RERANKED = 30
"""Passages that are compared token by token."""
RANK_OFFSET = 60
"""Of reciprocal rank fusion: the higher, the less the first places count."""
WEIGHT = 2.0
"""Of the order by tokens, beside the two rankings."""
HELD_TOKENS = 400
"""Passages whose token vectors are kept: some 60 MB."""

ChooseEmbedder = Callable[[], Embedder | None]
ReadDocument = Callable[[str], IndexedDocument | None]
"""Returns a document of the corpus as it is now, by name; None if it is gone or cannot be read."""


@record
class FoundPassage:
    """A passage that fits a query."""

    name: str
    """Of its document."""
    version: str
    text: str
    in_context: str
    """The text below its title and headings."""
    passage: IndexedPassage
    score: float
    """For comparison with the others of the same search; higher is better."""


class Retriever:
    """Search over one corpus."""

    def __init__(
        self,
        index: LexicalIndex,
        *,
        read: ReadDocument,
        vectors: VectorFile | None = None,
        choose_embedder: ChooseEmbedder = lambda: None,
        rerank: bool = True,
    ) -> None:
        """Join the index and the model.

        Args:
            index: Belongs to this corpus alone.
            read: Returns the documents.
            vectors: Belongs to this corpus alone; needed with an embedder.
            choose_embedder: Loads the embedding model on first use; returns None for lexical retrieval.
            rerank: Whether the best are compared with the query token by token.
        """
        self._index = index
        self._read = read
        self._vectors = vectors
        self._choose_embedder = choose_embedder
        self._rerank = rerank
        self._lock = RLock()
        self._held: tuple[Hashable, NDArray[np.float32], dict[int, int]] | None = None
        self._tokens: OrderedDict[str, NDArray[np.float32]] = OrderedDict()

    @cached_property
    def _embedder(self) -> Embedder | None:
        return None if self._vectors is None else self._choose_embedder()

    def close(self) -> None:
        """Close the files."""
        self._index.close()
        if self._vectors is not None:
            self._vectors.close()

    def update(self, versions: Mapping[str, str], *, seconds: float = 20.0) -> int:
        """Bring the index up to date: what is new or changed is read, what is gone is removed.

        Args:
            versions: Every document of the corpus, name → version.
            seconds: Time for embedding. What is left waits for the next update and is found by its words until then.

        Returns:
            The number of passages that still wait for their vectors.
        """
        with self._lock:
            known = dict(self._index.versions())
            changed = iter([name for name, version in versions.items() if known.get(name) != version])
            while some := list(islice(changed, AT_ONCE)):
                documents = {name: self._read(name) for name in some}
                self._index.put(document for document in documents.values() if document is not None)
                self._index.remove([name for name, document in documents.items() if document is None])
            self._index.remove(known.keys() - versions.keys())
            return self._embed_missing(time.monotonic() + seconds)

    def search(self, query: str, limit: int = 8, *, within: Collection[str] | None = None) -> list[FoundPassage]:
        """Return the passages that fit a query, the best first; those of documents that changed since are left out.

        Args:
            query: A question or words.
            limit: Maximum number of passages.
            within: Names of the documents to search; None: all.
        """
        if self._embedder is None:
            return list(islice(self._current(self._index.search(query, limit=limit * 2, within=within)), limit))
        with self._lock:
            rankings = [self._index.search(query, limit=CANDIDATES, within=within), self._nearest(query, within)]
            found = list(islice(self._current(_fused(rankings)), max(RERANKED, limit)))
            return (self._reranked(query, found) if self._rerank else found)[:limit]

    def _embed_missing(self, deadline: float) -> int:
        """Embed passages that have no vector until the deadline; return how many are left."""
        model, vectors = self._embedder, self._vectors
        if model is None or vectors is None:
            return 0
        digests = self._index.digests()
        have = vectors.digests(model.name)
        missing = {digest: number for number, digest in digests.items() if digest not in have}
        waiting = iter(missing.items())
        left = len(missing)
        while time.monotonic() < deadline and (some := dict(islice(waiting, EMBEDDED_AT_ONCE))):
            texts = self._in_context(some.values())
            given = {digest: texts[number] for digest, number in some.items() if number in texts}
            vectors.put(model.name, dict(zip(given, model.embed(list(given.values())), strict=True)))
            left -= len(some)
        vectors.keep_only(model.name, digests.values())
        return left

    def _in_context(self, numbers: Collection[int]) -> dict[int, str]:
        """Return the texts of passages, with titles and headings, by number."""
        found: dict[int, str] = {}
        documents: dict[str, IndexedDocument | None] = {}
        for number in numbers:
            for hit in self._index.hits({number: 0.0}):
                if hit.name not in documents:
                    documents[hit.name] = self._read(hit.name)
                document = documents[hit.name]
                if document is not None and document.version == hit.version:
                    found[number] = document.in_context(hit.passage)
        return found

    def _nearest(self, query: str, within: Collection[str] | None) -> list[Hit]:
        """Return the passages whose vectors are nearest to the query's."""
        import numpy as np  # noqa: PLC0415 - the core has no numpy

        assert self._embedder is not None  # noqa: S101 - for the type checker
        matrix, rows = self._matrix()
        numbers = list(rows) if within is None else [each for each in self._index.digests(within) if each in rows]
        if not numbers:
            return []
        scores = matrix[[rows[number] for number in numbers]] @ self._embedder.embed([query])[0]
        best = np.argsort(-scores, kind="stable")[:CANDIDATES]
        return self._index.hits({numbers[at]: float(scores[at]) for at in best})

    def _matrix(self) -> "tuple[NDArray[np.float32], dict[int, int]]":
        """Return the vectors and, for each passage that has one, its row; read again when the index has changed."""
        assert self._embedder is not None  # noqa: S101 - as above
        assert self._vectors is not None  # noqa: S101
        state = (self._index.state(), self._vectors.state())
        if self._held is None or self._held[0] != state:
            at, matrix = self._vectors.read(self._embedder.name, self._embedder.dim)
            rows = {number: at[digest] for number, digest in self._index.digests().items() if digest in at}
            self._held = (state, matrix, rows)
        return self._held[1], self._held[2]

    def _current(self, hits: Sequence[Hit]) -> Iterator[FoundPassage]:
        documents: dict[str, IndexedDocument | None] = {}
        for hit in hits:
            if hit.name not in documents:
                documents[hit.name] = self._read(hit.name)
            document = documents[hit.name]
            if document is not None and document.version == hit.version:
                yield FoundPassage(
                    name=hit.name,
                    version=hit.version,
                    text=document.text[hit.passage.start : hit.passage.end],
                    in_context=document.in_context(hit.passage),
                    passage=hit.passage,
                    score=hit.score,
                )

    def _reranked(self, query: str, found: list[FoundPassage]) -> list[FoundPassage]:
        """Join the order so far with that by how well a passage matches each token of the query."""
        assert self._embedder is not None  # noqa: S101 - as above
        (asked,) = self._embedder.token_vectors([query])
        if not len(asked):
            return found
        texts = [each.in_context for each in found]
        matched = [_max_similarity(asked, tokens) for tokens in self._held_tokens(texts)]
        by_tokens = {at: rank for rank, at in enumerate(sorted(range(len(found)), key=lambda at: -matched[at]), 1)}
        scores = {at: each.score + WEIGHT / (RANK_OFFSET + by_tokens[at]) for at, each in enumerate(found)}
        return [replace(found[at], score=scores[at]) for at in sorted(scores, key=lambda at: -scores[at])]

    def _held_tokens(self, texts: Sequence[str]) -> "list[NDArray[np.float32]]":
        """Return the token vectors of texts; those of the latest are kept."""
        assert self._embedder is not None  # noqa: S101 - as above
        new = [text for text in dict.fromkeys(texts) if text not in self._tokens]
        self._tokens.update(zip(new, self._embedder.token_vectors(new), strict=True))
        for text in texts:
            self._tokens.move_to_end(text)
        made = [self._tokens[text] for text in texts]
        while len(self._tokens) > HELD_TOKENS:
            self._tokens.popitem(last=False)
        return made


def open_retriever(path: Path, *, read: ReadDocument, choose_embedder: ChooseEmbedder) -> Retriever:
    """Open retrieval over a corpus whose index is the file at `path`, its vectors in a file beside it.

    Raises:
        OSError: They cannot be created.
    """
    vectors = VectorFile(path.with_name(f"{path.stem}-vectors.db"))
    return Retriever(FtsIndex(path), read=read, vectors=vectors, choose_embedder=choose_embedder)


def _max_similarity(asked: "NDArray[np.float32]", tokens: "NDArray[np.float32]") -> float:
    """Return the mean, over the tokens asked for, of the similarity of the nearest token."""
    return float((asked @ tokens.T).max(axis=1).mean()) if len(tokens) else 0.0


def _fused(rankings: Sequence[Sequence[Hit]]) -> list[Hit]:
    """Join rankings by reciprocal rank; a hit's score becomes the sum."""
    scores: dict[tuple[str, int], float] = {}
    hits: dict[tuple[str, int], Hit] = {}
    for ranking in rankings:
        for rank, hit in enumerate(ranking, 1):
            key = (hit.name, hit.passage.number)
            hits.setdefault(key, hit)
            scores[key] = scores.get(key, 0.0) + 1 / (RANK_OFFSET + rank)
    return [replace(hits[key], score=score) for key, score in sorted(scores.items(), key=lambda one: -one[1])]

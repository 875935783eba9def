"""The port of a lexical index: which passages hold the words of a query, the best first."""

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Protocol

from tallystick.reading.passages import IndexedPassage
from tallystick.records import record


@record
class IndexedDocument:
    """A document to index."""

    name: str
    """Unique in its index: a path, an id."""
    version: str
    """Changes with the content, as a hash does; an unchanged document is not indexed again."""
    title: str
    text: str
    passages: Sequence[IndexedPassage]
    """Pieces of `text`."""

    def in_context(self, passage: IndexedPassage) -> str:
        """Return the text of a passage below its title and headings: what an embedding model reads."""
        above = [self.title, *passage.headings]
        return "\n".join([". ".join(dict.fromkeys(above)), self.text[passage.start : passage.end]])

    def digest(self, passage: IndexedPassage) -> bytes:
        """Return the hash of a passage in its context."""
        return sha256(self.in_context(passage).encode(errors="replace")).digest()


@record
class Hit:
    """A passage that holds words of a query."""

    name: str
    version: str
    """Of the document when it was indexed."""
    passage: IndexedPassage
    score: float
    """For comparison with the other hits of the same search; higher is better."""


class LexicalIndex(Protocol):
    """Documents indexed by the stems of their words."""

    def close(self) -> None:
        """Release its file."""

    def versions(self) -> Mapping[str, str]:
        """Return document name → the version that is indexed."""

    def put(self, documents: Iterable[IndexedDocument]) -> None:
        """Add documents, or replace those of the same name, in one transaction."""

    def remove(self, names: Iterable[str]) -> None:
        """Remove documents; unknown names are ignored."""

    def search(self, query: str, *, limit: int, within: Collection[str] | None = None) -> list[Hit]:
        """Return the passages that hold a word of the query, the best first.

        Args:
            query: A question or words; stop words are ignored unless it has no others.
            limit: Maximum number of passages.
            within: Names of the documents to search; None: all.
        """

    def digests(self, within: Collection[str] | None = None) -> Mapping[int, bytes]:
        """Return the digest of every passage by the passage's number in the index.

        Args:
            within: Names of the documents; None: all.
        """

    def hits(self, scores: Mapping[int, float]) -> list[Hit]:
        """Return passages by their numbers in the index, in this order; those that are gone are left out."""

    def state(self) -> Hashable:
        """Return a value that changes whenever the index may have changed."""

    def forms(self, stem: str) -> list[str]:
        """Return the words with this stem that occur, or occurred, in the indexed documents; folded, and sorted."""

    def holders(self, beginnings: Iterable[str]) -> set[str]:
        """Return the names of the documents that hold a word with one of these beginnings, or another form of it.

        A document may be named that no longer holds such a word; none that holds one is missing.
        """

"""BM25: how well texts answer a query, by the words they share (Robertson and Zaragoza, 2009).

score(text) = Σ over words of the query: idf(word) * saturation(times in text, length of text)
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import log

K1 = 1.2
"""Controls how quickly further occurrences of a word stop adding to the score."""
B = 0.75
"""Strength of the length normalisation, 0 to 1; for texts of one or two sentences 0.4 gives better recall."""


def idf(holders: int, total: int) -> float:
    """Return the inverse document frequency of a word that `holders` of `total` texts contain; always positive."""
    return log(1 + (total - holders + 0.5) / (holders + 0.5))


def idf_of(documents: Iterable[Iterable[str]]) -> dict[str, float]:
    """Return the idf of every word of some documents."""
    held = [set(document) for document in documents]
    holders = Counter(word for document in held for word in document)
    return {word: idf(count, len(held)) for word, count in holders.items()}


def saturation(times: float, length: float, mean: float, *, k1: float = K1, b: float = B) -> float:
    """Return the weight of a word in a text from its number of occurrences.

    Args:
        times: Number of occurrences of the word in the text.
        length: Number of words in the text.
        mean: Mean number of words per text.
        k1: See `K1`.
        b: See `B`.
    """
    return times * (k1 + 1) / (times + k1 * (1 - b + b * length / mean)) if times else 0.0


class Bm25:
    """BM25 index of documents, kept in memory."""

    def __init__(
        self, documents: Sequence[Mapping[str, float] | Iterable[str]], *, k1: float = K1, b: float = B
    ) -> None:
        """Index the documents.

        Args:
            documents: Each as its words, or as word → number of occurrences, which may be weighted.
            k1: See `K1`.
            b: See `B`.
        """
        counted = [each if isinstance(each, Mapping) else Counter(each) for each in documents]
        lengths = [sum(counts.values()) for counts in counted]
        mean = (sum(lengths) / len(lengths) if lengths else 0.0) or 1.0
        self._size = len(counted)
        self._postings: dict[str, dict[int, float]] = {}
        for number, counts in enumerate(counted):
            for word, times in counts.items():
                weight = saturation(times, lengths[number], mean, k1=k1, b=b)
                self._postings.setdefault(word, {})[number] = weight

    def idf(self, word: str) -> float:
        """Return the idf of a word; it is highest for a word that no document contains."""
        return idf(len(self._postings.get(word, ())), self._size)

    def scores(self, query: Mapping[str, float] | Iterable[str]) -> dict[int, float]:
        """Return document number → score, for the documents that contain a word of the query.

        Args:
            query: Its words, or word → weight.
        """
        weights = query if isinstance(query, Mapping) else dict.fromkeys(query, 1.0)
        found: dict[int, float] = {}
        for word, weight in weights.items():
            worth = weight * self.idf(word)
            for number, times in self._postings.get(word, {}).items():
                found[number] = found.get(number, 0.0) + worth * times
        return found

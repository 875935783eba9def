"""Which passages hold the words of a question: BM25, with the words of title and headings counted in.

score   how well a passage fits, against others: ranks
share   how much of what is asked it speaks of, 0 to 1: rare words count most, and a word that no document knows
        counts as the rarest. A question about something that is not in the knowledge base has a low share everywhere.
"""

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from heapq import nlargest
from math import log

from tallystick.records import record
from tallystick.rooms.desk.kb.words import asked, relatives

K1, B = 1.2, 0.6
TITLE, HEADING = 1.5, 2.0
"""What a word of the document's title and of a passage's headings is worth, in words of the text."""
RELATED = 0.6
"""What a word of the same meaning is worth."""


@record
class Scored:
    """A passage with its score and share."""

    number: int
    score: float
    share: float


class Index:
    """The words of all passages."""

    def __init__(self, passages: Iterable[Mapping[str, float]]) -> None:
        """Take the passages in order.

        Args:
            passages: Word → how often, title and headings counted in (see `weigh`).
        """
        self._lists: dict[str, tuple[array[int], array[float]]] = {}
        lengths: list[float] = []
        for number, words in enumerate(passages):
            lengths.append(sum(words.values()))
            for word, often in words.items():
                held = self._lists.get(word)
                if held is None:
                    held = self._lists[word] = (array("I"), array("f"))
                held[0].append(number)
                held[1].append(often)
        self.size = len(lengths)
        self._settle(lengths)

    def _settle(self, lengths: Sequence[float]) -> None:
        """Turn counts into weights once, so that a search only adds."""
        mean = sum(lengths) / len(lengths) if lengths else 1.0
        norms = [K1 * (1 - B + B * length / (mean or 1.0)) for length in lengths]
        for numbers, often in self._lists.values():
            for at, number in enumerate(numbers):
                often[at] = often[at] * (K1 + 1) / (often[at] + norms[number])

    def search(self, query: str, limit: int) -> list[Scored]:
        """The best passages, the best first; equal ones in the order of the documents."""
        words = asked(query)
        worths = {word: self._worth(word) for word in words}
        scores: dict[int, float] = {}
        shares: dict[int, float] = {}
        for word, worth in worths.items():
            best: dict[int, float] = {}
            for other, factor in ((word, 1.0), *((each, RELATED) for each in relatives(word))):
                numbers, weights = self._lists.get(other, _NONE)
                for number, weight in zip(numbers, weights, strict=True):
                    value = weight * factor
                    if value > best.get(number, 0.0):
                        best[number] = value
            for number, value in best.items():
                scores[number] = scores.get(number, 0.0) + worth * value
                shares[number] = shares.get(number, 0.0) + worth * min(value, 1.0)
        whole = sum(worths.values()) or 1.0
        chosen = nlargest(limit, scores, key=lambda number: (scores[number], -number))
        return [Scored(number=number, score=scores[number], share=shares[number] / whole) for number in chosen]

    def _worth(self, word: str) -> float:
        """Rare words are worth more; one that stands nowhere, the most."""
        holders = len(self._lists.get(word, _NONE)[0])
        return log(1 + (self.size - holders + 0.5) / (holders + 0.5))


_NONE: tuple["array[int]", "array[float]"] = (array("I"), array("f"))


def weigh(text: Iterable[str], headings: Iterable[str], title: Iterable[str]) -> dict[str, float]:
    """How often each word counts in a passage."""
    counts: dict[str, float] = dict(Counter(text))
    for words, worth in ((headings, HEADING), (title, TITLE)):
        for word in set(words):
            counts[word] = counts.get(word, 0.0) + worth
    return counts

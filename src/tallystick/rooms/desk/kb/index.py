"""Which passages hold the words of a question: BM25, with the words of title and headings counted in.

score   how well a passage fits, against others: ranks
share   how much of what is asked it speaks of, 0 to 1: rare words count most, and a word that no document knows
        counts as the rarest. A question about something that is not in the knowledge base has a low share everywhere.
"""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import nlargest
from itertools import pairwise
from math import log

from rapidfuzz.distance import OSA

from tallystick.records import record
from tallystick.rooms.desk.kb.words import EMPTY, asked, names_in, relatives

K1, B = 1.2, 0.6
TITLE, HEADING = 1.5, 2.0
"""What a word of the document's title and of a passage's headings is worth, in words of the text."""
PAIR = 0.9
"""What it is worth that two words stand beside each other, in words of the text."""
PAIRED = 150
"""Passages, the best by single words, that are looked at for this."""
RELATED = 0.6
"""What a word of the same meaning is worth."""
LONG = 5
"""Letters of a word that one slip does not make another one of."""
MOST_MENDED = 10_000


@record
class Counted:
    """The words of one passage."""

    counts: Mapping[str, float]
    """Word → how often, title and headings counted in."""
    run: str
    """Text, headings and title, each on its line, the empty words left out: to see which stand beside each other."""


def count(text: Iterable[str], headings: Iterable[str], title: Iterable[str]) -> Counted:
    """Count the words of a passage."""
    parts = (list(text), list(headings), list(title))
    counts: dict[str, float] = dict(Counter(parts[0]))
    for words, worth in zip(parts[1:], (HEADING, TITLE), strict=True):
        for word in set(words):
            counts[word] = counts.get(word, 0.0) + worth
    run = "\n".join(f" {' '.join(word for word in words if word not in EMPTY)} " for words in parts)
    return Counted(counts=counts, run=run)


@record
class Found:
    """The passages that hold a word of a question."""

    worths: Mapping[str, float]
    """Word of the question → what it is worth."""
    held: Mapping[str, Mapping[int, float]]
    """Word → passages that hold it, or one of its meaning → how well."""
    names: tuple[tuple[str, ...], ...]
    """What the question calls by a name, word by word."""
    scores: Mapping[int, float]
    """Passage → score."""

    def share(self, number: int) -> float:
        """How much of what is asked a passage speaks of."""
        whole = sum(self.worths.values()) or 1.0
        return sum(worth * min(self.held[word].get(number, 0.0), 1.0) for word, worth in self.worths.items()) / whole

    def missing(self, number: int) -> tuple[str, ...]:
        """The words of the question that a passage does not speak of."""
        return tuple(word for word in self.worths if number not in self.held[word])

    def is_about(self, number: int, name: tuple[str, ...]) -> bool:
        """Whether a passage has every word of a name."""
        return all(number in self.held[word] for word in name)

    def unknown(self) -> tuple[tuple[str, ...], ...]:
        """The names that no passage has."""
        held = [(name, [self.held[word].keys() for word in name]) for name in self.names]
        return tuple(name for name, numbers in held if not set[int]().union(*numbers).intersection(*numbers))


class Index:
    """The words of all passages."""

    def __init__(self, passages: Iterable[Counted]) -> None:
        """Take the passages in order."""
        self._lists: dict[str, tuple[array[int], array[float]]] = {}
        self._runs: list[str] = []
        lengths: list[float] = []
        for number, passage in enumerate(passages):
            self._runs.append(passage.run)
            lengths.append(sum(passage.counts.values()))
            for word, often in passage.counts.items():
                held = self._lists.get(word)
                if held is None:
                    held = self._lists[word] = (array("I"), array("f"))
                held[0].append(number)
                held[1].append(often)
        self.size = len(lengths)
        self._settle(lengths)
        self._lengths: dict[int, list[str]] = {}
        for word in self._lists:
            self._lengths.setdefault(len(word), []).append(word)
        self._mended: dict[str, str] = {}

    def _settle(self, lengths: Sequence[float]) -> None:
        """Turn counts into weights once, so that a search only adds."""
        mean = sum(lengths) / len(lengths) if lengths else 1.0
        norms = [K1 * (1 - B + B * length / (mean or 1.0)) for length in lengths]
        for numbers, often in self._lists.values():
            for at, number in enumerate(numbers):
                often[at] = often[at] * (K1 + 1) / (often[at] + norms[number])

    def find(self, query: str) -> Found:
        """Look a question up."""
        words = [self._nearest(word) for word in asked(query)]
        names = [tuple(self._nearest(word) for word in name) for name in names_in(query)]
        worths = {word: self._worth(word) for word in words}
        held = {word: self._held(word) for word in worths}
        scores: dict[int, float] = {}
        for word, worth in worths.items():
            for number, value in held[word].items():
                scores[number] = scores.get(number, 0.0) + worth * value
        pairs = [(f" {one} {other} ", worths[one] + worths[other]) for one, other in pairwise(words)]
        for number in best_of(scores, PAIRED):
            scores[number] += _beside(pairs, self._runs[number])
        told = tuple(name for name in names if all(word in held for word in name))
        return Found(worths=worths, held=held, names=told, scores=scores)

    def _held(self, word: str) -> dict[int, float]:
        best = dict(zip(*self._lists.get(word, _NONE), strict=True))
        for other in relatives(word):
            for number, weight in zip(*self._lists.get(other, _NONE), strict=True):
                value = weight * RELATED
                if value > best.get(number, 0.0):
                    best[number] = value
        return best

    def _nearest(self, word: str) -> str:
        """A word that no document knows is often one that was mistyped: the one word a single slip away."""
        if word in self._lists or len(word) < LONG or not word.isalpha():
            return word
        known = self._mended.get(word)
        if known is None:
            known = word
            if not any(other in self._lists for other in relatives(word)):
                near = [each for each in self._by_length(len(word)) if OSA.distance(word, each, score_cutoff=1) <= 1]
                known = near[0] if len(near) == 1 else word
            if len(self._mended) < MOST_MENDED:
                self._mended[word] = known
        return known

    def _by_length(self, length: int) -> Iterator[str]:
        for near in (length - 1, length, length + 1):
            yield from self._lengths.get(near, ())

    def _worth(self, word: str) -> float:
        """Rare words are worth more; one that stands nowhere, the most."""
        holders = len(self._lists.get(word, _NONE)[0])
        return log(1 + (self.size - holders + 0.5) / (holders + 0.5))


def _beside(pairs: Iterable[tuple[str, float]], run: str) -> float:
    """What it adds that words of the question stand beside each other here too."""
    found = 0.0
    for pair, worth in pairs:
        if pair in run:
            parts = zip(run.split("\n"), (1.0, HEADING, TITLE), strict=True)
            often = sum(value for part, value in parts if pair in part)
            found += worth * often / (often + K1)
    return PAIR * found


_NONE: tuple["array[int]", "array[float]"] = (array("I"), array("f"))


def best_of(scores: Mapping[int, float], limit: int) -> list[int]:
    """The passages with the highest scores; equal ones in the order of the documents."""
    if len(scores) > limit:
        # Without a key this is many times as quick, and few are left to be sorted.
        least = nlargest(limit, scores.values())[-1]
        chosen = [number for number, score in scores.items() if score >= least]
    else:
        chosen = list(scores)
    return sorted(chosen, key=lambda number: (-scores[number], number))[:limit]

"""Finds texts by their words: BM25, exact while few texts hold the words, and bounded when many do.

The rarest words of a query are looked up first. When they have brought enough candidates, commoner words no longer
bring new ones: they only add to the scores of those that are there. So a query over a million texts costs little more
than one over a thousand.
"""

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from operator import itemgetter
from threading import RLock

from tallystick.rooms.memory.recall.postings import WEIGHTS, Postings, add_scores, best_of, pack
from tallystick.storage.text_segments import NONE, SegmentEntry, TextSegments
from tallystick.text.bm25 import idf
from tallystick.text.stems import stems

SEGMENT = 4096
"""Texts a segment holds. What is no whole segment yet is read again from the log at the next start, which must be
quick: this many take about a tenth of a second."""
BULK = 16_384
"""Texts a segment holds where many are taken at once. Each segment brings a row for every word in it, from all over
the file; with a fourth of the segments, filling and finding touch fewer of them."""
VISITS = 6_000
"""Postings a query may look at: some two milliseconds. The rarest words come first, and bring the best texts."""
CANDIDATES = 150
"""How many texts are scored by all words when the visits did not suffice for every word."""
MOST_KNOWN = 4096
"""Episodes whose last text is remembered, and words known to be names or none; others are looked up."""


@dataclass(frozen=True, kw_only=True)
class SearchScores:
    """The scores of one search."""

    scores: Mapping[int, float]
    worth: Mapping[str, float]
    """Word → what one mention is worth: rare words more."""
    complete: bool
    """Whether every text that holds a word of the query was looked at."""


class TextIndex:
    """One index, filled in the order of the log and read by several threads."""

    def __init__(self, segments: TextSegments) -> None:
        self._segments = segments
        self._lock = RLock()
        self._begin()

    def _begin(self) -> None:
        self._segment, self._kept, self._kept_seq = self._segments.reach()
        self._tail: list[SegmentEntry] = []
        self._words: dict[str, tuple[array[int], bytearray]] = {}
        self._last: dict[str, int] = {}
        self._speakers: dict[str, bool] = {}
        """Words that name speakers, and words that are known not to."""

    @property
    def size(self) -> int:
        """How many texts it holds; the next one gets this number."""
        return self._kept + len(self._tail)

    @property
    def last_seq(self) -> int:
        """The place in the log of the newest text; fill from the next one on."""
        return self._tail[-1].seq if self._tail else self._kept_seq

    # -- filling -------------------------------------------------------------------------------------------------------

    def fill(self, entries: Iterable[SegmentEntry]) -> None:
        """Take the next texts; each gets the next number. Those that are not newer than the last are already there."""
        with self._lock:
            for entry in entries:
                self._add(entry)
                if len(self._tail) >= BULK:
                    self._flush()
            if len(self._tail) >= SEGMENT:
                self._flush()

    def add(self, entry: SegmentEntry) -> None:
        """Take one more."""
        self.fill((entry,))

    def _add(self, entry: SegmentEntry) -> None:
        if entry.seq <= self.last_seq:
            return
        entry.number = self.size
        self._link(entry)
        self._tail.append(entry)
        for word in speaker_words(entry.speaker):
            if not self.is_speaker(word):
                self._segments.add_speaker(word)
                self._speakers[word] = True
        for word, weight in entry.words.items():
            held = self._words.get(word)
            if held is None:
                held = self._words[word] = (array("I"), bytearray())
            held[0].append(entry.number)
            held[1].append(weight)

    def clear(self) -> None:
        """Begin anew."""
        with self._lock:
            self._segments.clear()
            self._begin()

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._segments.close()

    def _link(self, entry: SegmentEntry) -> None:
        """Chain the texts of an episode, so that what was said around a text is found."""
        if not entry.episode:
            return
        before = self._last.get(entry.episode)
        if before is None:
            before = self._segments.last_of(entry.episode) if self._kept else NONE
        entry.before = before
        if len(self._last) >= MOST_KNOWN:
            self._last.clear()
            self._last.update((held.episode, held.number) for held in self._tail if held.episode)
        self._last[entry.episode] = entry.number
        if before >= self._kept:
            self._tail[before - self._kept].after = entry.number
        elif before != NONE:
            self._segments.link(before, entry.number)

    def _flush(self) -> None:
        packed = {word: pack(*held) for word, held in sorted(self._words.items())}
        if self._segments.add(self._segment, packed, self._tail):
            self._segment, self._kept, self._kept_seq = self._segment + 1, self.size, self.last_seq
            self._tail, self._words = [], {}
            return
        # Another process was first. What of the tail it has not kept is taken again, and gets the same numbers.
        tail, kept = self._tail, self._kept
        self._begin()
        if self._kept > kept:
            for entry in tail:
                self._add(entry)

    # -- finding -------------------------------------------------------------------------------------------------------

    def upto(self, seq: int) -> int:
        """How many texts stood in the log at this place."""
        with self._lock:
            if self._tail and self._tail[0].seq <= seq:
                return self._kept + bisect_right(self._tail, seq, key=lambda entry: entry.seq)
            return self._segments.upto(seq)

    def entries(self, numbers: Iterable[int]) -> dict[int, SegmentEntry]:
        """Return the entries of these texts."""
        with self._lock:
            wanted = set(numbers)
            fresh = (self._tail[number - self._kept] for number in wanted if self._kept <= number < self.size)
            found = {entry.number: entry for entry in fresh}
            older = sorted(number for number in wanted if 0 <= number < self._kept)
            return found | {entry.number: entry for entry in self._segments.entries(older)}

    def is_speaker(self, word: str) -> bool:
        """Whether a word names somebody whose texts are here."""
        with self._lock:
            known = self._speakers.get(word)
            if known is None:
                if len(self._speakers) >= MOST_KNOWN:
                    self._speakers.clear()
                known = self._speakers[word] = self._segments.is_speaker(word)
            return known

    def words(self, numbers: Iterable[int]) -> dict[int, Mapping[str, int]]:
        """The words of these texts, with their packed weights."""
        with self._lock:
            wanted = set(numbers)
            found: dict[int, Mapping[str, int]] = {
                number: self._tail[number - self._kept].words for number in wanted if self._kept <= number < self.size
            }
            older = sorted(number for number in wanted if 0 <= number < self._kept)
            return found | dict(self._segments.words(older))

    def search(self, words: Mapping[str, float], *, before: int | None = None) -> SearchScores:
        """Score the texts that hold words of a query.

        Args:
            words: Each with its weight.
            before: Only texts with a lower number.
        """
        with self._lock:
            holders = {word: self._holders(word) for word in words}
            worth = {word: idf(holders[word], self.size) for word in words}
            scores: dict[int, float] = {}
            left = VISITS
            for word in sorted(words, key=lambda word: (-worth[word], word)):
                if left > 0 and holders[word]:
                    values = [words[word] * worth[word] * weight for weight in WEIGHTS]
                    left = add_scores(self._lists(word), values, scores, cut=before, visits=left)
            complete = left > 0
            if not complete:
                scores = self._scored_by_all(scores, words, worth)
        return SearchScores(scores=scores, worth=worth, complete=complete)

    def _holders(self, word: str) -> int:
        tail = self._words.get(word)
        return self._segments.holders(word) + (0 if tail is None else len(tail[0]))

    def _lists(self, word: str) -> Iterable[Postings]:
        """Postings of a word, the newest first."""
        tail = self._words.get(word)
        kept = map(itemgetter(1), self._segments.postings(word))
        return kept if tail is None else chain((tail,), kept)

    def _scored_by_all(
        self, partial: Mapping[int, float], words: Mapping[str, float], worth: Mapping[str, float]
    ) -> dict[int, float]:
        values = {word: weight * worth[word] for word, weight in words.items()}
        return {
            number: sum(value * WEIGHTS[held[word]] for word, value in values.items() if word in held)
            for number, held in self.words(best_of(partial, CANDIDATES)).items()
        }


@lru_cache(maxsize=8192)
def speaker_words(speaker: str) -> frozenset[str]:
    """The words that name a speaker."""
    return frozenset(stems(speaker))

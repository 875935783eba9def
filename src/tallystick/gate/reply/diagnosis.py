"""Explain why a quote was not found and what the author should do.

The quote has already been refused; nothing here changes that. For a near miss the diagnosis includes the closest line,
so that the author sees what was misquoted.
"""

from bisect import bisect_right
from dataclasses import dataclass
from heapq import nlargest

from rapidfuzz import fuzz

from tallystick.gate.quotes import Folded, find_quote, fold

NEAR = 80
"""Similarity in percent above which a passage counts as the one the author meant."""
_SHOWN = 300
"""Maximum characters of the closest line in the advice; one line may be a whole paragraph."""
_RARE_WORDS = 6
_PLACES_PER_WORD = 100
"""Occurrences considered per word: rare words locate the passage, frequent words do not help."""
_SLOT = 48
"""Size in characters of a position bucket in which words vote for the same passage."""
_SHIFT = 12
_CANDIDATES = 3
_LONGEST = 4_000
"""Maximum characters of a quote that is compared."""
_SMALL = 4_000
"""Texts up to this many characters are compared as a whole."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Diagnosis:
    """What is wrong with a quote that does not occur in its source."""

    code: str
    """quote_ellipsis, quote_joined, quote_hidden_characters, quote_misquoted or quote_not_found."""
    advice: str
    line: int | None = None
    """Number of the closest line in the source, if there is one."""
    text: str | None = None
    similarity: int | None = None


def diagnose(quote: str, source: Folded) -> Diagnosis:
    """Explain why a quote was refused."""
    if len(quote) > _LONGEST:
        return Diagnosis(code="quote_not_found", advice="These words do not occur in the source; quote less of it.")
    line, text, similarity = _closest(fold(quote), source) or (None, None, None)
    code, advice = _reason(quote, source, near=line is not None)
    if text is not None:
        advice = f"{advice} Closest: L{line}: {text}"
    return Diagnosis(code=code, advice=advice, line=line, text=text, similarity=similarity)


def _reason(quote: str, source: Folded, *, near: bool) -> tuple[str, str]:
    if any(not sign.isprintable() and not sign.isspace() for sign in quote):
        return "quote_hidden_characters", "The quote contains invisible characters; copy the text again."
    if "..." in fold(quote):
        return "quote_ellipsis", "The quote replaces words with an ellipsis; give two quotes instead."
    if _is_joined(quote, source):
        return "quote_joined", "Two passages are joined, or words between them are missing; give two quotes instead."
    if near:
        return "quote_misquoted", "The source contains similar words, but not these; quote them exactly."
    return "quote_not_found", "These words do not occur in the source; quote it exactly or name the right file."


def _is_joined(quote: str, source: Folded) -> bool:
    """Whether the quote splits into two parts that each occur in the source."""
    words = quote.split()
    # Every prefix of a matching prefix matches too, so binary search finds the longest one.
    low, high = 1, len(words)
    while low + 1 < high:
        middle = (low + high) // 2
        if find_quote(" ".join(words[:middle]), source):
            low = middle
        else:
            high = middle
    rest = " ".join(words[low:])
    # A single word occurs almost everywhere, so both parts need at least two.
    return low > 1 and len(words) - low > 1 and find_quote(rest, source) is not None


def _closest(wanted: str, source: Folded) -> tuple[int, str, int] | None:
    best: tuple[float, int] | None = None
    for low, high in _windows(wanted, source):
        found = fuzz.partial_ratio_alignment(wanted, source.text[low:high], score_cutoff=NEAR)
        if found is not None and found.score > NEAR and (best is None or found.score > best[0]):
            best = (found.score, low + found.dest_start)
    if best is None:
        return None
    place = max(0, bisect_right(source.starts, _beginning(wanted, source.text, best[1])) - 1)
    end = source.starts[place + 1] if place + 1 < len(source.starts) else len(source.text)
    line = source.text[source.starts[place] : end].strip()
    return source.numbers[place], line[:_SHOWN], int(best[0])


def _beginning(wanted: str, text: str, near: int) -> int:
    """Return the start of the passage, located by its first words: a wrong word shifts the fuzzy alignment slightly."""
    words = wanted.split(" ")
    for count in (3, 2, 1):
        start = " ".join(words[:count])
        found = text.find(start, max(0, near - _SHIFT), near + len(start) + _SHIFT)
        if found >= 0:
            return found
    return near


def _windows(wanted: str, source: Folded) -> list[tuple[int, int]]:
    """Return candidate passages in which several of the quote's rarer words occur at the right distances."""
    if len(source.text) <= _SMALL:
        return [(0, len(source.text))]
    votes: dict[int, int] = {}
    places = [(at, source.words[word]) for at, word in _words_of(wanted) if word in source.words]
    for rank, (at, found) in enumerate(sorted(places, key=lambda one: len(one[1]))[:_RARE_WORDS]):
        if rank > 1 and len(found) > _PLACES_PER_WORD:
            break
        weight = _SLOT // len(found) + 1
        for place in found[:_PLACES_PER_WORD]:
            # Missing or extra words shift the text after them, so each occurrence votes for two adjacent slots.
            slot = (place - at) // _SLOT
            votes[slot] = votes.get(slot, 0) + weight
            votes[slot + 1] = votes.get(slot + 1, 0) + weight
    margin = len(wanted) // 4 + _SLOT
    starts = (slot * _SLOT for slot in nlargest(_CANDIDATES, votes, key=votes.__getitem__))
    return [(max(0, start - margin), start + len(wanted) + margin) for start in starts]


def _words_of(wanted: str) -> list[tuple[int, str]]:
    words: list[tuple[int, str]] = []
    at = 0
    for part in wanted.split(" "):
        stripped = part.strip("'.,;:!?()-")
        if stripped.isalnum():
            words.append((at + part.index(stripped), stripped))
        at += len(part) + 1
    return words

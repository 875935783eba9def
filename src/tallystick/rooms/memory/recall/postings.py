"""Postings: which texts hold a word and how much it weighs there, packed into five bytes a text; and their scores."""

import sys
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import nlargest

from tallystick.text.bm25 import saturation

MOST_TIMES = 15
LENGTHS = (4, 6, 8, 11, 14, 18, 23, 30, 40, 55, 75, 110, 170, 300, 800, 2000)
"""Lengths are kept in sixteen steps: four bits, and as many for how often the word stands there."""
B = 0.4
"""Texts here are short, so their length says little; 0.75, which is usual for pages, finds fewer."""
USUAL_LENGTH = 14
SIZE = 5
"""Bytes of one posting."""

WEIGHTS = tuple(saturation(times, length, USUAL_LENGTH, b=B) for times in range(16) for length in LENGTHS)
"""Packed weight → how much a mention counts."""


def weigh(words: Iterable[str]) -> dict[str, int]:
    """The words of one text → packed weight."""
    counted = Counter(words)
    step = min(bisect_right(LENGTHS, counted.total()), len(LENGTHS) - 1)
    return {word: min(times, MOST_TIMES) << 4 | step for word, times in counted.items()}


def pack(numbers: "array[int]", weights: bytes | bytearray) -> bytes:
    """Postings as bytes, the same on every machine."""
    if sys.byteorder == "big":
        numbers = array("I", numbers)
        numbers.byteswap()
    return numbers.tobytes() + bytes(weights)


def unpack(data: bytes) -> "tuple[array[int], bytes]":
    """Numbers (rising) and weights."""
    return unpack_all((data,))


def unpack_all(parts: Sequence[bytes]) -> "tuple[array[int], bytes]":
    """The same of several, one after the other."""
    numbers = array("I", b"".join([part[: len(part) // SIZE * 4] for part in parts]))
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers, b"".join([part[len(part) // SIZE * 4 :] for part in parts])


Unpacked = tuple["array[int]", bytes | bytearray]
Postings = Unpacked | bytes
"""Of the tail as they are; of a kept segment still packed."""


def add_scores(
    lists: Iterable[Postings], values: list[float], scores: dict[int, float], *, cut: int | None, visits: int
) -> int:
    """Add a word's postings to the scores.

    Args:
        lists: The postings, the newest first.
        values: Packed weight → what it adds.
        scores: Number of a text → its score.
        cut: Only texts with a lower number; None: all.
        visits: How many postings may be looked at, the newest of them.

    Returns:
        The visits that are left.
    """
    for numbers, weights in _newest_postings(lists, cut, visits):
        visits -= len(numbers)
        added = dict(zip(numbers, map(values.__getitem__, weights), strict=True))
        # Few texts hold two of the words; only those need a step in Python.
        for number in scores.keys() & added.keys():
            added[number] += scores[number]
        scores.update(added)
    return visits


def _newest_postings(lists: Iterable[Postings], cut: int | None, visits: int) -> Iterator[Unpacked]:
    """So many postings, in few pieces: a word of a hundred segments has a hundred short lists."""
    whole: list[bytes] = []
    for held in lists:
        if visits <= 0:
            break
        if cut is None and isinstance(held, bytes) and len(held) <= visits * SIZE:
            visits -= len(held) // SIZE
            whole.append(held)
            continue
        numbers, weights = unpack(held) if isinstance(held, bytes) else held
        end = len(numbers) if cut is None else bisect_left(numbers, cut)
        if numbers and end == len(numbers):
            # What is older lies before the cut as well.
            cut = None
        start = max(end - visits, 0)
        visits -= end - start
        yield numbers[start:end], weights[start:end]
    yield unpack_all(whole)


def best_of(scores: Mapping[int, float], limit: int) -> list[int]:
    """The numbers with the highest scores, the newer first among equals."""
    if len(scores) <= limit:
        return sorted(scores, key=lambda number: (-scores[number], -number))
    # Without a key this is many times as quick, and few are left to be sorted.
    least = nlargest(limit, scores.values())[-1]
    chosen = [number for number, score in scores.items() if score >= least]
    if len(chosen) > 2 * limit:
        # Where one common word is all that was asked, thousands may come to the very same.
        equal = [number for number in chosen if scores[number] == least]
        chosen = [number for number in chosen if scores[number] > least]
        chosen += nlargest(limit - len(chosen), equal)
    chosen.sort(key=lambda number: (-scores[number], -number))
    return chosen[:limit]

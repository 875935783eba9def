"""Scores of texts while a search goes on: what words add to them, and which are the best."""

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from heapq import nlargest

from tallystick.rooms.memory.postings import SIZE, unpack, unpack_all

Unpacked = tuple["array[int]", bytes | bytearray]
Postings = Unpacked | bytes
"""Of the tail as they are; of a kept segment still packed."""


def gather(
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
    for numbers, weights in _newest(lists, cut, visits):
        visits -= len(numbers)
        added = dict(zip(numbers, map(values.__getitem__, weights), strict=True))
        # Few texts hold two of the words; only those need a step in Python.
        for number in scores.keys() & added.keys():
            added[number] += scores[number]
        scores.update(added)
    return visits


def _newest(lists: Iterable[Postings], cut: int | None, visits: int) -> Iterator[Unpacked]:
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

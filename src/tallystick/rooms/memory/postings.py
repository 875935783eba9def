"""Which texts hold a word, and how much it weighs there, packed into five bytes a text."""

import sys
from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence

MOST_TIMES = 15
LENGTHS = (4, 6, 8, 11, 14, 18, 23, 30, 40, 55, 75, 110, 170, 300, 800, 2000)
"""Lengths are kept in sixteen steps: four bits, and as many for how often the word stands there."""
K1, B = 1.2, 0.4
"""BM25's constants. Texts here are short, so length says little; 0.75, which is usual for pages, finds fewer."""
USUAL_LENGTH = 14
SIZE = 5
"""Bytes of one posting."""

WEIGHTS = tuple(
    times * (K1 + 1) / (times + K1 * (1 - B + B * length / USUAL_LENGTH)) for times in range(16) for length in LENGTHS
)
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


def without(data: bytes, number: int) -> bytes:
    """The postings of all texts but one."""
    numbers, weights = unpack(data)
    at = numbers.index(number)
    del numbers[at]
    return pack(numbers, weights[:at] + weights[at + 1 :])

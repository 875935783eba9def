"""How hard a text is to read, by the formulas of the field. Syllables are counted by hyphenation patterns.

    Flesch reading ease      206.835 - 1.015 W/S - 84.6 Y/W
    Flesch-Kincaid grade     0.39 W/S + 11.8 Y/W - 15.59
    Gunning fog              0.4 (W/S + 100 C/W)
    SMOG                     1.0430 sqrt(30 C/S) + 3.1291
    Coleman-Liau             0.0588 L - 0.296 N - 15.8     (letters and sentences per 100 words)
    Automated readability    4.71 letters/W + 0.5 W/S - 21.43

W words, S sentences, Y syllables, C words of three or more syllables.
"""

import math
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

_COMPLEX = 3


def readability(words: Sequence[str], sentences: int) -> dict[str, float]:
    """All measures of a text; empty without words."""
    count = len(words)
    if not count or not sentences:
        return {}
    syllables = [syllable_count(word.lower()) for word in words]
    letters = sum(sum(map(str.isalpha, word)) for word in words)
    hard = sum(one >= _COMPLEX for one in syllables)
    length, weight = count / sentences, sum(syllables) / count
    return {
        "flesch_reading_ease": 206.835 - 1.015 * length - 84.6 * weight,
        "flesch_kincaid_grade": 0.39 * length + 11.8 * weight - 15.59,
        "gunning_fog": 0.4 * (length + 100 * hard / count),
        "smog": 1.0430 * math.sqrt(30 * hard / sentences) + 3.1291,
        "coleman_liau": 0.0588 * 100 * letters / count - 0.296 * 100 * sentences / count - 15.8,
        "automated_readability": 4.71 * letters / count + 0.5 * length - 21.43,
    }


@lru_cache(maxsize=65_536)
def syllable_count(word: str) -> int:
    """Syllables of a word: the places where it may be divided, and one."""
    return sum(len(_patterns().positions(part)) + 1 for part in word.replace("’", "'").split("-") if part)  # noqa: RUF001


@cache
def _patterns() -> Any:
    import pyphen  # type: ignore[import-untyped] # noqa: PLC0415 - loads a dictionary

    # Typesetters leave two letters before a break and three after it; syllables know no such rule.
    return pyphen.Pyphen(lang="en_US", left=1, right=1)

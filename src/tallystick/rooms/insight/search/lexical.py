"""How much the words of some texts agree, and the parts of their words: misspelt and inflected ones agree a little."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_READ = 1_000
"""Characters of each text: what it is about is said by then."""
_WORD = re.compile(r"\w+")


def agreement(texts: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Cosine of every text with every other, by words and word pairs, and by two to four letters in a row.

    What most of these texts say counts little, what few say counts much (TF-IDF).
    """
    words = [_WORD.findall(text[:MOST_READ].casefold()) for text in texts]
    letters: dict[str, list[str]] = {}
    for word in {word for said in words for word in said}:
        letters[word] = _letters(word)
    by_words = _cosines([said + [f"{one} {two}" for one, two in pairwise(said)] for said in words])
    by_letters = _cosines([[part for word in said for part in letters[word]] for said in words])
    return by_words, by_letters


def _letters(word: str) -> list[str]:
    framed = f" {word} "
    return [framed[at : at + size] for size in (2, 3, 4) for at in range(len(framed) - size + 1)]


def _cosines(bags: Sequence[Iterable[str]]) -> NDArray[np.float64]:
    numbers: dict[str, int] = {}
    columns: list[int] = []
    counts: list[int] = []
    ends = [0]
    for bag in bags:
        counted = Counter(bag)
        columns.extend(numbers.setdefault(part, len(numbers)) for part in counted)
        counts.extend(counted.values())
        ends.append(len(columns))
    sparse: Any = import_module("scipy.sparse")
    at = np.array(columns, dtype=np.int64)
    holders = np.bincount(at, minlength=len(numbers))
    rarity = np.log((1 + len(bags)) / (1 + holders)) + 1
    weights = (1 + np.log(np.array(counts, dtype=np.float64))) * rarity[at]
    table = sparse.csr_matrix((weights, at, np.array(ends)), shape=(len(bags), max(1, len(numbers))))
    lengths = np.sqrt(np.asarray(table.multiply(table).sum(axis=1)).ravel())
    products: NDArray[np.float64] = (table @ table.T).toarray()
    return products / np.maximum(np.outer(lengths, lengths), 1e-12)

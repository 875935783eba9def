"""How much the words of some texts agree, and the parts of their words: misspelt and inflected ones agree a little."""

import re
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
    said = [_WORD.findall(text[:MOST_READ].casefold()) for text in texts]
    words, known = _counted(said)
    # Each word is taken apart once, however many texts say it.
    parts, _ = _counted([_letters(word) for word in known])
    pairs, _ = _counted([[*one, *(f"{first} {second}" for first, second in pairwise(one))] for one in said])
    return _cosines(pairs), _cosines(words @ parts)


def _letters(word: str) -> list[str]:
    framed = f" {word} "
    return [framed[at : at + size] for size in (2, 3, 4) for at in range(len(framed) - size + 1)]


def _counted(bags: Sequence[Iterable[str]]) -> tuple[Any, list[str]]:
    """How often each bag holds what, as a sparse table; and what its columns stand for."""
    numbers: dict[str, int] = {}
    columns: list[int] = []
    ends = [0]
    for bag in bags:
        columns.extend([numbers.setdefault(part, len(numbers)) for part in bag])
        ends.append(len(columns))
    sparse: Any = import_module("scipy.sparse")
    cells = (np.ones(len(columns)), np.array(columns, dtype=np.int32), np.array(ends, dtype=np.int32))
    table = sparse.csr_matrix(cells, shape=(len(bags), len(numbers)))
    table.sum_duplicates()
    return table, list(numbers)


def _cosines(counts: Any) -> NDArray[np.float64]:
    holders = np.bincount(counts.indices, minlength=counts.shape[1])
    rarity = np.log((1 + counts.shape[0]) / (1 + holders)) + 1
    counts.data = (1 + np.log(counts.data)) * rarity[counts.indices]
    lengths = np.sqrt(np.asarray(counts.multiply(counts).sum(axis=1)).ravel())
    products: NDArray[np.float64] = (counts @ counts.T).toarray()
    return products / np.maximum(np.outer(lengths, lengths), 1e-12)

"""Reranking of search candidates.

A vector of few words is rough: a single odd word moves it. So each candidate, and the question, is moved a little
towards those candidates that it agrees with most, in meaning and in words, and then compared again. Tickets of one kind
draw together and stragglers fall behind. Before that, what all tickets of the dataset have in common is taken out.
"""

from collections.abc import Iterable, Sequence
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallystick.rooms.insight.search.model import Matrix, Vector
from tallystick.text.words import words

MOST_READ = 1_000
"""Characters of each text: what it is about is said by then."""
CANDIDATES = 200
"""Looked at: enough that most of them have others of their kind among them."""
WORDS, LETTERS = 0.2, 0.2
"""How much agreeing words, and parts of words, count beside meaning."""
COMPANY, PULL, ROUNDS = 10, 0.7, 2
"""How many others each is moved towards, how far, how often. Found on one corpus, checked on others."""
FEW = 20
"""One neighbour per so many candidates: few candidates have no meaningful neighbours."""
STRIP = 4
"""Rows multiplied at once."""
SETTLED = 100
"""A middle of fewer vectors than this says little about what tickets have in common."""


def reranked(
    query: Vector, vectors: Matrix, texts: Sequence[str], question: str, *, mean: Vector, rows: int
) -> NDArray[np.float64]:
    """A score for each candidate, the higher the better.

    Args:
        query: The question's vector.
        vectors: The candidates' vectors.
        texts: Their texts.
        question: Its text.
        mean: The middle of all vectors of the dataset.
        rows: How many they are.
    """
    common = mean.astype(np.float64) * (rows / (rows + SETTLED))
    places = _unit(np.vstack([query, vectors]).astype(np.float64) - common)
    by_words, by_letters = agreement([question, *texts])
    wording = WORDS * by_words + LETTERS * by_letters
    company = min(COMPANY, len(texts) // FEW)
    if company == 0:
        return np.asarray(places[1:] @ places[0] + wording[0, 1:])
    few = -len(places) % STRIP
    # Padded once, so that every product below comes out in whole strips.
    places, wording = np.pad(places, ((0, few), (0, 0))), np.pad(wording, (0, few), constant_values=-np.inf)
    moved = places
    for _ in range(ROUNDS):
        alike = _product(moved, moved.T) + wording
        np.fill_diagonal(alike, -np.inf)
        # A stable sort, so that copies of a text keep their order on every machine.
        nearest = np.argsort(-alike, axis=1, kind="stable")[:, :company]
        chosen = np.zeros_like(alike)
        np.put_along_axis(chosen, nearest, PULL / company, axis=1)
        moved = _unit(places + _product(chosen, moved))
    return np.asarray(moved[1 : len(texts) + 1] @ moved[0])


def _product(left: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
    """A matrix product in strips: so small ones are not shared out among cores, which costs more than they do."""
    strips = left.reshape(-1, STRIP, left.shape[1])
    return np.asarray(np.matmul(strips, right).reshape(len(left), right.shape[1]))


def _unit(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    lengths: NDArray[np.float64] = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, np.maximum(lengths, 1e-12))


def agreement(texts: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Cosine of every text with every other, by words and word pairs, and by two to four letters in a row.

    What most of these texts say counts little, what few say counts much (TF-IDF).
    """
    said = [words(text[:MOST_READ]) for text in texts]
    counts, known = _counted(said)
    # Each word is taken apart once, however many texts say it.
    parts, _ = _counted([_letters(word) for word in known])
    pairs, _ = _counted([[*one, *(f"{first} {second}" for first, second in pairwise(one))] for one in said])
    return _cosines(pairs), _cosines(counts @ parts)


def _letters(word: str) -> list[str]:
    framed = f" {word} "
    return [framed[at : at + size] for size in (2, 3, 4) for at in range(len(framed) - size + 1)]


def _counted(bags: Sequence[Iterable[str]]) -> tuple[Any, list[str]]:
    """Counts as a sparse matrix, and the meaning of its columns."""
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

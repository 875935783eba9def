"""The candidates of a search, put in order once more.

A vector of few words is rough: a single odd word moves it. So each candidate, and the question, is moved a little
towards those candidates that it agrees with most, in meaning and in words, and then compared again. Tickets of one kind
draw together and stragglers fall behind. Before that, what all tickets of the dataset have in common is taken out.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tallystick.rooms.insight.search.lexical import agreement
from tallystick.rooms.insight.search.nouns import Matrix, Vector

CANDIDATES = 200
"""Looked at: enough that most of them have others of their kind among them."""
WORDS, LETTERS = 0.2, 0.2
"""How much agreeing words, and parts of words, count beside meaning."""
COMPANY, PULL, ROUNDS = 10, 0.7, 2
"""How many others each is moved towards, how far, how often. Found on one corpus, checked on others."""
FEW = 20
"""One companion for so many candidates: among five there is no company to speak of."""
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

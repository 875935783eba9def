"""Confidence that the passages found answer a question: features of a search, and a small trained scorer.

The passages are ordered by how near they are to the whole question. The scorer is a logistic regression; its weights
lie in `confidence.json`, one set for each way of retrieval, with the data they were trained on. What it gives is a
probability, read off on messages it was not trained on (`benchmarks/desk`).
"""

import math
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from tallystick.reading.embedder import Embedder
from tallystick.reading.retriever import FoundPassage
from tallystick.records import record
from tallystick.text.sentences import sentences
from tallystick.text.stems import stem_all
from tallystick.text.words import content_words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WEIGHTS = Path(__file__).with_name("confidence.json")
LEXICAL = "lexical"
"""The set of weights for retrieval by words alone."""
WEAKEST = 0.2
"""The share of a question's tokens that are matched worst."""
NEAR_FIRST = 5
VECTOR, TOKENS, WEAK, WORDS = 0.6, 1.0, 1.2, 0.025
"""What each measure counts in the order of passages, fitted like the scorer's weights."""
HELD = 1_000
"""Passages whose vectors are kept: some 100 MB at the most."""


@record
class ScoredPassage:
    """A passage and how near it is to the question."""

    found: FoundPassage
    score: float
    """1 for the nearest passage, less for the others."""


@record
class ScoredSearch:
    """The passages of a search, the nearest first."""

    passages: tuple[ScoredPassage, ...]
    confidence: float
    """Probability that the first passages together answer the whole question."""
    features: Mapping[str, float]


class EmbeddedTexts:
    """The vectors of the texts that were compared lately."""

    def __init__(self) -> None:
        self._held: OrderedDict[str, tuple[NDArray[np.float32], NDArray[np.float32]]] = OrderedDict()

    def of(self, texts: Sequence[str], embedder: Embedder) -> "list[tuple[NDArray[np.float32], NDArray[np.float32]]]":
        """Return for each text its vector and those of its tokens."""
        new = [text for text in dict.fromkeys(texts) if text not in self._held]
        if new:
            self._held.update(zip(new, zip(embedder.embed(new), embedder.token_vectors(new), strict=True), strict=True))
        for text in texts:
            self._held.move_to_end(text)
        found = [self._held[text] for text in texts]
        while len(self._held) > HELD:
            self._held.popitem(last=False)
        return found


@record
class _Likeness:
    """How near one passage is, by each measure."""

    lexical: float
    shared: float
    vector: float = 0.0
    tokens: float = 0.0
    weakest: float = 0.0
    question: float = 0.0

    @property
    def total(self) -> float:
        return VECTOR * self.vector + TOKENS * self.tokens + WEAK * self.weakest + WORDS * self.lexical


def score_search(
    question: str,
    found: Sequence[FoundPassage],
    lexical: Mapping[tuple[str, int], float],
    embedder: Embedder | None,
    embedded: "EmbeddedTexts",
) -> ScoredSearch:
    """Order the passages of a search and say how likely they answer the question.

    Args:
        question: The whole message, or one need of it.
        found: Candidates.
        lexical: Document and passage number → score of the lexical index.
        embedder: The model of the search; None: it went by words alone.
        embedded: Vectors of the passages that were compared before.
    """
    if not found:
        return ScoredSearch(passages=(), confidence=0.0, features={})
    likeness = _likeness(question, found, lexical, embedder, embedded)
    order = sorted(range(len(found)), key=lambda at: (-likeness[at].total, at))
    ordered = [likeness[at] for at in order]
    features = _features(question, [found[at] for at in order], ordered)
    best = ordered[0].total or 1.0
    # Words that are not shared say nothing; vectors may.
    says_nothing = embedder is None and not features["shared_by_two"]
    return ScoredSearch(
        passages=tuple(
            ScoredPassage(found=found[at], score=round(max(0.0, min(1.0, one.total / best)), 4))
            for at, one in zip(order, ordered, strict=True)
        ),
        confidence=0.0 if says_nothing else probability(features, LEXICAL if embedder is None else embedder.name),
        features=features,
    )


def probability(features: Mapping[str, float], retrieval: str) -> float:
    """Return the scorer's probability; for a way of retrieval without weights, those of the words alone."""
    sets = _weights()
    chosen = sets.get(retrieval) or sets.get(LEXICAL)
    if chosen is None:
        return 0.0
    total = chosen["bias"] + sum(chosen["weights"].get(name, 0.0) * value for name, value in features.items())
    return round(1 / (1 + math.exp(-max(-30.0, min(30.0, total)))), 4)


@cache
def _weights() -> Any:
    """Way of retrieval → bias and weights."""
    return orjson.loads(WEIGHTS.read_bytes())


def _likeness(
    question: str,
    found: Sequence[FoundPassage],
    lexical: Mapping[tuple[str, int], float],
    embedder: Embedder | None,
    embedded: "EmbeddedTexts",
) -> list[_Likeness]:
    asked = set(stem_all(content_words(question, query=True)))
    texts = [each.in_context for each in found]
    scores = [lexical.get((each.name, each.passage.number), 0.0) for each in found]
    shares = [len(asked & set(stem_all(content_words(text)))) / (len(asked) or 1) for text in texts]
    if embedder is None:
        return [_Likeness(lexical=score, shared=share) for score, share in zip(scores, shares, strict=True)]
    parts = [one for one in sentences(question, wrapped=False) if one.rstrip().endswith("?")] or [question]
    query, *questions = embedder.token_vectors([question, *parts])
    asked_vector = embedder.embed([question])[0]
    made = []
    for at, (vector, tokens) in enumerate(embedded.of(texts, embedder)):
        matched = _matched(query, tokens)
        low = sorted(matched)[: max(1, round(len(matched) * WEAKEST))]
        made.append(
            _Likeness(
                lexical=scores[at],
                shared=shares[at],
                vector=float(asked_vector @ vector),
                tokens=sum(matched) / (len(matched) or 1),
                weakest=sum(low) / len(low) if low else 0.0,
                question=max(_mean(_matched(one, tokens)) for one in questions),
            )
        )
    return made


def _matched(query: "NDArray[np.float32]", tokens: "NDArray[np.float32]") -> list[float]:
    """Return for each token of the query how near the nearest token of the passage is."""
    return [float(one) for one in (query @ tokens.T).max(axis=1)] if len(query) and len(tokens) else []


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _features(question: str, found: Sequence[FoundPassage], ordered: Sequence[_Likeness]) -> dict[str, float]:
    first, second = ordered[0], ordered[min(1, len(ordered) - 1)]
    beside = next((one for each, one in zip(found, ordered, strict=True) if each.name != found[0].name), ordered[-1])
    rest = ordered[1:] or ordered
    return {
        "vector": first.vector,
        "tokens": first.tokens,
        "weakest": first.weakest,
        "question": first.question,
        "lexical": first.lexical / 10,
        "shared": first.shared,
        "shared_by_two": max(first.shared, second.shared),
        "ahead": first.total - second.total,
        "ahead_of_others": first.total - beside.total,
        "ahead_of_mean": first.total - _mean([one.total for one in rest]),
        "second": second.tokens,
        "same_document": sum(each.name == found[0].name for each in found[:NEAR_FIRST]) / NEAR_FIRST,
        "best_by_vector": float(first.vector >= max(one.vector for one in ordered)),
        "best_by_tokens": float(first.tokens >= max(one.tokens for one in ordered)),
        "best_by_words": float(first.lexical >= max(one.lexical for one in ordered)),
        "question_words": math.log(1 + len(question.split())),
        "passage_words": math.log(1 + len(found[0].text.split())),
        "figures": float(any(map(str.isdigit, found[0].text))),
    }

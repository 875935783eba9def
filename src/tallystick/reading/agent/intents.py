"""What a request asks for: the tool, or the kind of answer, whose example requests are nearest in meaning.

Rooms bring examples of requests for their tools. Here are only those of the kinds of request that no tool serves. A
request is compared after the names in it were replaced by what they name (`{scene}`), as in the examples.
"""

import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from tallystick.reading.embedder import Embedder
from tallystick.records import record
from tallystick.text.bm25 import Bm25
from tallystick.text.stems import stem_all, stems
from tallystick.text.words import content_words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NEAREST = 3
"""Examples of an intent that count, the nearest most."""
_BY_WORDS = 0.3
_PLAIN = 0.03
"""By how much a group of examples with arguments must be nearer than one without."""
_SHARES = (0.6, 0.25, 0.15)
_MANY = 10
REGULARISED = 1.0
"""Ridge penalty; chosen by cross-validation between requests of two authors."""
PLACEHOLDERS = {"{scene}": "the scene", "{card}": "the card", "{person}": "the character", "{place}": "the place"}


@record
class RequestExample:
    """Requests that one call serves."""

    intent: str
    """The name of a tool, or of a kind of answer."""
    requests: tuple[str, ...]
    args: Mapping[str, Any]
    """Arguments that these requests have in common."""


@record
class RequestIntent:
    """What a request asks for."""

    name: str
    args: Mapping[str, Any]
    """Of the nearest example."""
    score: float
    carriers: frozenset[str]
    """Stems of the words with which the examples ask; the other words of a request are its matter."""


def read_examples(text: str) -> tuple[RequestExample, ...]:
    """Read a file of examples: per intent, groups of requests, each with its arguments."""
    return tuple(
        RequestExample(intent=intent, requests=tuple(group["requests"]), args=group.get("args", {}))
        for intent, groups in tomllib.loads(text).items()
        for group in groups
    )


@cache
def plain_examples() -> tuple[RequestExample, ...]:
    """Return the examples of requests that no tool serves."""
    return read_examples(files("tallystick.reading.agent").joinpath("requests.toml").read_text(encoding="utf-8"))


class IntentIndex:
    """Example requests, compared by meaning or, without a model, by words."""

    def __init__(self, examples: Iterable[RequestExample], embedder: Embedder | None) -> None:
        self._rows = [(each, worded(text)) for each in (*examples, *plain_examples()) for text in each.requests]
        self._embedder = embedder
        texts = [text for _, text in self._rows]
        self._vectors = None if embedder is None else embedder.embed(texts)
        self._learnt = None if self._vectors is None else Ridge(self._vectors, [each.intent for each, _ in self._rows])
        self._tokens: list[Any] | None = None
        self._words = Bm25([stems(text) for text in texts])
        self._lengths = [max(1, len(set(stems(text)))) for text in texts]

    def rank(self, request: str, offered: Sequence[str]) -> list[RequestIntent]:
        """Return the intents that fit a request, the best first.

        Args:
            request: With its names replaced.
            offered: Names of the tools that may be called.
        """
        scores = self._scores(worded(request))
        plain = {each.intent for each in plain_examples()}
        by_name: dict[str, list[tuple[float, RequestExample]]] = {}
        for score, (example, _) in zip(scores, self._rows, strict=True):
            if example.intent in plain or example.intent in offered:
                by_name.setdefault(example.intent, []).append((score, example))
        found = [self._intent(name, rows, set(stems(worded(request)))) for name, rows in by_name.items()]
        if self._learnt is not None and self._embedder is not None:
            learnt = self._learnt.scores(self._embedder.embed([worded(request)])[0])
            nearest = {name: max(score for score, _ in rows) for name, rows in by_name.items()}
            found = [replace(each, score=learnt[each.name] + nearest[each.name]) for each in found]
        return sorted(found, key=lambda each: -each.score)

    def knows(self, tool: str) -> bool:
        """Return whether there are example requests for a tool."""
        return any(example.intent == tool for example, _ in self._rows)

    def usual_args(self, tool: str) -> Mapping[str, Any]:
        """Return the arguments of the first examples of a tool."""
        return next((example.args for example, _ in self._rows if example.intent == tool), {})

    def _intent(self, name: str, rows: list[tuple[float, RequestExample]], asked: set[str]) -> RequestIntent:
        best = sorted(rows, key=lambda row: -row[0])[:NEAREST]
        score = sum(share * row[0] for share, row in zip(_SHARES, best, strict=False))
        groups: dict[int, list[float]] = {}
        for value, example in sorted(rows, key=lambda row: -row[0]):
            groups.setdefault(id(example), []).append(value)
        # The two nearest of each group: one alone may be near by a single word.
        scores = {key: sum((values * 2)[:2]) / 2 for key, values in groups.items()}
        nearest = max(
            (example for _, example in rows),
            key=lambda example: scores[id(example)] + self._plainness(example, rows, asked),
        )
        asks = {id(example): example for _, example in rows}.values()
        count = Counter(stem for example in asks for text in example.requests for stem in set(stems(worded(text))))
        # Among many examples, a word that occurs in only one is the topic of that example.
        carriers = frozenset(stem for stem, times in count.items() if times > 1 or len(rows) < _MANY)
        return RequestIntent(name=name, args=nearest.args, score=score, carriers=carriers)

    def _plainness(self, example: RequestExample, rows: list[tuple[float, RequestExample]], asked: set[str]) -> float:
        """Return what a group gets for having no arguments; without a model, arguments need a word of their own."""
        if not example.args:
            return _PLAIN
        if self._embedder is not None:
            return 0.0
        others = {word for _, other in rows if other is not example for text in other.requests for word in stems(text)}
        own = {word for text in example.requests for word in stem_all(content_words(text))} - others
        return 0.0 if own & asked or all(other.args for _, other in rows) else -1.0

    def _scores(self, request: str) -> list[float]:
        by_words = self._words.scores(stems(request))
        top = max(by_words.values(), default=0.0) or 1.0
        lexical = [by_words.get(at, 0.0) / top for at in range(len(self._rows))]
        if self._embedder is None or self._vectors is None:
            return lexical
        meaning = self._vectors @ self._embedder.embed([request])[0]
        (asked,) = self._embedder.token_vectors([request])
        if self._tokens is None:
            self._tokens = self._embedder.token_vectors([text for _, text in self._rows])
        # How much of an example is in the request: what the request says besides is its matter.
        matched = [float((each @ asked.T).max(axis=1).mean()) for each in self._tokens]
        return [
            (float(near) + match) / 2 + _BY_WORDS * words
            for near, words, match in zip(meaning, lexical, matched, strict=True)
        ]


class Ridge:
    """Ridge regression from vectors to intents, fitted when the examples are loaded, by one linear system."""

    def __init__(self, vectors: "NDArray[np.float32]", intents: Sequence[str]) -> None:
        import numpy as np  # noqa: PLC0415 - comes with the embedding models

        self._names = sorted(set(intents))
        count = Counter(intents)
        weights = np.array([len(intents) / len(self._names) / count[each] for each in intents])
        wanted = np.array([[1.0 if each == name else -1.0 for name in self._names] for each in intents])
        rows = np.hstack([vectors, np.ones((len(vectors), 1))])
        system = rows.T @ (rows * weights[:, None]) + REGULARISED * np.eye(rows.shape[1])
        self._weights = np.linalg.solve(system, rows.T @ (wanted * weights[:, None]))

    def scores(self, vector: "NDArray[np.float32]") -> dict[str, float]:
        """Return a score for each intent, roughly between -1 and 1."""
        found = vector @ self._weights[:-1] + self._weights[-1]
        return {name: float(score) for name, score in zip(self._names, found, strict=True)}


def worded(text: str) -> str:
    """Return an example with its placeholders as plain words."""
    for mark, words in PLACEHOLDERS.items():
        text = text.replace(mark, words)
    return text

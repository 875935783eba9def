"""Categories of a message that decide who answers it: refunds, complaints, legal, security, safety, minors, a person.

A small trained classifier over sentence vectors, or over words and pairs of words where there is no embedding model.
Its weights are in `categories.json`, the examples that it was trained on besides open data in `categories.toml`. The
owner adds examples, and categories, in `desk/categories.toml`; a message that says mostly the same as one of them
belongs to its category.
"""

import math
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import orjson

from tallystick.errors import ConfigError
from tallystick.reading.embedder import Embedder
from tallystick.text.sentences import sentences
from tallystick.text.stems import stem_all
from tallystick.text.words import content_words, words

PERSON = "person"
"""The category of messages that ask for a human being."""
GENERAL = "general"
"""The category of messages that belong to no other."""
LIKELY = 0.5
"""Probability from which on a message belongs to a category."""
SAME = 0.6
"""The share of an example's words that a message says to belong to its category."""
_WEIGHTS = Path(__file__).with_name("categories.json")
_NUMBER = "#"
WORDS = "words"
"""The set of weights for words alone."""
MOST_PARTS = 40

Examples = Mapping[str, Sequence[str]]


class MessageClassifier:
    """Finds the categories of messages."""

    def __init__(
        self, examples: Examples | None = None, choose_embedder: Callable[[], Embedder | None] = lambda: None
    ) -> None:
        """Take the owner's examples.

        Args:
            examples: Category → what customers write.
            choose_embedder: Loads the embedding model on first use; None: by words alone.
        """
        self._choose_embedder = choose_embedder
        self._examples = {
            name: [frozenset(_content(each)) for each in given] for name, given in (examples or {}).items()
        }

    @cached_property
    def _embedder(self) -> Embedder | None:
        found = self._choose_embedder()
        return found if found is not None and found.name in _weights() else None

    def categories(self, text: str) -> tuple[str, ...]:
        """Return the categories of a message, the most probable first: of the whole of it or of a sentence."""
        found: dict[str, float] = {}
        parts = list(dict.fromkeys((text, *sentences(text, wrapped=False))))[:MOST_PARTS]
        for part, probabilities in zip(parts, self._probabilities(parts), strict=True):
            for name, probability in probabilities.items():
                found[name] = max(found.get(name, 0.0), probability)
            said = frozenset(_content(part))
            for name, examples in self._examples.items():
                if any(len(said & each) >= SAME * len(each) for each in examples if each):
                    found[name] = 1.0
        likely = [name for name, probability in found.items() if probability >= LIKELY]
        return tuple(sorted(likely, key=lambda name: -found[name]))

    def _probabilities(self, parts: Sequence[str]) -> list[dict[str, float]]:
        if self._embedder is None:
            return [_by_words(part) for part in parts]
        weights = _weights()[self._embedder.name]
        vectors = self._embedder.embed(parts)
        return [
            {name: _logistic(each["bias"] + float(vector @ each["weights"])) for name, each in weights.items()}
            for vector in vectors
        ]

    def category(self, text: str) -> str:
        """Return the category of a message, for the settings that name categories."""
        return next(iter(self.categories(text)), GENERAL)


def read_examples(path: Path) -> dict[str, list[str]]:
    """Return the owner's examples; none without the file.

    Raises:
        ConfigError: The file is not a list of texts for each category.
    """
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"{path.name} cannot be read: {type(error).__name__}. Write TOML.", code="config_bad_value"
        ) from None
    if not all(isinstance(each, list) and all(isinstance(one, str) for one in each) for each in given.values()):
        raise ConfigError(f"{path.name}: give each category a list of texts.", code="config_bad_value")
    return given


def _by_words(text: str) -> dict[str, float]:
    said = _features(text)
    size = math.sqrt(len(said)) or 1.0
    return {
        name: _logistic(each["bias"] + sum(each["weights"].get(word, 0.0) for word in said) / size)
        for name, each in _weights()[WORDS].items()
    }


def _logistic(total: float) -> float:
    return 1 / (1 + math.exp(-total))


def _features(text: str) -> list[str]:
    """The words and pairs of words that the classifier knows."""
    said = [_NUMBER if word.isdigit() else word for word in stem_all(words(text.lower()))]
    pairs = [f"{one} {other}" for one, other in pairwise(said)]
    return [each for each in dict.fromkeys((*said, *pairs)) if each in _vocabulary()]


def _content(text: str) -> list[str]:
    return list(stem_all(content_words(text)))


@cache
def _weights() -> Any:
    """Way of reading → category → its bias and weights."""
    return orjson.loads(_WEIGHTS.read_bytes())


@cache
def _vocabulary() -> frozenset[str]:
    return frozenset(word for category in _weights()[WORDS].values() for word in category["weights"])


def topic_in(text: str, topics: tuple[str, ...]) -> str | None:
    """Return the first forbidden topic in a text, as whole words."""
    folded = f" {' '.join(words(text.casefold()))} "
    return next((topic for topic in topics if f" {' '.join(words(topic.casefold()))} " in folded), None)

"""Why a ticket was found: words it shares with the question, words that mean nearly the same, its nearest sentence."""

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from tallystick.records import record
from tallystick.rooms.insight.embedding.running import MOST_READ

if TYPE_CHECKING:
    from tallystick.rooms.insight.embedding.port import Embedder
    from tallystick.rooms.insight.search.nouns import Vector

CLOSE = 0.55
"""Word vectors nearer than this mean nearly the same: card and cards, refund and reimbursement."""
MOST_WORDS, MOST_SENTENCES = 300, 40
_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")
_EMPTY = frozenset({
    "a", "about", "after", "all", "am", "an", "and", "any", "are", "as", "at", "be", "because", "been", "before",
    "being", "but", "by", "can", "cannot", "could", "did", "do", "does", "doing", "for", "from", "had", "has",
    "have", "having", "he", "her", "here", "him", "his", "how", "i", "if", "in", "into", "is", "it", "its", "just",
    "me", "my", "no", "nor", "not", "of", "off", "on", "or", "our", "out", "over", "please", "she", "so", "some",
    "such", "than", "that", "the", "their", "them", "then", "there", "these", "they", "this", "those", "to", "too",
    "up", "us", "very", "was", "we", "were", "what", "when", "where", "which", "while", "who", "whom", "why",
    "will", "with", "would", "you", "your", "i'd", "i'll", "i'm", "i've", "isn't", "it's", "what's",
})  # fmt: skip
"""Words that say nothing about what a text is about."""


@record
class Mark:
    """Some words of a ticket."""

    start: int
    """In the ticket's text, in characters."""
    end: int
    text: str
    kind: str
    """`same`: the question has this word; `close`: one that means nearly the same."""
    because: str
    """The question's word."""


@record
class Why:
    """Why one ticket was found."""

    marks: tuple[Mark, ...]
    sentence: str
    """The part of its text that is nearest to the question, verbatim."""
    sentence_score: float

    def as_dict(self) -> dict[str, Any]:
        """As JSON."""
        marks = [
            {"start": one.start, "end": one.end, "text": one.text, "kind": one.kind, "because": one.because}
            for one in self.marks
        ]
        return {"marks": marks, "sentence": self.sentence, "sentence_score": self.sentence_score}


def explained(question: str, text: str, model: "Embedder", query: "Vector") -> Why:
    """Why a text was found.

    Args:
        question: What was asked.
        text: The ticket's text.
        model: What made the vectors.
        query: The question's vector.
    """
    text = text[:MOST_READ]
    sentence, score = _nearest_sentence(text, model, query)
    return Why(marks=_marks(question, text, model), sentence=sentence, sentence_score=score)


def _nearest_sentence(text: str, model: "Embedder", query: "Vector") -> tuple[str, float]:
    sentences = [found.group().strip() for found in _SENTENCE.finditer(text)]
    sentences = [one for one in sentences if _WORD.search(one)][:MOST_SENTENCES] or [text.strip()]
    scores = model.embed(sentences) @ query
    best = int(np.argmax(np.round(scores, 6)))
    return sentences[best], round(float(scores[best]), 6)


def _marks(question: str, text: str, model: "Embedder") -> tuple[Mark, ...]:
    asked = {_stem(word): word for word in _words(question)}
    told = [found for found in _WORD.finditer(text) if found.group().casefold() not in _EMPTY][:MOST_WORDS]
    because = {found.group().casefold(): asked.get(_stem(found.group().casefold())) for found in told}
    unlike = [word for word, same in because.items() if same is None]
    close = _close(sorted(set(asked.values())), unlike, model)
    return tuple(
        Mark(
            start=found.start(), end=found.end(), text=found.group(),
            kind="same" if because[word] is not None else "close", because=because[word] or close[word],
        )
        for found in told if because[word := found.group().casefold()] is not None or word in close
    )  # fmt: skip


def _close(asked: list[str], told: list[str], model: "Embedder") -> dict[str, str]:
    """Words of a ticket → the word of the question that means nearly the same."""
    # Other models read whole sentences: what they make of a single word says little, and takes long.
    if model.backend != "builtin" or not asked or not told:
        return {}
    likeness = model.embed(told) @ model.embed(asked).T
    best = likeness.argmax(axis=1)
    return {word: asked[best[at]] for at, word in enumerate(told) if likeness[at, best[at]] >= CLOSE}


def _words(text: str) -> list[str]:
    return [word for found in _WORD.finditer(text) if (word := found.group().casefold()) not in _EMPTY]


def _stem(word: str) -> str:
    """A word without its commonest endings; both sides lose them alike, so it need not be right."""
    for ending in ("ies", "ing", "ed", "es", "s", "e", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:  # noqa: PLR2004 - what is left must still be a word
            return word[: -len(ending)]
    return word

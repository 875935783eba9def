"""Match explanations: shared words, words of similar meaning, and the nearest sentence."""

from typing import TYPE_CHECKING, Any

import numpy as np

from tallystick.records import record
from tallystick.rooms.insight.embed.service import MOST_READ
from tallystick.text.sentences import sentences
from tallystick.text.stems import stem
from tallystick.text.words import STOP_WORDS, word_spans, words

if TYPE_CHECKING:
    from tallystick.rooms.insight.embed.service import Embedder
    from tallystick.rooms.insight.search.model import Vector

CLOSE = 0.55
"""Word vectors nearer than this mean nearly the same: card and cards, refund and reimbursement."""
MOST_WORDS, MOST_SENTENCES = 300, 40


@record
class Mark:
    """A highlighted word of a ticket."""

    start: int
    """In the ticket's text, in characters."""
    end: int
    text: str
    kind: str
    """`same`: the question has this word; `close`: one that means nearly the same."""
    because: str
    """The question's word."""


@record
class MatchExplanation:
    """Why a ticket matched."""

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


def explain_match(question: str, text: str, model: "Embedder", query: "Vector") -> MatchExplanation:
    """Why a text was found.

    Args:
        question: What was asked.
        text: The ticket's text.
        model: What made the vectors.
        query: The question's vector.
    """
    text = text[:MOST_READ]
    sentence, score = _nearest_sentence(text, model, query)
    return MatchExplanation(marks=_marks(question, text, model), sentence=sentence, sentence_score=score)


def _nearest_sentence(text: str, model: "Embedder", query: "Vector") -> tuple[str, float]:
    found = [one for one in sentences(text, wrapped=False) if any(map(str.isalnum, one))][:MOST_SENTENCES]
    parts = found or [text.strip()]
    scores = model.embed(parts) @ query
    best = int(np.argmax(np.round(scores, 6)))
    return parts[best], round(float(scores[best]), 6)


def _marks(question: str, text: str, model: "Embedder") -> tuple[Mark, ...]:
    asked = {stem(word): word for word in words(question) if word not in STOP_WORDS}
    told = [word for word in word_spans(text) if word.folded not in STOP_WORDS][:MOST_WORDS]
    because = {word.folded: asked.get(stem(word.folded)) for word in told}
    unlike = [word for word, same in because.items() if same is None]
    close = _close(sorted(set(asked.values())), unlike, model)
    return tuple(
        Mark(
            start=word.start,
            end=word.end,
            text=word.written,
            kind="same" if because[word.folded] is not None else "close",
            because=because[word.folded] or close[word.folded],
        )
        for word in told
        if because[word.folded] is not None or word.folded in close
    )


def _close(asked: list[str], told: list[str], model: "Embedder") -> dict[str, str]:
    """Words of a ticket → the word of the question that means nearly the same."""
    # Other models read whole sentences: what they make of a single word says little, and takes long.
    if model.backend != "builtin" or not asked or not told:
        return {}
    likeness = model.embed(told) @ model.embed(asked).T
    best = likeness.argmax(axis=1)
    return {word: asked[best[at]] for at, word in enumerate(told) if likeness[at, best[at]] >= CLOSE}

"""Which sentence answers a question, and how sure that is: learnt features over the passages that were retrieved.

A sentence is judged by how well its words and its meaning match the question, by its passage, and by whether it holds
the kind of thing that was asked for (a number, a date, a name). The weights were learnt on SQuAD 2.0, half of whose
questions have no answer in their text (`benchmarks/answers.py`); so the probability of the best sentence is also the
probability that there is an answer at all.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from itertools import pairwise
from math import exp, log
from typing import TYPE_CHECKING

import orjson

from tallystick.reading.embedder import Embedder
from tallystick.reading.retriever import FoundPassage
from tallystick.records import record
from tallystick.text.calendar_names import MONTHS, WEEKDAYS
from tallystick.text.number_words import NUMBER_WORDS
from tallystick.text.sentences import sentence_spans
from tallystick.text.spans import Span, trim
from tallystick.text.stems import stem_all
from tallystick.text.words import STOP_WORDS, Word, content_words, word_spans, words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_SENTENCES = 120
"""Sentences that are compared with one question."""
MIN_WORDS = 2
_FIELD = re.compile(r"[^\W\d_][\w ]{0,40}:[ \t]")
"""A line such as `eyes: grey`: a statement of its own."""


@record
class Candidate:
    """A sentence that may answer the question."""

    passage: FoundPassage
    start: int
    """Offset in its document."""
    end: int
    line: int
    text: str
    around: str
    """With the sentences beside it in its paragraph."""
    confidence: float
    """Probability that it answers the question."""


def rank_sentences(
    question: str, passages: Sequence[FoundPassage], embedder: Embedder | None = None
) -> list[Candidate]:
    """Return the sentences of passages, the one that most probably answers the question first.

    Args:
        question: The question.
        passages: Retrieved passages, the best first.
        embedder: The model they were retrieved with; None: words alone decide.
    """
    found = _sentences(passages)
    asked = set(stem_all(content_words(question)))
    # What only repeats the question, or asks itself, answers nothing.
    found = [each for each in found if each.text.rstrip("\"'”’")[-1:] != "?" and not asked.issuperset(_said(each))]  # noqa: RUF001
    if not found:
        return []
    rows = features(
        question, [(sentence.text, passages.index(sentence.passage)) for sentence in found], passages, embedder
    )
    weights = _weights()["words" if embedder is None else embedder.name.partition("-")[0]]
    scored = [
        Candidate(
            passage=each.passage,
            start=each.start,
            end=each.end,
            line=each.line,
            text=each.text,
            around=each.around,
            confidence=_logistic(weights[0] + sum(w * x for w, x in zip(weights[1:], row, strict=True))),
        )
        for each, row in zip(found, rows, strict=True)
    ]
    return sorted(scored, key=lambda each: -each.confidence)


def _said(sentence: "_Sentence") -> set[str]:
    """Return the stems of what a sentence says; of a field, its value."""
    text = sentence.text
    field = _FIELD.match(text)
    return set(stem_all(content_words(text[field.end() :] if field else text)))


def features(
    question: str,
    sentences: Sequence[tuple[str, int]],
    passages: Sequence[FoundPassage],
    embedder: Embedder | None,
) -> list[list[float]]:
    """Return the features of each sentence; those of meaning only with an embedder.

    Args:
        question: The question.
        sentences: Text and place of its passage.
        passages: The passages, the best first.
        embedder: The model.
    """
    asked = list(dict.fromkeys(stem_all(content_words(question, query=True)))) or stem_all(words(question))
    in_passages = [set(stem_all(words(each.in_context))) for each in passages]
    rarity = {word: log(1 + len(passages) / (1 + sum(word in held for held in in_passages))) for word in asked}
    whole = sum(rarity.values()) or 1.0
    names = {each.folded for each in _names(question)}
    kind = asked_kind(question)
    heads = [each.in_context.partition("\n")[0] for each in passages]
    rows = []
    for text, at in sentences:
        # A field does not say of whom it is: its file does.
        stems = set(stem_all(words(f"{heads[at]} {text}" if _FIELD.match(text) else text)))
        own = sum(rarity[word] for word in asked if word in stems) / whole
        around = sum(rarity[word] for word in asked if word in in_passages[at]) / whole
        named = sum(name in passages[at].in_context.casefold() for name in names) / len(names) if names else 0.5
        holds = holds_kind(kind, text, names)
        rank = 1 / (1 + at)
        length = min(len(text.split()), 40) / 40
        rows.append([own, around, named, holds, rank, length, own * holds])
    if embedder is None:
        return rows
    return [
        [*row, *meaning] for row, meaning in zip(rows, _meaning(question, sentences, passages, embedder), strict=True)
    ]


def _meaning(
    question: str, sentences: Sequence[tuple[str, int]], passages: Sequence[FoundPassage], embedder: Embedder
) -> list[list[float]]:
    """Return, for each sentence, similarities of meaning: of the whole, of its tokens, of its passage."""
    heads = [each.in_context.partition("\n")[0] for each in passages]
    texts = [f"{heads[at]}. {text}" for text, at in sentences]
    tokens = embedder.token_vectors([question, *texts])
    asked = _mean(tokens[0])
    around = embedder.embed([each.in_context for each in passages]) @ embedder.embed([question])[0]
    return [
        [float(_mean(tokens[at + 1]) @ asked), _max_similarity(tokens[0], tokens[at + 1]), float(around[passage])]
        for at, (_, passage) in enumerate(sentences)
    ]


def _mean(tokens: "NDArray[np.float32]") -> "NDArray[np.float32]":
    """Return the direction of a text from its tokens' vectors."""
    total: NDArray[np.float32] = tokens.sum(axis=0)
    return total / (float((total @ total) ** 0.5) or 1.0)


def _max_similarity(asked: "NDArray[np.float32]", tokens: "NDArray[np.float32]") -> float:
    return float((asked @ tokens.T).max(axis=1).mean()) if len(tokens) and len(asked) else 0.0


@record
class _Sentence:
    passage: FoundPassage
    start: int
    end: int
    line: int
    text: str
    around: str


def _sentences(passages: Sequence[FoundPassage]) -> list[_Sentence]:
    found: list[_Sentence] = []
    for passage in passages:
        spans = list(statement_spans(passage.text))
        for at, span in enumerate(spans):
            text = span.of(passage.text)
            if len(text.split()) < MIN_WORDS or len(found) == MAX_SENTENCES:
                continue
            start = passage.passage.start + span.start
            line = passage.passage.first_line + passage.text.count("\n", 0, span.start)
            found.append(
                _Sentence(
                    passage=passage,
                    start=start,
                    end=start + len(text),
                    line=line,
                    text=text,
                    around=_around(passage.text, spans, at),
                )
            )
    return found


def _around(text: str, spans: Sequence[Span], at: int) -> str:
    """Return a sentence with its neighbours of the same paragraph; a field alone."""
    span = spans[at]
    if _FIELD.match(span.of(text)):
        return span.of(text)
    near = [each for each in spans[max(0, at - 1) : at + 2] if _same_paragraph(text, each, span)]
    return text[near[0].start : near[-1].end]


def _same_paragraph(text: str, one: Span, other: Span) -> bool:
    return "\n\n" not in text[min(one.start, other.start) : max(one.end, other.end)]


def statement_spans(text: str) -> Iterator[Span]:
    """Yield the sentences of a text; in a block of fields, each line `key: value` is a sentence of its own."""
    for span in sentence_spans(text):
        lines = list(_lines(text, span))
        fields = sum(_FIELD.match(line.of(text)) is not None for line in lines)
        if len(lines) > 1 and fields > len(lines) // 2:
            yield from lines
        else:
            yield span


def _lines(text: str, span: Span) -> Iterator[Span]:
    ends = [
        span.start,
        *(found.end() for found in re.finditer("\n", text[: span.end]) if found.end() > span.start),
        span.end,
    ]
    for start, end in pairwise(ends):
        line = trim(text, start, end)
        if line.end > line.start:
            yield line


_NUMBER = re.compile(r"\d")
_DATES = frozenset((*MONTHS, *WEEKDAYS))
_ASKS = (
    (
        "number",
        re.compile(
            r"\bhow (?:many|much|old|long|far|tall|big|often|large|high|deep)\b"
            r"|\bwhat (?:percentage|number|price|cost)\b",
            re.IGNORECASE,
        ),
    ),
    ("date", re.compile(r"\bwhen\b|\b(?:what|which) (?:date|day|year|month|time|century)\b", re.IGNORECASE)),
    ("name", re.compile(r"\bwho(?:se|m)?\b|\bwhere\b|\bname of\b|\bwhich (?:person|city|country)\b", re.IGNORECASE)),
)


def asked_kind(question: str) -> str | None:
    """Return what kind of thing is asked for: a closed grammar of question words."""
    return next((kind for kind, pattern in _ASKS if pattern.search(question)), None)


def holds_kind(kind: str | None, text: str, names: set[str]) -> float:
    """Return 1 if a sentence holds the kind of thing that is asked for and -1 if not; 0: any thing will do."""
    if kind is None:
        return 0.0
    if kind == "name":
        return 1.0 if any(each.folded not in names for each in _names(text)) else -1.0
    held = set(words(text))
    has_number = bool(_NUMBER.search(text)) or not held.isdisjoint(NUMBER_WORDS.keys() - {"one"})
    if kind == "date":
        return 1.0 if has_number or not held.isdisjoint(_DATES) else -1.0
    return 1.0 if has_number else -1.0


def _names(text: str) -> Iterator[Word]:
    """Yield the words written like names: capitalised, and no function words."""
    return (each for each in word_spans(text) if each.written[0].isupper() and each.folded not in STOP_WORDS)


@cache
def _weights() -> dict[str, list[float]]:
    """Return the learnt weights, the constant first, by grade."""
    found: dict[str, list[float]] = orjson.loads(
        files("tallystick.reading").joinpath("answer_weights.json").read_bytes()
    )
    return found


def _logistic(value: float) -> float:
    return 1 / (1 + exp(-max(-30.0, min(30.0, value))))

"""What of a long text is shown: whole sentences, word for word, around what was asked for."""

import re
from collections.abc import Mapping

from tallystick.rooms.memory.question import content_words

_SENTENCE = re.compile(r"[^.!?\n]*(?:[.!?]+[\"'”’)\]]*|\n|$)\s*")  # noqa: RUF001 - marks that end a sentence
_WORD_TOKENS = 13
"""Tokens in ten words, as tokenisers cut English prose."""


def tokens_of(text: str) -> int:
    """About how many tokens a text is; rather too many than too few."""
    return max((len(text) + 3) // 4, (len(text.split()) * _WORD_TOKENS + 9) // 10)


def excerpt(text: str, worth: Mapping[str, float], tokens: int) -> str:
    """The part of a text, no longer than this, that holds most of what was asked for.

    Args:
        text: All of it.
        worth: Word → what a mention is worth.
        tokens: The most it may have.
    """
    if tokens_of(text) <= tokens:
        return text
    spans = [(found.start(), found.end()) for found in _SENTENCE.finditer(text) if found.group().strip()]
    scores = [sum(worth.get(word, 0.0) for word in set(content_words(text[start:end]))) for start, end in spans]
    first = last = max(range(len(spans)), key=lambda at: (scores[at], -at))
    while True:
        grown = _grown(text, spans, first, last, tokens)
        if grown is None:
            break
        first, last = grown
    return _cut(text[spans[first][0] : spans[last][1]].strip(), tokens)


def _grown(text: str, spans: list[tuple[int, int]], first: int, last: int, tokens: int) -> tuple[int, int] | None:
    """One sentence more, after or else before; None when there is no room."""
    for a, b in ((first, last + 1), (first - 1, last)):
        if a >= 0 and b < len(spans) and tokens_of(text[spans[a][0] : spans[b][1]]) <= tokens:
            return a, b
    return None


def _cut(text: str, tokens: int) -> str:
    """A single sentence may still be too long; it is cut after a word."""
    while tokens_of(text) > tokens:
        shorter = text[: max(len(text) * tokens // tokens_of(text) - 1, 0)]
        text = shorter.rsplit(None, 1)[0] if len(shorter.split()) > 1 else shorter
    return text

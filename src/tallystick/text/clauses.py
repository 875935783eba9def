"""Sentences and clauses as people type them in a chat: without capitals, joined by commas and dashes."""

import re

_TYPED = re.compile(r"(?<=\w\w[.!?;])[.!?;]*\s+(?=[^\W\d_])")
"""Between sentences as they are typed: the next one may begin with a small letter."""
_CLAUSE = re.compile(
    r"(?<=[,;:)])\s+(?=(?:so|and|but|then|now|because|i|we|he|she|they|it|it's|the|my|our|that|this)\b)|\s+[–—-]\s+"  # noqa: RUF001
    r"|\s+(?=(?:so|but|and) (?:i|we|he|she|they|it|it's|the|my|our|that)\b)",
    re.IGNORECASE,
)
"""Between clauses of a sentence."""
MIN_WORDS = 3
"""Words of a clause; a shorter one belongs to the next."""


def typed_sentences(text: str) -> list[str]:
    """Return the sentences of a text that may begin with small letters."""
    return _TYPED.split(text)


def clauses(sentence: str) -> list[str]:
    """Return the clauses of a sentence."""
    found: list[str] = []
    short = ""
    for part in _CLAUSE.split(sentence):
        short = f"{short} {part}".strip()
        if len(short.split()) >= MIN_WORDS:
            found.append(short)
            short = ""
    return [*found, short] if short else found

"""Which parts of a paragraph are spoken.

Double marks are believed before single ones, because a single one may be an apostrophe. A mark that is not closed
opens speech to the end of the paragraph, as when one speaker goes on in the next. A paragraph that begins with a dash
is speech as French and Irish writers set it.
"""

import re

Span = tuple[int, int]
_DOUBLE = (("„", "“"), ("“", "”"), ("«", "»"), ("»", "«"))
_DASH = re.compile(r"\s*[—–―]\s*\w")  # noqa: RUF001
_STRAIGHT = re.compile(r'"')
_SINGLE = re.compile(r"(?<![\w'’])['‘](?=[\w…—])(?:[^'’\n]|\n|['’](?=\w))*['’](?!\w)")  # noqa: RUF001


def speech_spans(text: str) -> list[Span]:
    """The spoken parts, marks included, in order."""
    for opening, closing in _DOUBLE:
        if opening in text:
            return _pairs(text, opening, closing)
    if '"' in text:
        marks = [found.start() for found in _STRAIGHT.finditer(text)]
        ends = [*(at + 1 for at in marks[1::2]), len(text)]
        return list(zip(marks[::2], ends, strict=False))
    if _DASH.match(text):
        return [(0, len(text))]
    return [found.span() for found in _SINGLE.finditer(text)]


def is_within(spans: list[Span], at: int) -> bool:
    """Whether a place is spoken."""
    return any(start <= at < end for start, end in spans)


def narration_of(text: str, spans: list[Span]) -> str:
    """The text with what is spoken blanked out, each character where it was."""
    kept = list(text)
    for start, end in spans:
        kept[start:end] = ["\n" if sign == "\n" else " " for sign in kept[start:end]]
    return "".join(kept)


def _pairs(text: str, opening: str, closing: str) -> list[Span]:
    spans: list[Span] = []
    start = text.find(opening)
    while start >= 0:
        end = text.find(closing, start + 1)
        stop = len(text) if end < 0 else end + 1
        spans.append((start, stop))
        start = text.find(opening, stop)
    return spans

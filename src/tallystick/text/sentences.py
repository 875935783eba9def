"""The sentences of a text, as spans into it.

Blocks come first: a blank line, a Markdown heading, list item, table row or rule begins a new one, and no sentence
crosses a block. Inside a block syntok finds the sentences (abbreviations, initials, decimal numbers, quotations), and
three cases are added: text that only says who spoke (`"Stop!" she cried.`) continues the sentence; a full stop after a
decimal number or file name ends the sentence if a capital follows; Chinese and Japanese full stops end it without a
following space.

Time is linear in the length of the text: about a second for a million characters of prose.
"""

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Any

from tallystick.text.spans import Span, trim

MAX_BLOCK = 100_000
"""Maximum characters of a block; a longer one (a file without line breaks) is split between words."""

_RULE = r"[ \t]{0,3}(?:[-*_=~#][ \t]{0,3}){3,80}(?=\n|\Z)"
_BLOCK_END = re.compile(
    r"\n[^\S\n]*(?:\n[^\S\n]*)+"  # blank lines
    rf"|\n(?=[ \t]{{0,3}}(?:#{{1,6}}[ \t]|[-*+][ \t]|\d{{1,3}}[.)][ \t]|\||>)|{_RULE})"  # Markdown's block marks
)
_OWN_LINE = re.compile(rf"(?P<rule>{_RULE})|(?:#{{1,6}}[ \t]|\|)[^\n]*")
"""A line that is a block by itself: a rule, a heading, a table row."""
_OPENING = str.maketrans("([{", ",,,")
_MAY_END = re.compile(r"[.!?…;(‼‽⁇⁈⁉﹒﹗｡。！．？](?=\s*\S)")  # noqa: RUF001 - as syntok lists them
_TITLE = re.compile(r"\b(?:Rev|Hon|Lt|Sgt|Cpl|Maj|Gov|Messrs|Mme|Mlle|Supt|Insp|Eng|Ph)\.\Z")
_FURTHER_END = re.compile(
    r"[。！？｡]+[”’」』）\"')]*(?=\S)"  # noqa: RUF001 - the signs meant
    r"|[^\W_]\.(?:\d{1,20}|[^\W\d_]{2,20})\.[”’\"')]{0,4}(?=\s+[“‘\"'(]{0,3}[^\W\d_a-z])"  # noqa: RUF001
)
_MOST_BRACKETS = 100
_CLOSING = "\"”»'’"  # noqa: RUF001


def sentences(text: str, *, wrapped: bool = True) -> list[str]:
    """Return the sentences of a text, unchanged.

    Args:
        text: The text.
        wrapped: Whether a single line break is only white space, as in prose; otherwise every line ends a sentence.
    """
    return [text[start:end] for start, end in sentence_spans(text, wrapped=wrapped)]


def sentence_spans(text: str, *, wrapped: bool = True) -> list[Span]:
    """Return the spans of the sentences of a text, in order, without white space at their ends.

    Args:
        text: The text.
        wrapped: As in `sentences`.
    """
    return list(_cached(text, wrapped) if len(text) <= _SHORT else _spans(text, wrapped))


def first_sentences(text: str, count: int, *, wrapped: bool = True) -> str:
    """Return the beginning of a text up to the end of this many sentences."""
    found = sentence_spans(text, wrapped=wrapped)[:count]
    return text[found[0].start : found[-1].end] if found else ""


def cut_to_sentences(text: str, most: int) -> str:
    """Return the beginning of a text: the whole sentences that fit into `most` characters.

    If they use a third of `most` or less, the text is cut between words instead and ends with an ellipsis.
    """
    if len(text) <= most:
        return text
    # Sentence ends before the cut do not depend on text far after it, so a slightly longer excerpt is enough.
    end = max((span.end for span in sentence_spans(text[: most + 200]) if span.end <= most), default=0)
    if end > most // 3:
        return text[:end].rstrip()
    return (text[: most - 1].rpartition(" ")[0] or text[: most - 1]).rstrip() + "…"


_SHORT = 20_000
"""Results are cached for texts of up to this many characters: a passage is read many times, a book seldom twice."""


def _spans(text: str, wrapped: bool) -> Iterator[Span]:  # noqa: FBT001 - one private caller
    for block in _blocks(text, wrapped=wrapped):
        yield from _in_block(text, block)


@lru_cache(maxsize=512)
def _cached(text: str, wrapped: bool) -> tuple[Span, ...]:  # noqa: FBT001 - as above
    return tuple(_spans(text, wrapped))


def _blocks(text: str, *, wrapped: bool) -> Iterator[Span]:
    start = 0
    for end in (found.start() for found in _BLOCK_END.finditer(text)) if wrapped else _line_ends(text):
        yield from _bounded(text, start, end)
        start = end
    yield from _bounded(text, start, len(text))


def _line_ends(text: str) -> Iterator[int]:
    at = text.find("\n")
    while at >= 0:
        yield at
        at = text.find("\n", at + 1)


def _bounded(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield a block, trimmed.

    A heading or table row is yielded separately, a horizontal rule is dropped, and an over-long block is split.
    """
    start, end = trim(text, start, end)
    alone = _OWN_LINE.match(text, start, end)
    if alone is not None:
        if alone["rule"] is None:
            yield trim(text, start, alone.end())
        start, end = trim(text, alone.end(), end)
    while end - start > MAX_BLOCK:
        cut = text.rfind(" ", start + MAX_BLOCK // 2, start + MAX_BLOCK) + 1 or start + MAX_BLOCK
        yield trim(text, start, cut)
        start, end = trim(text, cut, end)
    if end > start:
        yield Span(start, end)


def _in_block(text: str, block: Span) -> Iterator[Span]:
    written = block.of(text)
    if _MAY_END.search(written) is None:
        yield block
        return
    held: Span | None = None
    for start, end in _by_syntok(written):
        if held is not None and _continues(written, held, start):
            held = Span(held.start, end)
            continue
        if held is not None:
            yield from _divided(text, block.start + held.start, block.start + held.end)
        held = Span(start, end)
    if held is not None:
        yield from _divided(text, block.start + held.start, block.start + held.end)


def _by_syntok(written: str) -> Iterator[Span]:
    if sum(map(written.count, "([{")) > _MOST_BRACKETS + len(written) // 20:
        # syntok searches fifty words ahead for the end of each bracket, which is slow with more brackets than in prose.
        written = written.translate(_OPENING)
    # `segmenter.analyze` pads every paragraph with as many spaces as precede it, which takes quadratic time.
    tokenizer, segment = _syntok()
    for tokens in segment(tokenizer.tokenize(written)):
        last = tokens[-1] if tokens[-1].value or len(tokens) == 1 else tokens[-2]
        yield Span(tokens[0].offset, last.offset + len(last.value))


@cache
def _syntok() -> tuple[Any, Any]:
    # Imported lazily: syntok loads its own regex engine, which takes a twentieth of a second.
    from syntok.segmenter import segment  # type: ignore[import-untyped]  # noqa: PLC0415
    from syntok.tokenizer import Tokenizer  # type: ignore[import-untyped]  # noqa: PLC0415

    return Tokenizer(replace_not_contraction=False), segment


def _continues(written: str, before: Span, start: int) -> bool:
    """Return whether the next part belongs to the sentence: it says who spoke, or follows a title such as `Rev.`."""
    if written[before.end - 1] in _CLOSING and written[start].islower():
        return True
    return _TITLE.search(written, max(before.start, before.end - 9), before.end) is not None


def _divided(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield the sentences of a span that syntok treats as one."""
    for found in _FURTHER_END.finditer(text, start, end):
        yield trim(text, start, found.end())
        start = found.end()
    if start < end:
        yield trim(text, start, end)

"""Cuts a text into passages: long enough to be understood, short enough to be about one thing.

A passage never crosses a section, and its text is a piece of the document as it stands. It ends at a blank line where
it can, else between sentences. A listing between fences stays whole where it fits into a passage.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator

from tallystick.gate.quotes import split_lines
from tallystick.records import record
from tallystick.text.headings import plain_words, read_outline
from tallystick.text.sentences import sentence_spans
from tallystick.text.spans import Span, trim

ENOUGH = 450
"""Characters after which a passage ends at the next blank line."""
MOST = 900
"""Characters that a passage does not exceed."""

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_RULE = re.compile(r"[\s|:=*_~-]*\Z")
"""A line that only draws: between table rows, between parts."""


@record
class Section:
    """The lines of a text that stand under one heading, without the heading itself."""

    headings: tuple[str, ...]
    """From the outermost to the innermost."""
    first_line: int
    last_line: int


@record
class IndexedPassage:
    """A piece of a text, and the headings it stands under."""

    number: int
    """Place in the document, from 0: the passages next to it have the next numbers."""
    section: int
    """Place of its section among the sections of the document."""
    start: int
    end: int
    first_line: int
    last_line: int
    headings: tuple[str, ...]


def cut_passages(text: str, sections: Iterable[Section] | None = None) -> list[IndexedPassage]:
    """Return the passages of a text, in order.

    Args:
        text: The text.
        sections: Its sections in order; None: they begin at its Markdown headings.
    """
    lines = _Lines(text)
    listed = list(_markdown_sections(lines)) if sections is None else list(sections)
    spans = [(at, span) for at, section in enumerate(listed) for span in _packed(_pieces(lines, section))]
    return [
        IndexedPassage(
            number=number,
            section=at,
            start=span.start,
            end=span.end,
            first_line=lines.number_at(span.start),
            last_line=lines.number_at(span.end - 1),
            headings=listed[at].headings,
        )
        for number, (at, span) in enumerate(spans)
    ]


class _Lines:
    """The lines of a text, numbered from 1, with their offsets."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._lines = split_lines(text)
        self._starts = []
        at = 0
        for line in self._lines:
            self._starts.append(at)
            at += len(line)
            at += 2 if text[at : at + 2] == "\r\n" else 1
        self.count = len(self._lines)

    def __getitem__(self, number: int) -> str:
        return self._lines[number - 1]

    def start(self, number: int) -> int:
        return self._starts[number - 1]

    def number_at(self, offset: int) -> int:
        return bisect_right(self._starts, offset)

    def span(self, first: int, last: int) -> Span:
        """Return the text from one line to another, without white space at its ends."""
        return trim(self.text, self.start(first), self.start(last) + len(self[last]))


def _markdown_sections(lines: _Lines) -> Iterator[Section]:
    path: list[tuple[int, str]] = []
    first = 1
    for heading in read_outline(lines.text).headings:
        yield Section(headings=tuple(title for _, title in path), first_line=first, last_line=heading.line - 1)
        path = [held for held in path if held[0] < heading.level]
        if title := plain_words(heading.text)[:200]:
            path.append((heading.level, title))
        first = heading.line + heading.takes
    yield Section(headings=tuple(title for _, title in path), first_line=first, last_line=lines.count)


def _packed(pieces: Iterator[tuple[Span, bool]]) -> Iterator[Span]:
    """Join pieces up to the size of a passage; each comes with whether a blank line stands before it."""
    held: Span | None = None
    for piece, after_blank in pieces:
        if held is None:
            held = piece
        elif piece.end - held.start > MOST or (after_blank and held.end - held.start >= ENOUGH):
            yield held
            held = piece
        else:
            held = Span(held.start, piece.end)
    if held is not None:
        yield held


def _pieces(lines: _Lines, section: Section) -> Iterator[tuple[Span, bool]]:
    """Yield the listings and paragraphs of a section, long paragraphs as sentences."""
    blank = False
    number, last = section.first_line, min(section.last_line, lines.count)
    while number <= last:
        if _RULE.match(lines[number]):
            blank = blank or not lines[number].strip()
            number += 1
            continue
        end = _listing_end(lines, number, last)
        if end is None:
            end = _paragraph_end(lines, number, last)
            found = list(_short_enough(lines, lines.span(number, end)))
        else:
            found = [lines.span(number, end)]
        yield from ((span, blank and at == 0) for at, span in enumerate(found))
        blank, number = False, end + 1


def _paragraph_end(lines: _Lines, number: int, last: int) -> int:
    while number < last and not _RULE.match(lines[number + 1]) and not _FENCE.match(lines[number + 1]):
        number += 1
    return number


def _listing_end(lines: _Lines, number: int, last: int) -> int | None:
    """Return the last line of the listing that begins here; None: none does, or it is too long for a passage."""
    fence = _FENCE.match(lines[number])
    if fence is None:
        return None
    for end in range(number + 1, last + 1):
        if lines.start(end) + len(lines[end]) - lines.start(number) > MOST:
            return None
        found = _FENCE.match(lines[end])
        if found is not None and found[1].startswith(fence[1]) and not lines[end][found.end() :].strip():
            return end
    return None


def _short_enough(lines: _Lines, paragraph: Span) -> Iterator[Span]:
    """Yield a paragraph, or its sentences, or their lines, or pieces of those: whatever fits into a passage."""
    if paragraph.end - paragraph.start <= MOST:
        yield paragraph
        return
    for first, last in sentence_spans(paragraph.of(lines.text)):
        start, end = paragraph.start + first, paragraph.start + last
        if end - start <= MOST:
            yield Span(start, end)
            continue
        for number in range(lines.number_at(start), lines.number_at(end - 1) + 1):
            line_end = lines.start(number) + len(lines[number])
            yield from _cut(lines.text, trim(lines.text, max(start, lines.start(number)), min(end, line_end)))


def _cut(text: str, line: Span) -> Iterator[Span]:
    """Yield a line in pieces that fit, cut between words."""
    start, end = line
    while end - start > MOST:
        cut = text.rfind(" ", start + MOST // 2, start + MOST) + 1 or start + MOST
        yield trim(text, start, cut)
        start = trim(text, cut, end).start
    if end > start:
        yield Span(start, end)

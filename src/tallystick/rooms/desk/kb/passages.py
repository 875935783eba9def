"""Cutting a document into passages: pieces that are long enough to say something and short enough to be about one.

A passage never crosses a section, and its text is a piece of the document as it stands. A listing between fences stays
whole where it is not longer than a passage, so that whoever reads a passage can tell code from sentences.
"""

import re
from collections.abc import Iterator

from tallystick.records import record
from tallystick.rooms.desk.kb.nouns import Document, Passage, Section

ENOUGH = 450
"""Characters after which a passage ends at the next blank line."""
MOST = 900
"""Characters after which it ends at the next line, or sentence."""
_SENTENCE = re.compile(r"[.!?…][\"'”’)*_]{0,4}\s+")  # noqa: RUF001 - both kinds of quote marks end sentences
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_RULE = re.compile(r"[\s|:=*_~-]*\Z")
"""A line that only draws: between table rows, between parts."""


@record
class _Piece:
    line: int
    last: int
    start: int
    end: int
    after_blank: bool


def passages_of(document: Document) -> Iterator[Passage]:
    """The passages, in order."""
    offsets = _line_offsets(document)
    for number, section in enumerate(document.sections):
        held: list[_Piece] = []
        for piece in _pieces(document, section, offsets):
            if held and _is_full(held, piece):
                yield _passage(number, held)
                held = []
            held.append(piece)
        if held:
            yield _passage(number, held)


def _line_offsets(document: Document) -> list[int]:
    offsets, at = [], 0
    for line in document.lines:
        offsets.append(at)
        at += len(line) + 1
    return offsets


def _pieces(document: Document, section: Section, offsets: list[int]) -> Iterator[_Piece]:
    """The lines of a section that say something, the longest ones cut between sentences."""
    blank = False
    last = min(section.last_line, len(document.lines))
    number = section.text_line
    while number <= last:
        line, at = document.lines[number - 1], offsets[number - 1]
        if _RULE.match(line):
            blank = blank or not line.strip()
        elif (end := _listing_end(document, number, last, offsets)) is not None:
            whole = offsets[end - 1] + len(document.lines[end - 1].rstrip())
            start = at + len(line) - len(line.lstrip())
            yield _Piece(line=number, last=end, start=start, end=whole, after_blank=blank)
            blank, number = False, end
        else:
            for start, stop in _cuts(line):
                yield _Piece(line=number, last=number, start=at + start, end=at + stop, after_blank=blank)
                blank = False
        number += 1


def _listing_end(document: Document, number: int, last: int, offsets: list[int]) -> int | None:
    """The last line of the listing that begins here; None: none does, or it is too long for one passage."""
    fence = _FENCE.match(document.lines[number - 1])
    if fence is None:
        return None
    for end in range(number + 1, last + 1):
        line = document.lines[end - 1]
        if offsets[end - 1] + len(line) - offsets[number - 1] > MOST:
            return None
        found = _FENCE.match(line)
        if found is not None and found[1].startswith(fence[1]) and not line[found.end() :].strip():
            return end
    return None


def _cuts(line: str) -> Iterator[tuple[int, int]]:
    start, end = len(line) - len(line.lstrip()), len(line.rstrip())
    while end - start > MOST:
        ends = [found.end() for found in _SENTENCE.finditer(line, start, start + MOST)]
        cut = ends[-1] if ends else line.rfind(" ", start + MOST // 2, start + MOST) + 1 or start + MOST
        yield start, len(line[:cut].rstrip())
        start = cut + len(line[cut:end]) - len(line[cut:end].lstrip())
    if end > start:
        yield start, end


def _is_full(held: list[_Piece], following: _Piece) -> bool:
    length = held[-1].end - held[0].start
    return (length >= ENOUGH and following.after_blank) or following.end - held[0].start > MOST


def _passage(section: int, held: list[_Piece]) -> Passage:
    return Passage(
        section=section, first_line=held[0].line, last_line=held[-1].last, start=held[0].start, end=held[-1].end
    )

"""Passages of a document that can answer a question: a paragraph, a list item with what leads into it, a table row.

What answers nothing is left out: code, block quotes, and the lines at the top and the foot of a document that name its
number, owner or date.
"""

import re
from collections.abc import Iterator, Sequence

from tallystick.reading.passages import IndexedPassage
from tallystick.records import record
from tallystick.rooms.desk.kb.model import Document
from tallystick.text.sentences import sentence_spans

LONGEST = 700
"""Characters of a paragraph; a longer one is divided between sentences."""
METADATA_CHARS = 240
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_QUOTE = re.compile(r" {0,3}>")
_NOTE = re.compile(r" {0,3}>\s*\[![A-Za-z]+\]")
_BULLET = re.compile(r"\s{0,12}[-*+•]\s+\S")
_STEP = re.compile(r"\s{0,12}\d{1,3}[.)]\s+\S")
_DRAWN = re.compile(r"[\s|:=*_~-]*\Z")
_SEPARATOR = re.compile(r"\s[|·•]\s")
_ENDS = (".", "!", "?")
_CLOSING = "'\"”’)*_"  # noqa: RUF001 - as people type them
_CELLS = 2


@record
class Block:
    """Lines of a document that belong together."""

    kind: str
    """paragraph, item, steps, row, header."""
    first: int
    """First line, from 1."""
    last: int


def answer_passages(document: Document) -> list[IndexedPassage]:
    """Return the passages of a document, in order; each has its headings, and last what leads into it."""
    starts = _line_starts(document)
    made: list[IndexedPassage] = []
    unread = set(metadata_lines(document))
    for number, section in enumerate(document.sections):
        headings = tuple(part for part in section.name.split(" > ") if part)
        lead = header = ""
        for block in _blocks(document.lines, section.text_line, min(section.last_line, len(document.lines)), document):
            if block.first in unread:
                continue
            if block.kind == "header":
                header, lead = " | ".join(cells_of(document.lines[block.first - 1])), ""
                continue
            if block.kind == "paragraph":
                lead = ""
            leads = header if block.kind == "row" else lead
            above = (*headings, leads) if leads else headings
            for start, end in _spans(document, block, starts):
                first, last = _line_at(starts, start), _line_at(starts, max(start, end - 1))
                made.append(
                    IndexedPassage(
                        number=len(made),
                        section=number,
                        start=start,
                        end=end,
                        first_line=first,
                        last_line=last,
                        headings=above,
                    )
                )
            text = " ".join(line.strip() for line in document.lines[block.first - 1 : block.last])
            if block.kind == "paragraph" and text.endswith(":"):
                lead = text
    return made


def metadata_lines(document: Document) -> list[int]:
    """Return the lines at the top and the foot of a document that name its number, owner, date or state."""
    filled = [at for at, line in enumerate(document.lines, 1) if line.strip() and not _DRAWN.match(line)]
    headings = {at for section in document.sections for at in range(section.first_line, section.text_line)}
    body = [at for at in filled if at not in headings]
    return [at for at in (*body[:2], *body[-1:]) if _is_metadata(document.lines[at - 1])]


def cells_of(line: str) -> list[str]:
    """Return the cells of a table row."""
    bare = line.strip()
    if bare.startswith("|") and bare.endswith("|"):
        bare = bare[1:-1]
    return [cell.strip() for cell in bare.split("|")]


def is_row(line: str, document: Document) -> bool:
    """Return whether a line is a row of a table."""
    stripped = line.strip()
    if stripped.startswith("|") and (stripped.endswith("|") or document.kind != "markdown"):
        return stripped.count("|") >= _CELLS
    return document.kind in {"html", "docx"} and " | " in stripped


def _is_metadata(line: str) -> bool:
    text = line.strip().strip("*_<>")
    return (
        len(text) <= METADATA_CHARS
        and _SEPARATOR.search(text) is not None
        and not text.rstrip(_CLOSING).endswith(_ENDS)
    )


def _blocks(lines: Sequence[str], first: int, last: int, document: Document) -> Iterator[Block]:
    at = first
    in_table = False
    while at <= last:
        line = lines[at - 1]
        if not line.strip():
            at += 1
            continue
        if is_row(line, document):
            if not _DRAWN.match(line):
                yield Block(kind="row" if in_table else "header", first=at, last=at)
                in_table = True
            at += 1
            continue
        in_table = False
        if _DRAWN.match(line):
            at += 1
            continue
        end, block = _block_at(lines, at, last, document)
        if block is not None:
            yield block
        at = end + 1


def _block_at(lines: Sequence[str], at: int, last: int, document: Document) -> tuple[int, Block | None]:
    """Return the last line of what begins here, and the block that it is; None: it answers nothing."""
    line = lines[at - 1]
    if fence := _FENCE.match(line):
        return _fence_end(lines, at, last, fence[1]), None
    if _STEP.match(line):
        end = _list_end(lines, at, last, document)
        return end, Block(kind="steps", first=at, last=end)
    end = _run_end(lines, at, last, document)
    if _QUOTE.match(line):
        is_note = _NOTE.match(line) is not None and end > at
        return end, Block(kind="paragraph", first=at + 1, last=end) if is_note else None
    return end, Block(kind="item" if _BULLET.match(line) else "paragraph", first=at, last=end)


def _run_end(lines: Sequence[str], at: int, last: int, document: Document) -> int:
    """Return the last line of a paragraph or an item: the next item, row, listing or blank line ends it."""
    while at < last:
        following = lines[at]
        ends = not following.strip() or _BULLET.match(following) or _STEP.match(following) or _FENCE.match(following)
        if ends or is_row(following, document):
            break
        at += 1
    return at


def _list_end(lines: Sequence[str], at: int, last: int, document: Document) -> int:
    """Return the last line of a list of steps, which belong together though blank lines stand between them."""
    end = _run_end(lines, at, last, document)
    while end < last:
        following = next((at for at in range(end + 1, min(last, end + 2) + 1) if lines[at - 1].strip()), None)
        if following is None or not _STEP.match(lines[following - 1]):
            break
        end = _run_end(lines, following, last, document)
    return end


def _fence_end(lines: Sequence[str], at: int, last: int, mark: str) -> int:
    closing = (n for n in range(at + 1, last + 1) if (m := _FENCE.match(lines[n - 1])) and m[1].startswith(mark))
    return next(closing, last)


def _spans(document: Document, block: Block, starts: Sequence[int]) -> Iterator[tuple[int, int]]:
    start = starts[block.first - 1]
    end = starts[block.last - 1] + len(document.lines[block.last - 1])
    text = document.text[start:end]
    start += len(text) - len(text.lstrip())
    end -= len(text) - len(text.rstrip())
    if end - start <= LONGEST or block.kind in {"row", "steps"}:
        yield start, end
        return
    begin: int | None = None
    held = start
    for first, last in sentence_spans(document.text[start:end]):
        begin = first if begin is None else begin
        if last - begin > LONGEST and held > start + begin:
            yield start + begin, held
            begin = first
        held = start + last
    if begin is not None:
        yield start + begin, held


def _line_starts(document: Document) -> list[int]:
    starts, at = [], 0
    for line in document.lines:
        found = document.text.find(line, at) if line else at
        starts.append(found)
        at = found + len(line)
        at += 2 if document.text[at : at + 2] == "\r\n" else 1
    return starts


def _line_at(starts: Sequence[int], offset: int) -> int:
    low, high = 0, len(starts)
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if starts[middle] <= offset else (low, middle)
    return max(1, low)

"""The blocks of a Markdown file: headings, list entries, table rows, plain text.

Only as much of Markdown as outlines and cards are written in. Code fences and comments are left out. Every pattern
here is tried on one line and fails within a few characters, so no file makes it slow.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from tallystick.records import record

BlockKind = Literal["heading", "item", "row", "text"]
MAX_LINE = 4_000
"""Characters of a line that are searched for structure."""

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)\Z")
_ITEM = re.compile(r"([ \t]{0,40})(?:[-*+•]|\(?([0-9]{1,4})[.)])[ \t]+(?:\[[ xX]\][ \t]+)?(\S.*)\Z")
_FENCE = re.compile(r" {0,3}(?:```|~~~)")
_ROW = re.compile(r" {0,3}\|.*\|[ \t]*\Z")
_UNDER = re.compile(r" {0,3}(=+|-{3,})[ \t]*\Z")
_RULE = re.compile(r"[ \t]*(?:[-*_=#~][ \t]*){3,}\Z")
_TITLE = re.compile(r"\S.{0,79}(?<![.!?,;\"”’])\Z")  # noqa: RUF001 - a curly quote ends speech, not a title
_LINK = re.compile(r"!?\[\[([^\[\]|#]{0,300})(?:#[^\[\]|]{0,300})?(?:\|([^\[\]]{0,300}))?\]\]")
_ADDRESS = re.compile(r"\[([^\[\]]{0,300})\]\(([^()\s]{0,500})\)")
_MARKS = re.compile(r"\*{1,3}|_{2,3}|(?<![^\W_])_|_(?![^\W_])|~~|`")


@record
class Block:
    """One line with its role."""

    kind: BlockKind
    line: int
    """From 1."""
    depth: int
    """Of a heading 1 to 6; of a list entry the columns before its mark; else 0."""
    number: int | None
    """Of a numbered entry."""
    text: str
    """Without its mark, as written."""


def blocks_of(lines: Sequence[str], first: int = 1) -> Iterator[Block]:
    """The blocks of the lines from `first` on; empty lines are skipped."""
    fenced = commented = False
    for number, raw in enumerate(lines[first - 1 :], start=first):
        line = raw[:MAX_LINE]
        if not commented and _FENCE.match(line):
            fenced = not fenced
            continue
        if fenced:
            continue
        line, commented = _without_comment(line, open_already=commented)
        if line.strip() and not _RULE.match(line):
            following = lines[number] if number < len(lines) else ""
            yield _block(line, number, following)


def cells_of(row: str) -> list[str]:
    """The cells of a table row."""
    inner = row.strip().strip("|").replace("\\|", "\0")
    return [cell.strip().replace("\0", "|") for cell in inner.split("|")]


def is_ruler(cells: Sequence[str]) -> bool:
    """Whether a row only separates a table's head from its body."""
    return bool(cells) and all(re.fullmatch(r":?-+:?", cell) for cell in cells)


def links_in(text: str) -> list[tuple[str, str]]:
    """(target, label) of each link of a line, in order."""
    found = [(link.start(), link.group(1), link.group(2) or link.group(1)) for link in _LINK.finditer(text)]
    found += [(link.start(), link.group(2), link.group(1)) for link in _ADDRESS.finditer(text)]
    return [(target.strip(), label.strip()) for _, target, label in sorted(found)]


def unmarked(text: str) -> str:
    """A line as it is read: links are their labels, emphasis is gone."""
    plain = _LINK.sub(lambda link: link.group(2) or link.group(1), text)
    plain = _ADDRESS.sub(lambda link: link.group(1), plain)
    return " ".join(_MARKS.sub("", plain).split())


def _block(line: str, number: int, following: str) -> Block:
    if heading := _HEADING.match(line):
        # A closing run of `#` is not part of the heading.
        words = heading.group(2).rstrip(" \t").rstrip("#").rstrip(" \t")
        return Block(kind="heading", line=number, depth=len(heading.group(1)), number=None, text=words)
    if _ROW.match(line):
        return Block(kind="row", line=number, depth=0, number=None, text=line.strip())
    if item := _ITEM.match(line):
        indent = len(item.group(1).expandtabs(4))
        given = int(item.group(2)) if item.group(2) else None
        return Block(kind="item", line=number, depth=indent, number=given, text=item.group(3).strip())
    under = _UNDER.match(following)
    if under and _TITLE.match(line):
        depth = 1 if under.group(1).startswith("=") else 2
        return Block(kind="heading", line=number, depth=depth, number=None, text=line.strip())
    return Block(kind="text", line=number, depth=0, number=None, text=line.strip())


def _without_comment(line: str, *, open_already: bool) -> tuple[str, bool]:
    """The line without comments, and whether a comment continues on the next line."""
    kept: list[str] = []
    rest, inside = line, open_already
    while rest:
        before, mark, after = rest.partition("-->" if inside else "<!--")
        if not inside:
            kept.append(before)
        if not mark:
            return "".join(kept), inside
        rest, inside = after, not inside
    return "".join(kept), inside

"""Find headings of a file and entries of the outline.

A heading matches by its whole text, or by its beginning up to a colon, dash or full stop (`Chapter 3` matches
`Chapter 3: The Storm`). Case, emphasis, outer quote marks and the style of inner ones are ignored.
"""

import re
from functools import lru_cache

from tallystick.gate.quotes import fold
from tallystick.gate.reply.sources import Source

_MARKED = re.compile(r" {0,3}#{1,6}[ \t]+(.+)")
_LISTED = re.compile(r"\s{0,12}(?:[-*+]|\d{1,3}[.)]|\|)[ \t]+(.+)")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*")
_WORDS = re.compile(r"[^\W_]+")
_MAX_HEADING = 200
"""Characters; a longer line is a paragraph."""

_MAX_SECTION = 2_000
"""Maximum number of lines read from one section."""

Named = tuple[tuple[str, int], ...]
"""Pairs of (normalised name, line number)."""


def find_heading(wanted: str, source: Source) -> int | None:
    """Return the line of a heading, or None."""
    name = _plain(wanted)
    if not name:
        return None
    for heading, line in _headings(source.path, source.sha256, _Lines(source)):
        rest = heading.removeprefix(name)
        if heading == name or (rest != heading and rest.lstrip()[:1] in {":", "-", "."}):
            return line
    return None


def find_entry(wanted: str, outline: Source) -> int | None:
    """Return the line of the first outline entry that contains these words in sequence, or None."""
    words = _WORDS.findall(fold(wanted).casefold())
    if not words:
        return None
    needle = f" {' '.join(words)} "
    for entry, line in _entries(outline.path, outline.sha256, _Lines(outline)):
        if needle in entry:
            return line
    return None


def section_end(source: Source, line: int) -> int:
    """Return the last line of the section whose heading is on line `line`."""
    heading = _MARKED.fullmatch(source.lines[line - 1]) if line <= len(source.lines) else None
    if heading is None:
        return line
    level = len(source.lines[line - 1].lstrip().partition(" ")[0])
    for number in range(line + 1, min(len(source.lines), line + _MAX_SECTION) + 1):
        text = source.lines[number - 1]
        if _MARKED.fullmatch(text) and len(text.lstrip().partition(" ")[0]) <= level:
            return number - 1
    return min(len(source.lines), line + _MAX_SECTION)


class _Lines:
    """The lines of a source, ignored in cache keys because path and hash already identify it."""

    def __init__(self, source: Source) -> None:
        self.lines = source.lines
        self.marked = source.path.casefold().endswith((".md", ".markdown"))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Lines)

    def __hash__(self) -> int:
        return 0


@lru_cache(maxsize=256)
def _headings(_path: str, _sha256: str, source: _Lines) -> Named:
    lines = source.lines
    found: list[tuple[str, int]] = []
    for number, line in enumerate(lines, start=1):
        if not line or len(line) > _MAX_HEADING or line.isspace():
            continue
        after = lines[number] if number < len(lines) else ""
        if marked := _MARKED.fullmatch(line):
            found.append((_plain(marked.group(1)), number))
        elif _UNDERLINE.fullmatch(after) or (not source.marked and _stands_alone(lines, number)):
            found.append((_plain(line), number))
    return tuple(found)


@lru_cache(maxsize=16)
def _entries(_path: str, _sha256: str, source: _Lines) -> Named:
    found: list[tuple[str, int]] = []
    for number, line in enumerate(source.lines, start=1):
        entry = _MARKED.fullmatch(line) or _LISTED.fullmatch(line)
        if entry:
            words = _WORDS.findall(fold(entry.group(1)).casefold())
            found.append((f" {' '.join(words)} ", number))
    return tuple(found)


def _stands_alone(lines: list[str], number: int) -> bool:
    """Whether a line is between empty lines, which makes it a heading in plain text."""
    before = lines[number - 2] if number > 1 else ""
    after = lines[number] if number < len(lines) else ""
    return not before.strip() and not after.strip()


def _plain(text: str) -> str:
    return fold(text).casefold().strip(" #*_.,:;'\"")

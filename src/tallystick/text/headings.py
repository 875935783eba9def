"""The headings and listings of a Markdown text, by line, as CommonMark reads them (markdown-it-py)."""

import re
from functools import cache
from typing import TYPE_CHECKING

from tallystick.records import record
from tallystick.text.folding import unify_line_ends

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_CANDIDATE = re.compile(r"(?m)^ {0,3}(?:#|```|~~~|=+[ \t]*$|-+[ \t]*$)")
_LINK = re.compile(r"!?\[([^\[\]]{0,500})\]\([^()\s]{0,2000}\)")
_MARKS = re.compile(r"[*_`]+")
_UNDERLINED = 2
"""Lines of an underlined heading."""


@record
class Heading:
    """Where a section begins."""

    line: int
    """From 1."""
    level: int
    text: str
    takes: int = 1
    """How many lines are the heading's own; 0: the section's text begins on that line."""


@record
class Outline:
    """The structure of a text; headings and listings inside of lists and quotes are not part of it."""

    headings: tuple[Heading, ...] = ()
    """Their text is Markdown."""
    listings: tuple[tuple[int, int], ...] = ()
    """First and last line of each listing between fences."""


def read_outline(text: str) -> Outline:
    """Return the headings and listings of a Markdown text."""
    text = unify_line_ends(text)
    if _CANDIDATE.search(text) is None:
        return Outline()
    headings: list[Heading] = []
    listings: list[tuple[int, int]] = []
    tokens = _parser().parse(text)
    for place, token in enumerate(tokens):
        if token.level or token.map is None:
            continue
        first, end = token.map
        if token.type == "fence":
            listings.append((first + 1, end))
        # A rule right below several lines is one that somebody drew, not an underlined paragraph.
        elif token.type == "heading_open" and end - first <= _UNDERLINED:
            words = tokens[place + 1].content
            headings.append(Heading(line=first + 1, level=int(token.tag[1]), text=words, takes=end - first))
    return Outline(headings=tuple(headings), listings=tuple(listings))


def plain_words(text: str) -> str:
    """Return a heading or a line without its Markdown."""
    return " ".join(_MARKS.sub("", _LINK.sub(r"\1", text)).split())


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt  # noqa: PLC0415 - loaded by the first text that has structure

    parser = MarkdownIt("commonmark").disable("reference")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser

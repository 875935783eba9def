"""Markdown and plain text: the file as it is, with its headings located and invisible parts blanked."""

import re
from dataclasses import replace

from tallystick.text.documents.model import ParsedDocument
from tallystick.text.folding import unify_line_ends
from tallystick.text.headings import Heading, plain_words, read_outline

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_FRONT = re.compile(r"([A-Za-z][\w-]{0,40})[ \t]*:[ \t]*(.*?)[ \t]*\Z")
_TRAILING = re.compile(r"(?<![ \t])[ \t]+#.*\Z")
MAX_FRONT = 200
"""Lines of front matter; a longer block is text that happens to begin with a rule."""


def read_markdown(text: str) -> ParsedDocument:
    """A Markdown file."""
    seen = _COMMENT.sub(_blank, text)
    lines = unify_line_ends(seen).split("\n")
    about, begin = _front_matter(lines)
    if begin:
        lines[:begin] = [""] * begin
    shown = "\n".join(lines)
    found = read_outline(shown).headings
    headings = tuple(replace(heading, text=plain_words(heading.text)) for heading in found)
    return ParsedDocument(
        text=shown,
        headings=headings,
        title=about.get("title") or _title(headings),
        about=about,
        left_out=() if seen == text else ("comment",),
    )


def read_text(text: str) -> ParsedDocument:
    """A file of plain text: no headings, the first line that says something is its title."""
    lines = unify_line_ends(text).split("\n")
    title = next((line.strip() for line in lines if any(map(str.isalnum, line))), "")
    return ParsedDocument(text="\n".join(lines), title=title[:120])


def _blank(found: re.Match[str]) -> str:
    # The line breaks stay, so that line numbers are those of the file.
    return "\n" * len(re.findall(r"\r\n?|\n", found.group()))


def _title(headings: tuple[Heading, ...]) -> str:
    return min(headings, key=lambda heading: (heading.level, heading.line)).text if headings else ""


def _front_matter(lines: list[str]) -> tuple[dict[str, str], int]:
    """`key: value` lines between two rules at the very beginning, and how many lines they take.

    Read line by line and not as YAML: only plain values mean anything here, and nothing can unfold or loop.
    """
    if not lines or lines[0].rstrip() != "---":
        return {}, 0
    end = next((at for at, line in enumerate(lines[1 : MAX_FRONT + 1], 1) if line.rstrip() in {"---", "..."}), None)
    if end is None:
        return {}, 0
    about: dict[str, str] = {}
    for line in lines[1:end]:
        if found := _FRONT.match(line):
            about.setdefault(found[1].lower().replace("-", "_"), _plain(found[2]))
    return about, end + 1


def _plain(value: str) -> str:
    if value[:1] in {"'", '"'}:
        end = value.find(value[0], 1)
        return value[1:end] if end > 0 else value[1:]
    return _TRAILING.sub("", value) if not value.startswith("#") else ""

"""Markdown and plain text: the file itself, with its headings found and what readers do not see blanked."""

import re
from collections.abc import Iterator

from tallystick.gate.quotes import split_lines
from tallystick.rooms.desk.kb.nouns import Heading, Written

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ATX = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*\Z")
_UNDERLINE = re.compile(r" {0,3}(?:(=+)|(-{2,}))[ \t]*\Z")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_FRONT = re.compile(r"([A-Za-z][\w-]{0,40})[ \t]*:[ \t]*(.*?)[ \t]*\Z")
_TRAILING = re.compile(r"(?<![ \t])[ \t]+#.*\Z")
MAX_FRONT = 200
"""Lines of front matter; a longer block is text that happens to begin with a rule."""


def read_markdown(text: str) -> Written:
    """A Markdown file."""
    seen = _COMMENT.sub(_blank, text)
    lines = split_lines(seen)
    about, begin = _front_matter(lines)
    if begin:
        lines[:begin] = [""] * begin
    headings = tuple(_headings(lines))
    return Written(
        text="\n".join(lines), headings=headings, title=about.get("title") or _title(headings), about=about,
        left_out=() if seen == text else ("comment",),
    )  # fmt: skip


def read_text(text: str) -> Written:
    """A file of plain text: no headings, the first line that says something is its title."""
    lines = split_lines(text)
    title = next((line.strip() for line in lines if any(map(str.isalnum, line))), "")
    return Written(text="\n".join(lines), title=title[:120])


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


def _headings(lines: list[str]) -> Iterator[Heading]:
    fence = ""
    for at, line in enumerate(lines):
        if marked := _FENCE.match(line):
            mark = marked[1]
            if not fence:
                fence = mark
            elif mark.startswith(fence) and not line[marked.end() :].strip():
                fence = ""
        elif not fence:
            if found := _ATX.match(line):
                yield Heading(line=at + 1, level=len(found[1]), text=plain_words(found[2]))
            elif _is_underlined(lines, at):
                level = 1 if lines[at + 1].lstrip().startswith("=") else 2
                yield Heading(line=at + 1, level=level, text=plain_words(line), takes=2)


def _is_underlined(lines: list[str], at: int) -> bool:
    """A line of words alone between a blank line and a rule."""
    if at + 1 >= len(lines) or not _UNDERLINE.match(lines[at + 1]):
        return False
    words = lines[at].strip()
    alone = at == 0 or not lines[at - 1].strip()
    return alone and bool(words) and words[0] not in "-*+>|#`~="


_LINK = re.compile(r"!?\[([^\[\]]{0,500})\]\([^()\s]{0,2000}\)")
_MARKS = re.compile(r"[*_`]+")


def plain_words(text: str) -> str:
    """A heading or a line without its Markdown."""
    text = _LINK.sub(r"\1", text)
    return " ".join(_MARKS.sub("", text).split())

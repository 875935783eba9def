"""One Markdown file as pieces. The author's own lines are kept as they are; only the structure is read."""

import re
from collections.abc import Iterator

from tallystick.gate.quotes import split_lines
from tallystick.gate.reply.sources import Source
from tallystick.rooms.studio.book.front_matter import FrontMatter, read_front_matter, text_of
from tallystick.rooms.studio.importing.assembling import assemble
from tallystick.rooms.studio.importing.headings import is_break
from tallystick.rooms.studio.importing.inline import plain
from tallystick.rooms.studio.importing.nouns import Losses, Manuscript, Piece

_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*)|#*+[ \t]*+)\Z")
_UNDER = re.compile(r" {0,3}(=+|-+)[ \t]*\Z")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_IMAGE = re.compile(r"!\[[^\]\n]{0,400}\]")
_TAGS = re.compile(r"</?[A-Za-z][^<>\n]{0,200}>")


def read_markdown(text: str, name: str, losses: Losses) -> Manuscript:
    """A whole book in one file."""
    front, pieces = pieces_of(text, name)
    count_images(text, name, losses)
    title, chapters = assemble(pieces, losses, name)
    return Manuscript(
        format="markdown",
        title=text_of(front.fields.get("title")) or title,
        author=text_of(front.fields.get("author")) or "",
        chapters=chapters,
    )


def count_images(text: str, name: str, losses: Losses) -> None:
    """Links to pictures stay in the text; the pictures do not come along."""
    images = len(_IMAGE.findall(text))
    if images:
        losses.add("image", name, images)


def pieces_of(text: str, name: str) -> tuple[FrontMatter, list[Piece]]:
    """The front matter and the pieces of a text."""
    source = Source(path=name, text=text, sha256="")
    front = read_front_matter(source)
    return front, list(_pieces(split_lines(text)[front.body_line - 1 :]))


def _pieces(lines: list[str]) -> Iterator[Piece]:
    held: list[str] = []
    fence: str | None = None
    for line in lines:
        mark = _FENCE.match(line)
        if fence is not None or mark:
            held.append(line)
            if mark and fence is not None and mark.group(1).startswith(fence):
                fence = None
            elif mark and fence is None:
                fence = mark.group(1)
            continue
        heading = _HEADING.match(line)
        under = _UNDER.match(line) if len(held) == 1 and not held[0].startswith((">", "-", "*", "+", "    ")) else None
        if heading or not line.strip():
            yield from _block(held)
            held = []
            if heading:
                yield _heading(heading)
        elif under:
            yield Piece(kind="heading", text=held[0].strip(), level=1 if under.group(1)[0] == "=" else 2)
            held = []
        else:
            held.append(line)
    yield from _block(held)


def _heading(found: re.Match[str]) -> Piece:
    # A closing run of signs is no part of the words.
    text = (found.group(2) or "").rstrip(" \t").rstrip("#").strip()
    # A sign alone on its line is how typists mark a new scene.
    return Piece(kind="heading", text=text, level=len(found.group(1))) if text else Piece(kind="break")


def _block(lines: list[str]) -> Iterator[Piece]:
    if not lines:
        return
    if len(lines) == 1 and (is_break(lines[0]) or is_break(plain(_TAGS.sub("", lines[0])))):
        yield Piece(kind="break")
        return
    yield Piece(kind="block", text="\n".join(line.rstrip("\r") for line in lines).strip("\n"))

"""Reads a Markdown file as pieces. The author's lines are kept as they are; only the structure is read."""

import re
from collections.abc import Iterator

from tallystick.gate.quotes import split_lines
from tallystick.gate.reply.sources import Source
from tallystick.rooms.studio.book.front_matter import FrontMatter, read_front_matter, text_of
from tallystick.rooms.studio.manuscript_import.inline import plain
from tallystick.rooms.studio.manuscript_import.model import Losses, Manuscript, Piece
from tallystick.rooms.studio.manuscript_import.structure import assemble, is_break
from tallystick.text.headings import read_outline

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
    outline = read_outline("\n".join(lines))
    headings = {heading.line: heading for heading in outline.headings}
    listed = {line for first, last in outline.listings for line in range(first, last + 1)}
    held: list[str] = []
    number = 1
    while number <= len(lines):
        heading, line = headings.get(number), lines[number - 1]
        if heading or (not line.strip() and number not in listed):
            yield from _block(held)
            held = []
        else:
            held.append(line)
        if heading:
            # A sign alone on its line is how typists mark a new scene.
            is_titled = bool(heading.text)
            yield Piece(kind="heading", text=heading.text, level=heading.level) if is_titled else Piece(kind="break")
        number += heading.takes if heading else 1
    yield from _block(held)


def _block(lines: list[str]) -> Iterator[Piece]:
    if not lines:
        return
    if len(lines) == 1 and (is_break(lines[0]) or is_break(plain(_TAGS.sub("", lines[0])))):
        yield Piece(kind="break")
        return
    yield Piece(kind="block", text="\n".join(line.rstrip("\r") for line in lines).strip("\n"))

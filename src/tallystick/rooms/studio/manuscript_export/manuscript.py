"""The book as a reader gets it: parts, chapters, scenes and paragraphs, without notes and front matter."""

import re
from collections.abc import Iterator
from typing import Literal

from tallystick.records import record
from tallystick.rooms.studio.book.front_matter import text_of
from tallystick.rooms.studio.book.model import Book, Scene
from tallystick.rooms.studio.manuscript_import.inline import Span, read
from tallystick.rooms.studio.manuscript_import.markdown import pieces_of
from tallystick.rooms.studio.manuscript_import.model import Piece
from tallystick.rooms.studio.manuscript_import.project_files import numbered_title

SECTION = 3
"""So many levels below the chapter stand headings inside a scene: no reader takes them for scenes."""
BlockKind = Literal["paragraph", "quote", "item", "heading", "break"]
_QUOTED = re.compile(r" {0,3}>[ ]?")
_ITEM = re.compile(r" {0,3}(?:[-*+]|(?P<number>[0-9]{1,4})[.)])[ \t]+")
_INTERRUPTS = re.compile(r" {0,3}(?:[-*+]|1[.)])[ \t]+")
"""Within a paragraph only this begins a list: a line may begin with a year by chance."""
_UNFIT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""Characters that XML cannot contain."""


@record
class ExportBlock:
    """One block of text."""

    kind: BlockKind
    paragraphs: tuple[tuple[Span, ...], ...] = ()
    """Of a quotation there may be several, of a break there is none."""
    number: int | None = None
    """Of an entry of a numbered list."""
    source: str = ""
    """As the author wrote it; of a heading without its signs."""


@record
class ExportScene:
    """One scene."""

    title: str | None
    """None: it has none of its own that a reader should see."""
    blocks: tuple[ExportBlock, ...]


@record
class ExportChapter:
    """One chapter."""

    title: str
    part: str | None
    """The part that begins with this chapter; None: it is the same as before."""
    scenes: tuple[ExportScene, ...]


@record
class ExportBook:
    """The whole of it."""

    title: str
    author: str
    language: str
    chapters: tuple[ExportChapter, ...]

    @property
    def has_parts(self) -> bool:
        """Whether there is a level above chapters."""
        return any(chapter.part for chapter in self.chapters)


def export_book(book: Book, *, title: str, author: str = "", language: str = "en") -> ExportBook:
    """Group the scenes of a book into chapters and parts."""
    grouped: list[tuple[str | None, str, list[Scene]]] = []
    for scene in book.scenes:
        part, named = text_of(scene.front.get("part")), text_of(scene.front.get("chapter"))
        chapter = named or scene.title
        if named and grouped and grouped[-1][:2] == (part, chapter):
            grouped[-1][2].append(scene)
        else:
            grouped.append((part, chapter, [scene]))
    chapters: list[ExportChapter] = []
    before: str | None = None
    for part, chapter, scenes in grouped:
        read_scenes = tuple(_scene(scene, chapter, place) for place, scene in enumerate(scenes, start=1))
        begins = clean(part) if part and part != before else None
        chapters.append(ExportChapter(title=clean(chapter), part=begins, scenes=read_scenes))
        before = part
    return ExportBook(title=clean(title), author=clean(author), language=language, chapters=tuple(chapters))


def clean(text: str) -> str:
    """Text that every format can hold."""
    return _UNFIT.sub("", text)


def _scene(scene: Scene, chapter: str, place: int) -> ExportScene:
    _, pieces = pieces_of(clean(_without_comments(scene.source.text)), scene.path)
    if pieces and pieces[0].kind == "heading":
        # The scene's own title; it stands in the heading of the chapter or the scene.
        pieces = pieces[1:]
    shown = scene.title not in {chapter, numbered_title(chapter, place)}
    blocks = tuple(block for piece in pieces for block in _blocks(piece))
    return ExportScene(title=clean(scene.title) if shown else None, blocks=blocks)


def _blocks(piece: Piece) -> Iterator[ExportBlock]:
    if piece.kind == "break":
        yield ExportBlock(kind="break", source="* * *")
    elif piece.kind == "heading":
        yield ExportBlock(kind="heading", paragraphs=(read(piece.text),), source=piece.text)
    else:
        for part in _parts(piece.text.split("\n")):
            block = _block(part)
            if any(span.text.strip() for paragraph in block.paragraphs for span in paragraph):
                yield block


def _parts(lines: list[str]) -> Iterator[list[str]]:
    """A quotation and the entries of a list need no empty line before them."""
    held: list[str] = []
    for line in lines:
        inside = _ITEM if held and _ITEM.match(held[0]) else _INTERRUPTS
        begins = inside.match(line) or (_QUOTED.match(line) and not (held and _QUOTED.match(held[0])))
        if held and begins:
            yield held
            held = []
        held.append(line)
    yield held


def _block(lines: list[str]) -> ExportBlock:
    source = "\n".join(lines)
    if _QUOTED.match(lines[0]):
        return ExportBlock(kind="quote", paragraphs=tuple(_quoted(lines)), source=source)
    entry = _ITEM.match(lines[0])
    if entry is None:
        return ExportBlock(kind="paragraph", paragraphs=(read(source),), source=source)
    number = None if entry["number"] is None else int(entry["number"])
    return ExportBlock(kind="item", paragraphs=(read(source[entry.end() :]),), number=number, source=source)


def _quoted(lines: list[str]) -> Iterator[tuple[Span, ...]]:
    """The paragraphs of a quotation; one inside another is told as part of it."""
    held: list[str] = []
    for line in [*lines, ">"]:
        inner = line
        while sign := _QUOTED.match(inner):
            inner = inner[sign.end() :]
        if inner.strip():
            held.append(inner)
            continue
        spans = read("\n".join(held))
        if any(span.text.strip() for span in spans):
            yield spans
        held = []


def _without_comments(text: str) -> str:
    """The text without comments; one that is never closed stays."""
    pieces: list[str] = []
    at = 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start + 4)) >= 0:
        pieces.append(text[at:start])
        at = end + 3
    return "".join([*pieces, text[at:]])

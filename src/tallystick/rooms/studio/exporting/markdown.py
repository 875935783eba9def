"""The book as one Markdown file."""

import json
from collections.abc import Iterator

from tallystick.rooms.studio.exporting.gathering import SECTION, ReadBook, ReadScene

BREAK = "* * *"


def to_markdown(book: ReadBook) -> bytes:
    """Title and author in front matter, then parts, chapters and scenes."""
    front = {"title": book.title, "author": book.author}
    fields = [f"{name}: {json.dumps(text, ensure_ascii=False)}" for name, text in front.items() if text]
    return ("\n\n".join(["\n".join(["---", *fields, "---"]), *_blocks(book)]) + "\n").encode()


def _blocks(book: ReadBook) -> Iterator[str]:
    chapter_level = 3 if book.has_parts else 2
    if book.title:
        yield f"# {book.title}"
    for chapter in book.chapters:
        if chapter.part:
            yield f"## {chapter.part}"
        yield f"{'#' * chapter_level} {chapter.title}"
        for place, scene in enumerate(chapter.scenes):
            if scene.title:
                yield f"{'#' * (chapter_level + 1)} {scene.title}"
            elif place:
                yield BREAK
            yield from _scene(scene, chapter_level)


def _scene(scene: ReadScene, chapter_level: int) -> Iterator[str]:
    for block in scene.blocks:
        yield f"{'#' * (chapter_level + SECTION)} {block.source}" if block.kind == "heading" else block.source

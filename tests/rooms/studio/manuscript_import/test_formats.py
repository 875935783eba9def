"""The same novel in every format reads the same."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tallystick.rooms.studio.manuscript_import.importer import read_source
from tallystick.rooms.studio.manuscript_import.inline import plain
from tallystick.rooms.studio.manuscript_import.project_files import files_of
from tests.rooms.studio.manuscript_import.novel import (
    AUTHOR,
    BOOK,
    TITLE,
    plain_book,
    write_docx,
    write_epub,
    write_markdown,
    write_novelwriter,
    write_text,
)

WRITERS: dict[str, tuple[str, Callable[[Path], Path]]] = {
    "docx": ("novel.docx", write_docx), "epub": ("novel.epub", write_epub), "novelwriter": ("project", write_novelwriter),
}  # fmt: skip


@pytest.mark.promise("studio.import-formats")
@pytest.mark.parametrize("form", sorted(WRITERS))
def test_every_format_gives_the_files_that_markdown_gives(tmp_path: Path, form: str) -> None:
    name, write = WRITERS[form]
    wanted = read_source(write_markdown(tmp_path / "novel.md"))
    found = read_source(write(tmp_path / name))
    assert (found.format, found.title, found.author) == (form, TITLE, AUTHOR)
    assert files_of(found) == files_of(wanted)


@pytest.mark.promise("studio.import-formats")
def test_markdown_itself_gives_chapters_scenes_and_emphasis(tmp_path: Path) -> None:
    found = read_source(write_markdown(tmp_path / "novel.md"))
    assert (found.title, found.author, found.losses) == (TITLE, AUTHOR, ())
    assert [
        (chapter.title, [(scene.title, len(scene.blocks)) for scene in chapter.scenes]) for chapter in found.chapters
    ] == [(chapter, [(title, len(paragraphs)) for title, paragraphs in scenes]) for chapter, scenes in BOOK]
    files = {path: data.decode() for path, data in files_of(found).items()}
    assert list(files) == [
        "Story/Scenes/SCN-chapter-1-arrival-scene-1.md", "Story/Scenes/SCN-chapter-1-arrival-scene-2.md",
        "Story/Scenes/SCN-the-count.md", "Story/Scenes/SCN-the-door.md", "Story/Scenes/SCN-epilogue.md",
    ]  # fmt: skip
    assert files["Story/Scenes/SCN-the-count.md"] == (
        '---\ntitle: The count\norder: 3\nchapter: "Chapter 2: The Ledger"\n---\n\n# The count\n\n'
        "Été, naïve, Zoë: the names stood in *her* hand.\n"
    )


@pytest.mark.promise("studio.import-formats")
def test_plain_text_gives_the_same_words(tmp_path: Path) -> None:
    found = read_source(write_text(tmp_path / "novel.txt"))
    assert [
        (chapter.title, [[plain(block) for block in scene.blocks] for scene in chapter.scenes])
        for chapter in found.chapters
    ] == plain_book()
    assert "She was *not* afraid; she was certain." in found.chapters[0].scenes[0].blocks
    assert [loss.kind for loss in found.losses] == ["front_matter"]

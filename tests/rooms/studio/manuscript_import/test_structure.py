"""Headings and breaks as authors write them, and what becomes of them."""

import json
from pathlib import Path
from typing import Any

import pytest

from tallystick.rooms.studio.manuscript_import.importer import read_source
from tallystick.rooms.studio.manuscript_import.model import Losses, Piece
from tallystick.rooms.studio.manuscript_import.project_files import files_of
from tallystick.rooms.studio.manuscript_import.structure import assemble, is_break, label_of, numeral_of
from tests.house.sources import ROOT

VECTORS: dict[str, list[str]] = json.loads((ROOT / "tests/vectors/studio_headings.json").read_text(encoding="utf-8"))


@pytest.mark.promise("studio.import-structure")
def test_lines_announce_what_they_say_and_prose_announces_nothing() -> None:
    for label in ("chapter", "part", "scene"):
        assert {line: label_of(line) for line in VECTORS[label]} == dict.fromkeys(VECTORS[label], label)
    assert {line: label_of(line) for line in VECTORS["nothing"]} == dict.fromkeys(VECTORS["nothing"])
    assert [line for line in VECTORS["break"] if not is_break(line)] == []
    assert [line for line in VECTORS["no_break"] if is_break(line)] == []
    assert (numeral_of("IV"), numeral_of("7."), numeral_of("II. THE SEA")) == ((4, ""), (7, ""), (2, "THE SEA"))
    assert (numeral_of("I was"), numeral_of("12 men came"), numeral_of("IIII")) == (None, None, None)


def shape(*pieces: Any) -> list[tuple[str | None, str, list[tuple[str | None, int]]]]:
    made = [Piece(kind="heading", text=p[1], level=p[0]) if isinstance(p, tuple) else Piece(kind="break") if p == "*" else Piece(kind="block", text=p) for p in pieces]  # fmt: skip
    _, chapters = assemble(made, Losses(), "x")
    return [(c.part, c.title, [(s.title, len(s.blocks)) for s in c.scenes]) for c in chapters]


@pytest.mark.promise("studio.import-structure")
def test_levels_without_words_are_chapters_and_scenes_and_with_three_parts() -> None:
    assert shape((1, "A"), "x", (1, "B"), "y", "*", "z") == [
        (None, "A", [(None, 1)]),
        (None, "B", [(None, 1), (None, 1)]),
    ]
    assert shape((1, "A"), (2, "S"), "x", (1, "B"), (2, "T"), "y") == [(None, "A", [("S", 1)]), (None, "B", [("T", 1)])]
    three = shape((1, "P"), (2, "A"), (3, "S"), "x", (1, "Q"), (2, "B"), (3, "T"), "y")
    assert three == [("P", "A", [("S", 1)]), ("Q", "B", [("T", 1)])]
    worded = shape((1, "Part One"), (2, "A"), "x", (1, "Part Two"), (2, "B"), "y")
    assert worded == [("Part One", "A", [(None, 1)]), ("Part Two", "B", [(None, 1)])]
    mixed = shape((1, "Part One"), (2, "A"), "x", (1, "Epilogue"), "y")
    assert mixed == [("Part One", "A", [(None, 1)]), ("Part One", "Epilogue", [(None, 1)])]
    assert shape((1, "The Book"), (2, "A"), "x", (2, "B"), "y", (5, "deep"), "z") == [
        (None, "A", [(None, 1)]),
        (None, "B", [(None, 3)]),
    ]


@pytest.mark.promise("studio.import-structure")
def test_contents_go_openings_stay_when_they_are_long_and_a_book_without_chapters_is_one() -> None:
    contents = shape((2, "Chapter 1"), (2, "Chapter 2"), (2, "Chapter 1"), "x", (2, "Chapter 2"), "y")
    assert [title for _, title, _ in contents] == ["Chapter 1", "Chapter 2"]
    long = " ".join(["word"] * 300)
    assert [title for _, title, _ in shape(long, (1, "Chapter 1"), "x")] == ["Opening", "Chapter 1"]
    assert [title for _, title, _ in shape("by me", (1, "Chapter 1"), "x")] == ["Chapter 1"]
    assert shape("only", "*", "prose") == [(None, "", [(None, 1), (None, 1)])]
    assert shape() == []


NOVELS = {
    "Frankenstein_84.txt": (28, "Letter 1", "Chapter 24"), "Pride-and-Prejudice_1342.txt": (61, "Chapter 1", "Chapter 61"),
    "The-Adventures-of-Sherlock-Holmes_1661.txt": (12, "ADVENTURE I. A SCANDAL IN BOHEMIA", "XII. THE ADVENTURE OF THE COPPER BEECHES"),
    "The-Time-Machine_35.txt": (17, "I: Introduction", "Epilogue"),
}  # fmt: skip


@pytest.mark.promise("studio.import-novels")
def test_whole_novels_fall_into_their_chapters(data: Path) -> None:
    folder = data / "gutenberg-novels" / "dev"
    if not folder.is_dir():
        pytest.skip("left out: novels of the public domain, TALLY_DATA not there")
    for path in sorted(folder.glob("*.txt")):
        found = read_source(path)
        assert found.title
        assert all(scene.blocks for chapter in found.chapters for scene in chapter.scenes)
        text = path.read_text(encoding="utf-8", errors="replace")
        carried = sum(
            len(block.split()) for chapter in found.chapters for scene in chapter.scenes for block in scene.blocks
        )
        assert carried > 0.9 * (len(text.split()) - 3_500), path.name
        if path.name in NOVELS:
            number, first, last = NOVELS[path.name]
            assert (len(found.chapters), found.chapters[0].title, found.chapters[-1].title) == (number, first, last)


@pytest.mark.promise("studio.import-novels")
def test_a_small_novel_in_gutenbergs_manner_falls_into_its_chapters(tmp_path: Path) -> None:
    path = tmp_path / "small.txt"
    path.write_text(
        "Title: The Quay\nAuthor: Ines Marlow\n\n*** START OF THIS PROJECT GUTENBERG EBOOK THE QUAY ***\n\nCONTENTS\n\nI. RAIN\n\n"
        "II. SALT\n\n\n\nI. RAIN\n\nIt rained\non the quay.\n\nI.\n\nOne.\n\nII.\n\nTwo.\n\nII. SALT\n\n  A line of verse\n"
        "  and one more\n\nIt was _dry_.\n\nEnd of the Project Gutenberg EBook of The Quay\n\nLicence.\n",
        encoding="utf-8",
    )
    found = read_source(path)
    assert (found.title, found.author) == ("The Quay", "Ines Marlow")
    assert [(c.title, [s.blocks for s in c.scenes]) for c in found.chapters] == [
        ("I. RAIN", [("It rained on the quay.",), ("One.",), ("Two.",)]),
        ("II. SALT", [("A line of verse\\\nand one more", "It was *dry*.")]),
    ]
    assert {loss.kind for loss in found.losses} == {"boilerplate", "front_matter"}


@pytest.mark.promise("studio.import-structure")
def test_markdown_of_every_manner_is_read_and_kept_as_written(tmp_path: Path) -> None:
    path = tmp_path / "x.md"
    path.write_text(
        "The Book\n========\n\nArrival\n-------\n\nTwo lines\nof _one_ paragraph.\n\n```\n# no heading\n\n* * *\n```\n\n#\n\n- a list\n---\n\n"
        "<center>* * *</center>\n\n> quoted\n> twice\n\nArrival\n-------\n\nAgain.\n",
        encoding="utf-8",
    )
    found = read_source(path)
    assert found.title == "The Book"
    assert [(c.title, [s.blocks for s in c.scenes]) for c in found.chapters] == [
        ("Arrival", [("Two lines\nof _one_ paragraph.", "```\n# no heading\n\n* * *\n```"), ("- a list\n---",), ("> quoted\n> twice",)]),
        ("Arrival", [("Again.",)]),
    ]  # fmt: skip
    assert [name.rpartition("/")[2] for name in files_of(found)][-1] == "SCN-arrival.md"
    twice = read_source(path)
    assert len(files_of(twice)) == 4

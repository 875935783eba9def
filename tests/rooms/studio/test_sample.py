"""The sample project: that it is whole, that what is planted is where it is said to be, and that copying harms nobody."""

import re
from datetime import date
from pathlib import Path

import pytest

from tallystick.agents.problem import Problem
from tallystick.gate.quotes import find_quote, fold_text
from tallystick.rooms.studio.book.model import Book
from tallystick.rooms.studio.book.reader import BookReader
from tallystick.rooms.studio.continuity.book_check import BookReading
from tallystick.rooms.studio.sample_project import Copied, copy_sample, sample_files
from tallystick.storage.files import FileSources
from tests.rooms.studio.continuity.telling import grammar
from tests.rooms.studio.planted import ANSWERS, Planted, planted

KINDS = {"eye_colour", "age", "weekday", "place", "dead_acting", "name_spelling", "terminology", "constraint"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the sample."""
    copied = copy_sample(tmp_path / "novel")
    assert isinstance(copied, Copied)
    return copied.folder


@pytest.fixture
def book(project: Path) -> Book:
    """The copy, read as any author's project is."""
    return BookReader(FileSources(project)).book()


@pytest.mark.promise("sample.project")
def test_the_sample_is_a_whole_book_that_is_read_without_a_complaint(book: Book) -> None:
    assert [scene.number for scene in book.scenes] == list(range(1, 15))
    assert len(book.cards) == 26
    assert {card.kind for card in book.cards} == {
        "character", "location", "lore", "faction", "technology", "culture", "event", "theme", "glossary", "misc",
    }  # fmt: skip
    assert book.complaints == ()
    names = {card.name for card in book.cards if card.kind == "character"}
    assert {scene.pov for scene in book.scenes} <= names


@pytest.mark.promise("sample.project")
def test_every_scene_is_of_a_scene_s_length(book: Book) -> None:
    for scene in book.scenes:
        prose = scene.source.text.split("\n", scene.body_line - 1)[-1]
        assert 500 <= len(prose.split()) <= 900, scene.path


@pytest.mark.promise("sample.outline")
def test_one_beat_has_no_scene_and_one_scene_has_no_beat(book: Book) -> None:
    assert book.outline is not None
    assert len(book.outline.acts) == 3
    told = {beat.scene for beat in book.outline.beats}
    assert [beat.title for beat in book.outline.beats if beat.scene is None] == ["The Auditor"]
    assert [scene.slug for scene in book.scenes if f"SCN-{scene.slug}" not in told] == ["night-tide"]


@pytest.mark.promise("sample.planted")
def test_every_kind_is_planted_and_has_a_decoy() -> None:
    real = [each for each in planted() if not each.decoy]
    assert {each.kind for each in real} >= KINDS
    assert len({each.kind for each in real}) == len(real) == 12
    assert {each.kind for each in planted() if each.decoy} >= KINDS
    assert len({each.id for each in planted()}) == len(planted())


@pytest.mark.promise("sample.planted")
@pytest.mark.parametrize("each", planted(), ids=lambda each: each.id)
def test_each_quote_stands_where_it_says(each: Planted, project: Path) -> None:
    for said in (each.a, each.b):
        text = (project / said.path).read_text(encoding="utf-8")
        assert said.quote in text.split("\n")[said.line - 1]
        found = find_quote(said.quote, fold_text(text))
        assert found is not None


@pytest.mark.promise("sample.planted")
def test_beside_what_is_planted_the_dates_are_right(book: Book) -> None:
    """Every written weekday with a date agrees with the calendar of its year, but for the one that is planted."""
    months = {"September": 9, "November": 11}
    wrong = []
    for scene in book.scenes:
        for day, number, month, year in re.findall(
            r"(\w+day) the (\d+)(?:st|nd|rd|th) of (September|November)(?: (\d{4}))?", scene.source.text
        ):
            if date(int(year or 1931), months[month], int(number)).strftime("%A") != day:
                wrong.append((scene.slug, number))
    assert wrong == [("gorsey-staithe", "15")]


@pytest.mark.promise("sample.copy")
def test_a_copy_has_every_file_as_it_ships_and_not_the_answers(project: Path) -> None:
    held = {path.relative_to(project).as_posix(): path.read_bytes() for path in project.rglob("*") if path.is_file()}
    assert held == dict(sample_files())
    assert ANSWERS not in {Path(path).name for path in held}


@pytest.mark.promise("sample.copy")
def test_a_folder_with_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "My novel.md").write_text("Mine.", encoding="utf-8")
    refused = copy_sample(tmp_path)
    assert isinstance(refused, Problem)
    assert refused.code == "folder_not_empty"
    assert [path.name for path in tmp_path.iterdir()] == ["My novel.md"]


@pytest.mark.promise("sample.copy")
def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    refused = copy_sample(tmp_path / "file")
    assert isinstance(refused, Problem)
    assert refused.code == "not_a_folder"


@pytest.mark.promise("sample.copy")
def test_an_earlier_copy_stays_as_its_author_left_it(project: Path) -> None:
    scene = project / "Story/Scenes/SCN-the-vestry.md"
    scene.write_text("rewritten", encoding="utf-8")
    (project / "Story/Scenes/SCN-night-tide.md").unlink()
    again = copy_sample(project)
    assert isinstance(again, Copied)
    assert again.written == ()
    assert scene.read_text(encoding="utf-8") == "rewritten"
    assert not (project / "Story/Scenes/SCN-night-tide.md").exists()


@pytest.mark.promise("sample.copy")
def test_a_workspace_without_anything_of_an_author_s_counts_as_empty(tmp_path: Path) -> None:
    (tmp_path / ".control-room").mkdir()
    copied = copy_sample(tmp_path)
    assert isinstance(copied, Copied)
    assert copied.written


FOUND = 9
"""Of the twelve: an uncle of whichever woman is meant, a bank that is only seen, and a ban without a doer are not read."""


@pytest.mark.promise("sample.checked")
def test_the_checkers_find_what_is_planted_and_say_nothing_of_a_decoy(book: Book) -> None:
    said = {(found.second.path, found.second.line) for found in BookReading(book, grammar()).findings().open}
    wrong = {(each.b.path, each.b.line) for each in planted() if not each.decoy}
    assert len(said & wrong) >= FOUND
    assert sorted(said - wrong) == []

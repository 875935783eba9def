"""Importing again: nothing changes, and what the author did stays."""

import itertools
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tallystick.agents.problem import Problem
from tallystick.errors import ConfigError
from tallystick.rooms.studio.book.reader import BookReader
from tallystick.rooms.studio.manuscript_import.importer import ImportMemory, import_manuscript
from tallystick.rooms.studio.manuscript_import.model import ImportReport
from tallystick.rooms.studio.workspace.patch_store import PatchStore
from tallystick.rooms.studio.workspace.revisions import Revisions
from tallystick.storage.files import FileSources
from tests.rooms.studio.manuscript_import.novel import TITLE, write_docx, write_epub, write_markdown, write_novelwriter

FIRST = "Story/Scenes/SCN-chapter-1-arrival-scene-1.md"
Bring = Callable[[Path], ImportReport]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def revisions(workspace: Path) -> Revisions:
    numbers = itertools.count(1)
    return Revisions(FileSources(workspace), PatchStore(workspace), new_id=lambda: f"patch_{next(numbers):08x}")


@pytest.fixture
def bring(workspace: Path, revisions: Revisions) -> Bring:
    def run(source: Path) -> ImportReport:
        made = import_manuscript(
            source, files=FileSources(workspace), revisions=revisions, by="ada", now="2026-01-31T12:00:00Z"
        )
        assert isinstance(made, ImportReport), made
        return made

    return run


def everything(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.promise("studio.import-again")
@pytest.mark.parametrize("form", ["md", "docx", "epub", "novelwriter"])
def test_importing_the_same_again_changes_no_byte(tmp_path: Path, workspace: Path, bring: Bring, form: str) -> None:
    write = {"md": write_markdown, "docx": write_docx, "epub": write_epub, "novelwriter": write_novelwriter}[form]
    source = write(tmp_path / (f"novel.{form}" if form != "novelwriter" else "project"))
    first = bring(source)
    assert len(first.written) == 5
    before = everything(workspace)
    again = bring(source)
    assert (again.written, again.updated, again.conflicts) == ((), (), {})
    assert (again.unchanged, again.source_sha256) == (first.written, first.source_sha256)
    assert everything(workspace) == before


@pytest.mark.promise("studio.import-again")
def test_an_import_in_another_format_changes_nothing_either(tmp_path: Path, workspace: Path, bring: Bring) -> None:
    bring(write_markdown(tmp_path / "novel.md"))
    before = everything(workspace)
    assert len(bring(write_docx(tmp_path / "novel.docx")).unchanged) == 5
    assert everything(workspace) == before
    book = BookReader(FileSources(workspace)).book()
    assert [scene.title for scene in book.scenes][2:] == ["The count", "The door", "Epilogue"]
    assert book.complaints == ()


@pytest.mark.promise("studio.import-author")
def test_an_author_s_edit_stays_and_a_change_of_both_waits_as_a_proposal(
    tmp_path: Path, workspace: Path, bring: Bring, revisions: Revisions
) -> None:
    source = write_markdown(tmp_path / "novel.md")
    bring(source)
    (workspace / FIRST).write_text("mine now\n", encoding="utf-8")
    kept = bring(source)
    assert (kept.kept, kept.conflicts) == ((FIRST,), {})
    text = source.read_text(encoding="utf-8")
    source.write_text(text.replace("Rain fell", "Snow fell").replace("It was open.", "It was shut."), encoding="utf-8")
    both = bring(source)
    assert both.updated == ("Story/Scenes/SCN-the-door.md",)
    assert list(both.conflicts) == [FIRST]
    assert (workspace / FIRST).read_text(encoding="utf-8") == "mine now\n"
    assert "It was shut." in (workspace / "Story/Scenes/SCN-the-door.md").read_text(encoding="utf-8")
    shown = revisions.show(both.conflicts[FIRST])
    assert not isinstance(shown, Problem)
    assert "-mine now" in shown.diff
    assert "Snow fell" in shown.diff
    before = everything(workspace)
    assert bring(source).kept == (FIRST,)
    assert everything(workspace) == before
    assert [version.origin for version in revisions.kept.history("Story/Scenes/SCN-the-door.md")] == [
        "import",
        "import",
    ]


@pytest.mark.promise("studio.import-author")
def test_a_file_that_was_there_before_the_first_import_is_not_written_over(
    tmp_path: Path, workspace: Path, bring: Bring
) -> None:
    (workspace / FIRST).parent.mkdir(parents=True)
    (workspace / FIRST).write_text("mine\n", encoding="utf-8")
    report = bring(write_markdown(tmp_path / "novel.md"))
    assert (len(report.written), list(report.conflicts)) == (4, [FIRST])
    assert (workspace / FIRST).read_text(encoding="utf-8") == "mine\n"


@pytest.mark.promise("studio.import-author")
def test_a_scene_that_the_author_removed_does_not_come_back(tmp_path: Path, workspace: Path, bring: Bring) -> None:
    source = write_markdown(tmp_path / "novel.md")
    bring(source)
    (workspace / FIRST).unlink()
    assert bring(source).kept == (FIRST,)
    assert not (workspace / FIRST).exists()


@pytest.mark.promise("studio.import-author")
def test_a_name_that_cannot_be_written_is_listed_and_the_rest_is_there(
    tmp_path: Path, workspace: Path, bring: Bring
) -> None:
    (workspace / "Story/scenes").mkdir(parents=True)
    report = bring(write_markdown(tmp_path / "novel.md"))
    assert set(report.refused.values()) == {"name_taken"}
    assert report.written == ()
    told = report.as_dict()
    assert told["refused"][0]["code"] == "name_taken"
    json.dumps(told)


@pytest.mark.promise("studio.import-again")
def test_what_the_book_is_called_is_remembered(
    tmp_path: Path, workspace: Path, bring: Bring, revisions: Revisions
) -> None:
    bring(write_markdown(tmp_path / "novel.md"))
    assert ImportMemory(revisions.kept).called() == (TITLE, "Ines Marlow")
    held = json.loads((workspace / ".control-room/workspace/imports.json").read_text(encoding="utf-8"))
    assert FIRST in held["files"]


@pytest.mark.promise("studio.import-author")
def test_when_it_is_forgotten_what_was_imported_nothing_is_asked_twice(
    tmp_path: Path, workspace: Path, bring: Bring, revisions: Revisions
) -> None:
    source = write_markdown(tmp_path / "novel.md")
    bring(source)
    (workspace / FIRST).write_text("mine\n", encoding="utf-8")
    memory = workspace / ".control-room/workspace/imports.json"
    memory.unlink()
    first = bring(source).conflicts
    memory.unlink()
    assert bring(source).conflicts == first
    revisions.reject(first[FIRST], by="ada", now="now")
    memory.unlink()
    assert (bring(source).kept, bring(source).conflicts) == ((FIRST,), {})
    memory.write_text('{"version": 1, "files": [1]}', encoding="utf-8")
    with pytest.raises(ConfigError) as damaged:
        bring(source)
    assert damaged.value.code == "imports_damaged"
    memory.write_text("{", encoding="utf-8")
    assert ImportMemory(revisions.kept).called() == ("", "")


@pytest.mark.promise("studio.import-bad-input")
def test_names_that_cannot_be_carried_are_listed_and_an_empty_book_is_a_problem(
    tmp_path: Path, workspace: Path, bring: Bring, revisions: Revisions
) -> None:
    folder = tmp_path / "old"
    (folder / "Story").mkdir(parents=True)
    for name in ("con.md", "a.md", "b?.md"):
        (folder / "Story" / name).write_text("x\n", encoding="utf-8")
    report = bring(folder)
    assert (report.written, report.refused) == (
        ("Story/a.md",),
        {"Story/con.md": "bad_path", "Story/b?.md": "bad_path"},
    )
    (tmp_path / "empty.md").write_text("\n", encoding="utf-8")
    refused = import_manuscript(
        tmp_path / "empty.md", files=FileSources(workspace), revisions=revisions, by="ada", now="now"
    )
    assert isinstance(refused, Problem)
    assert refused.code == "nothing_to_import"

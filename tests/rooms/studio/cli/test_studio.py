"""`tally studio`: a project is made, a manuscript brought in, looked at, changed by people, taken out again."""

import json
import os
import shlex
from pathlib import Path

import pytest

from tests.doors.cli.conftest import Tally
from tests.doors.cli.terminal import at_terminal
from tests.rooms.studio.manuscript_import.novel import TITLE, write_docx, write_markdown

SCENE = "Story/Scenes/SCN-the-door.md"


@pytest.fixture
def novel(tally: Tally, workspace: Path, tmp_path: Path) -> Path:
    """A workspace with a small novel in it."""
    done = tally("studio", "import", str(write_markdown(tmp_path / "novel.md")), "--quiet")
    assert done.code == 0, done.err
    return workspace


@pytest.mark.promise("studio.workspace-cli")
def test_init_makes_a_project_and_says_what_next(tally: Tally, tmp_path: Path) -> None:
    folder = tmp_path / "my novel"
    made = tally("studio", "init", str(folder), "--json").json
    assert "Story/SCN-outline.md" in made["made"]
    assert (folder / "Compendium/Characters").is_dir()
    assert (folder / ".control-room").is_dir()
    again = tally("studio", "init", str(folder))
    assert again.code == 0
    assert "tally studio import" in again.err
    assert tally("studio", "init", str(folder), "--json").json["made"] == []


@pytest.mark.promise("studio.workspace-cli", "studio.import-again", "studio.patch-audit")
def test_a_manuscript_is_brought_in_once_and_again(tally: Tally, workspace: Path, tmp_path: Path) -> None:
    source = str(write_docx(tmp_path / "novel.docx"))
    first = tally("studio", "import", source, "--json").json
    assert (first["title"], len(first["written"]), first["losses"]) == (TITLE, 5, [])
    again = tally("studio", "import", source, "--json").json
    assert (again["written"], len(again["unchanged"])) == ([], 5)
    assert "5 unchanged" in tally("studio", "import", source).out
    notes = tally("--json", "audit", "list", "--kind", "note").json["items"]
    assert {note["audit"]["action"] for note in notes} == {"workspace.import"}


@pytest.mark.promise("studio.workspace-cli", "studio.import-author")
def test_a_conflict_is_listed_and_waits(tally: Tally, novel: Path, tmp_path: Path) -> None:
    (novel / SCENE).write_text("mine\n", encoding="utf-8")
    source = tmp_path / "novel.md"
    source.write_text(source.read_text(encoding="utf-8").replace("It was open.", "It was shut."), encoding="utf-8")
    told = tally("studio", "import", str(source))
    assert told.code == 0
    assert "waits for you" in told.err
    (waiting,) = tally("studio", "patches", "--json").json["items"]
    shown = tally("studio", "patches", waiting["patch_id"])
    assert "-mine" in shown.out
    assert "+It was shut." in shown.out
    assert waiting["patch_id"] in tally("studio", "patches").out


@pytest.mark.promise("studio.workspace-cli")
def test_tree_and_read_show_the_files(tally: Tally, novel: Path) -> None:
    drawn = tally("studio", "tree").out
    assert "SCN-the-door.md  11 lines" in drawn
    assert tally("studio", "tree", "--json").json["complete"]
    whole = tally("studio", "read", SCENE, "--json").json
    assert whole["text"] == (novel / SCENE).read_text(encoding="utf-8")
    assert tally("studio", "read", SCENE, "--lines", "9-9").out == "It was open.\n"
    part = tally("studio", "read", SCENE, "--lines", "9-99", "--json").json
    assert (part["start_line"], part["end_line"], part["text"]) == (
        9,
        11,
        "It was open.\n\n1\\. was the first word on the page.",
    )
    for words, code, error in (
        ((SCENE, "--lines", "x"), 2, "usage"), ((SCENE, "--lines", "99"), 1, "line_missing"), (("Story/none.md",), 1, "not_found"),
        (("../x",), 1, "path_outside"), ((".control-room/x",), 1, "path_protected"),
    ):  # fmt: skip
        refused = tally("studio", "read", *words)
        assert (refused.code, refused.error) == (code, error)


@pytest.mark.promise("studio.workspace-cli", "studio.export")
@pytest.mark.parametrize("form", ["md", "docx", "epub"])
def test_the_book_is_taken_out_and_brought_in_elsewhere(tally: Tally, novel: Path, tmp_path: Path, form: str) -> None:
    out = tmp_path / f"out.{form}"
    told = tally("studio", "export", str(out), "--json")
    assert (told.json["format"], told.json["bytes"]) == (form, out.stat().st_size)
    refused = tally("studio", "export", str(out))
    assert (refused.code, refused.error) == (1, "file_exists")
    before = out.read_bytes()
    assert tally("studio", "export", "--format", form, str(out), "--force").code == 0
    assert out.read_bytes() == before
    report = tally("studio", "import", str(out), "--json").json
    assert (report["title"], len(report["unchanged"]), report["written"]) == (TITLE, 5, [])


@pytest.mark.promise("studio.workspace-cli", "studio.export")
def test_the_files_are_taken_out_as_they_are(tally: Tally, novel: Path, tmp_path: Path) -> None:
    out = tmp_path / "folder"
    assert tally("studio", "export", "--format", "folder", str(out), "--json").json["files"] == 5
    assert (out / SCENE).read_bytes() == (novel / SCENE).read_bytes()
    assert tally("studio", "export", "--format", "folder", str(out)).error == "file_exists"
    assert tally("studio", "export", "--format", "folder", str(out), "--force").code == 0
    assert tally("studio", "export", "--format", "pdf", str(tmp_path / "x.pdf")).error == "format_unknown"
    assert tally("studio", "export", "x.md", "--language", "no tag").code == 2
    assert tally("studio", "export", ".control-room/x.md").error == "path_protected"


@pytest.mark.promise("studio.export", "book.complaints")
@pytest.mark.parametrize("form", ["md", "docx", "epub", "folder"])
def test_an_export_that_would_lose_a_file_writes_nothing_unless_told_to(
    tally: Tally, novel: Path, tmp_path: Path, form: str
) -> None:
    big = "Story/Scenes/SCN-big.md"
    (novel / big).write_bytes(b"word " * 4_000_000)
    (novel / "Story/Scenes/SCN-latin.md").write_bytes(b"Caf\xe9.\n")
    out = tmp_path / f"out.{form}"
    refused = tally("studio", "export", "--format", form, str(out))
    assert (refused.code, refused.error, out.exists()) == (1, "scenes_unreadable", False)
    assert big in refused.err
    told = tally("studio", "export", "--format", form, str(out), "--leave-out", "--json")
    lacking = [(one["path"], one["code"]) for one in told.json["complaints"] if one["left_out"]]
    assert (told.code, lacking) == (0, [(big, "file_too_large")])
    # Copies have the bytes they had; what is made from them was read as well as it could be.
    odd = [one["code"] for one in told.json["complaints"] if not one["left_out"]]
    assert odd == ([] if form == "folder" else ["file_not_utf8"])
    assert not (out / big).exists()
    text = tally("studio", "export", "--format", form, str(out), "--leave-out", "--force")
    assert f"{big}:1: file_too_large" in text.err


@pytest.mark.promise("studio.workspace-cli", "studio.patch-proposal")
def test_a_patch_is_proposed_by_anyone_and_applied_by_a_person(tally: Tally, novel: Path, token: str) -> None:
    new = (novel / SCENE).read_text(encoding="utf-8").replace("open", "shut")
    proposed = tally("studio", "patch", SCENE, "--from", "-", "--note", "why", "--json", stdin=new).json
    assert (proposed["state"], proposed["note"]) == ("proposed", "why")
    for words in (
        ("apply", proposed["patch_id"]),
        ("reject", proposed["patch_id"]),
        ("undo", SCENE),
        ("patch", SCENE, "--remove", "--apply"),
    ):
        assert tally("studio", *words).error == "person_required"
    assert "open" in (novel / SCENE).read_text(encoding="utf-8")
    applied = tally("studio", "apply", proposed["patch_id"], "--token", token, "--json").json
    assert applied["state"] == "applied"
    assert (novel / SCENE).read_text(encoding="utf-8") == new
    history = tally("studio", "history", SCENE, "--json").json
    assert [item["origin"] for item in history["items"]] == ["person", "import"]
    undone = tally("studio", "undo", SCENE, "--token", token)
    assert undone.code == 0
    assert "open" in (novel / SCENE).read_text(encoding="utf-8")
    back = tally("studio", "undo", SCENE, "--to", history["items"][0]["after"][:16], "--token", token, "--json")
    assert back.json["state"] == "applied"
    assert (novel / SCENE).read_text(encoding="utf-8") == new
    assert SCENE in tally("studio", "history").out
    assert tally("studio", "undo", SCENE, "--to", "zz", "--token", token).error == "version_unknown"


@pytest.mark.promise("studio.workspace-cli")
def test_the_command_that_is_named_can_be_typed_in_any_folder(
    tally: Tally, novel: Path, tmp_path: Path, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "some where"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    proposed = tally("studio", "patch", SCENE, "--from", "-", "--workspace", str(novel), stdin="new\n")
    named = proposed.err.split("`")[1]
    assert tally(*shlex.split(named)[1:], "--token", token).code == 0
    assert (novel / SCENE).read_text(encoding="utf-8") == "new\n"


@pytest.mark.promise("studio.workspace-cli")
def test_a_patch_can_be_applied_at_once_rejected_or_made_by_a_diff(
    tally: Tally, novel: Path, tmp_path: Path, token: str
) -> None:
    new = tmp_path / "new.md"
    new.write_text("# New\n", encoding="utf-8")
    done = tally("studio", "patch", "Notes/new.md", "--from", str(new), "--apply", "--token", token, "--json").json
    assert done["state"] == "applied"
    (tmp_path / "x.diff").write_text("@@ -1 +1 @@\n-# New\n+# Newer\n", encoding="utf-8")
    made = tally("studio", "patch", "Notes/new.md", "--diff", str(tmp_path / "x.diff"), "--json").json
    rejected = tally("studio", "reject", made["patch_id"], "--reason", "no", "--token", token)
    assert rejected.code == 0
    assert tally("studio", "apply", made["patch_id"], "--token", token).error == "patch_decided"
    assert len(tally("studio", "patches", "--all", "--json").json["items"]) == 2
    (tmp_path / "bad.md").write_bytes(b"\xff\xfe\xfa")
    for words, error in (
        (("--from", str(tmp_path / "none.md")), "file_unreadable"), (("--from", str(tmp_path / "bad.md")), "not_text"),
        (("--from", str(new)), "patch_empty"), ((), "usage"), (("--remove", "--from", "-"), "usage"),
    ):  # fmt: skip
        assert tally("studio", "patch", "Notes/new.md", *words).error == error
    stale = tally("studio", "patch", "Notes/new.md", "--from", str(tmp_path / "x.diff"), "--base", "0" * 64)
    assert stale.code == 1
    assert "changed since" in stale.err


@pytest.mark.promise("studio.workspace-cli")
def test_at_a_terminal_the_difference_is_shown_and_asked_about(novel: Path, tmp_path: Path) -> None:
    (tmp_path / "new.md").write_text("# Door\n", encoding="utf-8")
    words = ("studio", "patch", SCENE, "--from", str(tmp_path / "new.md"), "--apply")
    state = Path(os.environ["TALLY_STATE_DIR"])
    refused = at_terminal(*words, folder=novel, state=state, answer="n")
    assert refused.code == 1
    assert "+# Door" in refused.out
    assert "open" in (novel / SCENE).read_text(encoding="utf-8")
    assert at_terminal(*words, folder=novel, state=state, answer="y").code == 0
    assert (novel / SCENE).read_text(encoding="utf-8") == "# Door\n"


@pytest.mark.promise("studio.workspace-cli", "studio.import-bad-input")
def test_bad_sources_are_one_line_with_a_code(tally: Tally, workspace: Path, tmp_path: Path) -> None:
    (tmp_path / "x.docx").write_bytes(b"no zip")
    for source, code in (("none.docx", "source_missing"), ("x.docx", "archive_damaged")):
        refused = tally("studio", "import", str(tmp_path / source))
        assert (refused.code, refused.error) == (1, code)
    assert (
        json.loads(tally("studio", "import", str(tmp_path / "x.docx"), "--json").err)["error"]["code"]
        == "archive_damaged"
    )
    for folder in (workspace, workspace.parent):
        assert tally("studio", "import", str(folder)).error == "source_is_workspace"
    tally("studio", "init")
    assert tally("studio", "export", str(tmp_path / "x.md")).error == "nothing_to_export"

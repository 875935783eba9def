"""Patches: proposed against a base, shown, decided once; history, snapshots and undo."""

import errno
import multiprocessing
import os
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tallystick.agents.problem import Problem
from tallystick.errors import ConfigError
from tallystick.rooms.studio.workspace import revisions as module
from tallystick.rooms.studio.workspace.model import GONE, MOVES, Change, Edit, Patch
from tallystick.rooms.studio.workspace.patch_store import PatchStore
from tallystick.rooms.studio.workspace.revisions import Revisions
from tallystick.storage.files import FileSources
from tallystick.storage.journal import disk
from tests.rooms.studio.workspace.conftest import SCENE, TEXT

NOW = "2026-01-31T12:00:00.000Z"
NEW = TEXT.replace("Nobody came.", "A boat came.")


def digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def proposed(revisions: Revisions, **change: Any) -> Patch:
    made = revisions.propose(Change(**{"path": SCENE, "base_sha256": None, **change}), by="ada", now=NOW)
    assert isinstance(made, Patch), made
    return made


def code(result: object) -> str:
    assert isinstance(result, Problem), result
    return result.code


@pytest.mark.promise("studio.patch-proposal")
def test_a_proposal_changes_nothing_until_it_is_applied(revisions: Revisions, project: Path) -> None:
    patch = proposed(revisions, text=NEW, base_sha256=digest(TEXT), note="hope")
    assert (project / SCENE).read_text(encoding="utf-8") == TEXT
    assert (patch.state, patch.added, patch.removed, patch.note) == ("proposed", 1, 1, "hope")
    shown = revisions.show(patch.patch_id)
    assert not isinstance(shown, Problem)
    assert "-Nobody came.\n+A boat came.\n" in shown.diff
    assert not shown.changed_meanwhile
    assert (project / f".control-room/workspace/patches/{patch.patch_id}.json").is_file()
    done = revisions.apply(patch.patch_id, by="grace", now=NOW)
    assert isinstance(done, Patch)
    assert (done.state, done.decided_by) == ("applied", "grace")
    assert (project / SCENE).read_text(encoding="utf-8") == NEW


@pytest.mark.promise("studio.patch-proposal")
def test_a_change_is_a_text_or_edits_or_a_diff_or_a_removal(revisions: Revisions, project: Path) -> None:
    as_text = proposed(revisions, text=NEW)
    as_edit = proposed(revisions, edits=(Edit(start_line=5, end_line=5, text="A boat came.\n"),))
    shown = revisions.show(as_text.patch_id)
    assert not isinstance(shown, Problem)
    as_diff = proposed(revisions, diff=shown.diff)
    assert as_text.new_sha256 == as_edit.new_sha256 == as_diff.new_sha256 == digest(NEW)
    gone = proposed(revisions, remove=True)
    assert isinstance(revisions.apply(gone.patch_id, by="ada", now=NOW), Patch)
    assert not (project / SCENE).exists()
    for none in ({}, {"text": "x", "remove": True}, {"text": "x", "diff": "y"}):
        wrong = Change(path=SCENE, base_sha256=None, **none)
        assert code(revisions.propose(wrong, by="ada", now=NOW)) == "change_invalid"


@pytest.mark.promise("studio.patch-conflict")
def test_a_file_that_changed_meanwhile_is_not_written_and_nothing_is_lost(revisions: Revisions, project: Path) -> None:
    patch = proposed(revisions, text=NEW)
    theirs = TEXT.replace("Rain", "Snow")
    (project / SCENE).write_text(theirs, encoding="utf-8")
    assert code(revisions.apply(patch.patch_id, by="ada", now=NOW)) == "changed_meanwhile"
    assert (project / SCENE).read_text(encoding="utf-8") == theirs
    shown = revisions.show(patch.patch_id)
    assert not isinstance(shown, Problem)
    assert shown.patch.state == "proposed"
    assert shown.changed_meanwhile
    assert "+A boat came." in shown.diff
    assert "+Snow fell" in (shown.current_diff or "")


@pytest.mark.promise("studio.patch-conflict")
def test_a_text_against_a_base_that_is_gone_is_kept_too(revisions: Revisions, project: Path) -> None:
    patch = proposed(revisions, text=NEW, base_sha256="0" * 64)
    shown = revisions.show(patch.patch_id)
    assert not isinstance(shown, Problem)
    assert shown.changed_meanwhile
    assert shown.current_diff is None
    assert "+A boat came." in shown.diff
    lines = Change(path=SCENE, base_sha256="0" * 64, edits=(Edit(start_line=1, end_line=1, text="x"),))
    assert code(revisions.propose(lines, by="ada", now=NOW)) == "changed_meanwhile"
    fresh = proposed(revisions, text="mine\n", base_sha256=GONE)
    assert code(revisions.apply(fresh.patch_id, by="ada", now=NOW)) == "changed_meanwhile"
    assert (project / SCENE).read_text(encoding="utf-8") == TEXT


@pytest.mark.promise("studio.patch-states")
def test_a_patch_is_decided_once(revisions: Revisions) -> None:
    patch = proposed(revisions, text=NEW)
    done = revisions.reject(patch.patch_id, by="ada", now=NOW, reason="no")
    assert isinstance(done, Patch)
    assert (done.state, done.reason) == ("rejected", "no")
    for decide in (revisions.apply, revisions.reject):
        assert code(decide(patch.patch_id, by="ada", now=NOW)) == "patch_decided"
        assert code(decide("patch_ffffffff", by="ada", now=NOW)) == "patch_unknown"
        assert code(decide("../../x", by="ada", now=NOW)) == "patch_unknown"
    assert {state for state, _ in MOVES} == {"proposed"}


@pytest.mark.promise("studio.patch-bad-input")
def test_what_cannot_be_a_file_is_refused_with_its_code(revisions: Revisions, project: Path) -> None:
    (project / "cover.png").write_bytes(b"\x89PNG\0\0")
    cases: list[tuple[dict[str, Any], str]] = [
        ({"text": TEXT}, "patch_empty"),
        ({"text": "a\0b"}, "text_invalid"),
        ({"text": "half \ud800"}, "text_invalid"),
        ({"text": "x" * (16 * 1024 * 1024 + 1)}, "too_large"),
        ({"text": "x", "base_sha256": "nonsense"}, "change_invalid"),
        ({"text": "x", "path": "cover.png"}, "not_text"),
        ({"text": "x", "path": "Story/Scenes"}, "not_a_file"),
        ({"remove": True, "path": "Story/none.md"}, "not_found"),
        ({"edits": (Edit(start_line=9, end_line=9, text="x"),)}, "edit_invalid"),
        ({"edits": (Edit(start_line=3, end_line=1, text="x"),)}, "edit_invalid"),
        ({"edits": (Edit(start_line=1, end_line=2, text="x"), Edit(start_line=2, end_line=3, text="y"))}, "edit_invalid"),
        ({"diff": "no diff"}, "diff_invalid"),
        ({"diff": "@@ -1,1 +1,1 @@\n-Something else\n+x\n"}, "diff_mismatch"),
        ({"diff": "@@ -1,2 +1,1 @@\n-# Arrival\n"}, "diff_invalid"),
    ]  # fmt: skip
    for change, wanted in cases:
        result = revisions.propose(Change(**{"path": SCENE, "base_sha256": None, **change}), by="ada", now=NOW)
        assert code(result) == wanted, change
    assert revisions.kept.patches() == []


@pytest.mark.promise("studio.patch-bad-input")
def test_nobody_can_pile_up_proposals_without_end(revisions: Revisions, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_OPEN", 2)
    first = proposed(revisions, text="one\n")
    proposed(revisions, text="two\n")
    third = Change(path=SCENE, base_sha256=None, text="three\n")
    assert code(revisions.propose(third, by="ada", now=NOW)) == "patches_too_many"
    revisions.reject(first.patch_id, by="ada", now=NOW)
    assert isinstance(revisions.propose(third, by="ada", now=NOW), Patch)


@pytest.mark.promise("studio.snapshots")
def test_what_a_patch_replaces_is_kept_and_can_come_back(revisions: Revisions, project: Path) -> None:
    texts = [TEXT, "second\n", "third\n"]
    for text in texts[1:]:
        revisions.apply(proposed(revisions, text=text).patch_id, by="ada", now=NOW)
    assert [version.after for version in revisions.kept.history(SCENE)] == [digest("third\n"), digest("second\n")]
    for text in texts:
        assert revisions.kept.content(digest(text)) == text.encode()
    for wanted in ("second\n", TEXT):
        back = revisions.undo(SCENE, by="ada", now=NOW)
        assert isinstance(back, Patch)
        assert back.origin == "undo"
        revisions.apply(back.patch_id, by="ada", now=NOW)
        assert (project / SCENE).read_text(encoding="utf-8") == wanted
    assert code(revisions.undo(SCENE, by="ada", now=NOW)) == "nothing_to_undo"
    again = revisions.undo(SCENE, by="ada", now=NOW, to=digest("third\n"))
    assert isinstance(again, Patch)
    revisions.apply(again.patch_id, by="ada", now=NOW)
    assert (project / SCENE).read_text(encoding="utf-8") == "third\n"
    assert code(revisions.undo(SCENE, by="ada", now=NOW, to="1" * 64)) == "version_unknown"


@pytest.mark.promise("studio.snapshots")
def test_a_file_that_a_patch_made_goes_when_it_is_undone(revisions: Revisions, project: Path) -> None:
    made = proposed(revisions, path="Notes/new.md", text="fresh\n", base_sha256=GONE)
    revisions.apply(made.patch_id, by="ada", now=NOW)
    assert (project / "Notes/new.md").read_text(encoding="utf-8") == "fresh\n"
    back = revisions.undo("Notes/new.md", by="ada", now=NOW)
    assert isinstance(back, Patch)
    revisions.apply(back.patch_id, by="ada", now=NOW)
    assert not (project / "Notes/new.md").exists()
    assert revisions.kept.content(digest("fresh\n")) == b"fresh\n"


@pytest.mark.promise("studio.snapshots")
def test_an_undo_over_an_edit_from_outside_is_a_conflict(revisions: Revisions, project: Path) -> None:
    revisions.apply(proposed(revisions, text=NEW).patch_id, by="ada", now=NOW)
    (project / SCENE).write_text("by hand\n", encoding="utf-8")
    back = revisions.undo(SCENE, by="ada", now=NOW)
    assert isinstance(back, Patch)
    assert code(revisions.apply(back.patch_id, by="ada", now=NOW)) == "changed_meanwhile"
    assert (project / SCENE).read_text(encoding="utf-8") == "by hand\n"


@pytest.mark.promise("studio.patch-crash")
def test_a_patch_whose_file_was_written_before_a_crash_is_found_applied(revisions: Revisions, project: Path) -> None:
    patch = proposed(revisions, text=NEW)
    # As a process leaves it that dies between the file and the mark.
    (project / SCENE).write_text(NEW, encoding="utf-8")
    shown = revisions.show(patch.patch_id)
    assert not isinstance(shown, Problem)
    assert not shown.changed_meanwhile
    done = revisions.apply(patch.patch_id, by="ada", now=NOW)
    assert isinstance(done, Patch)
    assert [version.patch_id for version in revisions.kept.history(SCENE)] == [patch.patch_id]


@pytest.mark.promise("studio.patch-crash")
def test_torn_and_damaged_files_cost_nothing_else(revisions: Revisions, project: Path) -> None:
    revisions.apply(proposed(revisions, text=NEW).patch_id, by="ada", now=NOW)
    folder = project / ".control-room/workspace"
    with (folder / "history.jsonl").open("ab") as file:
        file.write(b'{"at": "2026')
    second = proposed(revisions, text=TEXT)
    revisions.apply(second.patch_id, by="ada", now=NOW)
    assert len(revisions.kept.history(SCENE)) == 2
    damaged = proposed(revisions, text="other\n")
    (folder / "patches" / f"{damaged.patch_id}.json").write_text("{", encoding="utf-8")
    assert {patch.state for patch in revisions.kept.patches()} == {"applied"}
    with pytest.raises(ConfigError) as raised:
        revisions.show(damaged.patch_id)
    assert raised.value.code == "patch_damaged"
    lost = proposed(revisions, text="lost\n")
    (folder / "snapshots" / lost.new_sha256[:2] / lost.new_sha256).unlink()
    assert code(revisions.apply(lost.patch_id, by="ada", now=NOW)) == "snapshot_missing"


def _apply(project: str, patch_id: str, results: Any) -> None:
    revisions = Revisions(FileSources(Path(project)), PatchStore(Path(project)), new_id=lambda: "patch_00000000")
    result = revisions.apply(patch_id, by="ada", now=NOW)
    results.put(result.code if isinstance(result, Problem) else result.state)


@pytest.mark.promise("studio.patch-conflict")
def test_of_two_processes_that_apply_on_one_base_one_wins(revisions: Revisions, project: Path) -> None:
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    ids = [proposed(revisions, text=f"version {number}\n").patch_id for number in range(2)]
    workers = [context.Process(target=_apply, args=(str(project), patch_id, results)) for patch_id in ids]
    for worker in workers:
        worker.start()
    told = sorted(results.get(timeout=60) for _ in workers)
    for worker in workers:
        worker.join()
    assert told == ["applied", "changed_meanwhile"]
    assert len(revisions.kept.history(SCENE)) == 1


@pytest.mark.promise("studio.patch-crash")
def test_a_control_room_that_cannot_be_written_leaves_the_file_alone(
    revisions: Revisions, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    patch = proposed(revisions, text=NEW)
    real = disk.open_file

    def full(path: Any, flags: int, *more: Any) -> int:
        if flags & os.O_CREAT and "snapshots" in str(path):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(path, flags, *more)

    (project / SCENE).write_text("by hand\n", encoding="utf-8")
    second = proposed(revisions, text=NEW)
    for kept in (project / ".control-room/workspace/snapshots").rglob(digest("by hand\n")):
        kept.unlink()
    monkeypatch.setattr(disk, "open_file", full)
    with pytest.raises(ConfigError) as raised:
        revisions.apply(second.patch_id, by="ada", now=NOW)
    assert raised.value.code == "control_room_unwritable"
    assert (project / SCENE).read_text(encoding="utf-8") == "by hand\n"
    assert {each.state for each in revisions.kept.patches()} == {"proposed"}
    assert patch.patch_id != second.patch_id


@pytest.mark.promise("studio.patch-bad-input")
def test_what_is_kept_is_found_by_its_own_names_only(revisions: Revisions, project: Path) -> None:
    assert revisions.kept.content("../../../etc/passwd") is None
    assert revisions.kept.content("0" * 64) is None
    assert revisions.kept.patches() == []
    folder = project / ".control-room/workspace/patches"
    folder.mkdir(parents=True)
    (folder / "patch_00000000.json").write_text('{"version": 1, "what": "else"}', encoding="utf-8")
    (folder / "notes.txt").write_text("x", encoding="utf-8")
    assert revisions.kept.patches() == []
    (project / ".control-room/workspace/history.jsonl").mkdir()
    with pytest.raises(ConfigError) as raised:
        revisions.kept.history()
    assert raised.value.code == "history_damaged"

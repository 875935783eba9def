"""`tally demo`: on a fresh machine, again, thrown away and begun anew, in the wrong place."""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tallystick.doors.cli.app import app
from tallystick.doors.cli.demo import FOLDER, demo_parts
from tallystick.rooms.studio.sample_project import sample_files
from tests.doors.cli.conftest import Ran, Tally
from tests.rooms.studio.planted import planted

LONGEST_S = 200
"""Ten times what the demo takes on a small machine, the interpreter's start included: more is a hang."""


@pytest.fixture
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder on a machine that has never seen a ledger, and the current one; insight's part is left out.

    It takes as long as all others together, and has tests of its own.
    """
    parts = [part for part in demo_parts() if part.name != "insight"]
    monkeypatch.setattr("tallystick.doors.cli.demo.demo_parts", lambda: parts)
    monkeypatch.setenv("TALLY_STATE_DIR", str(tmp_path / "state"))
    folder = tmp_path / "desk"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """What the demo shows on a fresh machine, played once for all tests that only read it."""
    folder = tmp_path_factory.mktemp("shown")
    parts = [part for part in demo_parts() if part.name != "insight"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tallystick.doors.cli.demo.demo_parts", lambda: parts)
        patch.setenv("TALLY_STATE_DIR", str(folder / "state"))
        patch.chdir(folder)
        done = CliRunner().invoke(app, ["--json", "demo", "--no-serve"])
    return Ran(code=done.exit_code, out=done.stdout, err=done.stderr)


def rounds(ran: Ran) -> list[dict[str, Any]]:
    """The rounds of the conference."""
    found: list[dict[str, Any]] = ran.json["parts"]["studio"]["rounds"]
    return found


@pytest.mark.promise("demo.round")
@pytest.mark.parametrize(("number", "mistake"), [(0, "eyes-of-ruth"), (1, "age-of-saul")])
def test_each_round_shows_both_sides_of_a_planted_contradiction_and_every_reply_holds(
    shown: Ran, number: int, mistake: str
) -> None:
    assert (shown.code, shown.err) == (0, "")
    held = rounds(shown)[number]
    assert held["state"] == "closed"
    assert held["replies"]
    assert {reply["status"] for reply in held["replies"]} == {"accepted"}
    said = "\n".join(reply["text"] for reply in held["replies"])
    wrong = next(each for each in planted() if each.id == mistake)
    assert wrong.b.quote in said
    for side in (wrong.a, wrong.b):
        assert f"{side.path}:L{side.line}" in said
    assert all(reply["evidence"] and reply["receipts"] and reply["check_receipt"] for reply in held["replies"])
    assert held["issue_id"]


@pytest.mark.promise("demo.round")
def test_who_has_nothing_to_say_abstains_and_tools_run_once_for_all(shown: Ran) -> None:
    assert rounds(shown)
    for held in rounds(shown):
        assert "abstained" in {card["state"] for card in held["cards"]}
        assert len(held["receipts"]) < len(held["cards"])


@pytest.mark.promise("demo.verified")
def test_the_receipts_it_shows_are_in_a_ledger_that_verifies(fresh: Path, tally: Tally) -> None:
    ran = tally("--json", "demo", "--no-serve")
    assert ran.json["workspace"] == str(fresh / FOLDER)
    assert ran.json["verified"]["ok"] is True
    receipts = [receipt_id for held in rounds(ran) for receipt_id in held["receipts"]]
    assert receipts
    for receipt_id in receipts:
        assert tally("-w", fresh / FOLDER, "audit", "show", receipt_id).code == 0
    assert tally("audit", "verify", fresh / FOLDER).code == 0


@pytest.mark.promise("demo.round", "demo.verified")
def test_a_person_sees_the_story_of_it(fresh: Path, tally: Tally) -> None:
    ran = tally("demo", "--no-serve")
    assert ran.code == 0
    for shown in (
        "A Long Weight",
        "You ask everyone: ",
        "Evidence: ",
        "checked and accepted: rcpt_",
        "receipts verify",
        "Try next",
    ):
        assert shown in ran.out
    assert str(fresh / FOLDER) in ran.out


@pytest.mark.promise("demo.verified")
@pytest.mark.parametrize("found", [False, True])
def test_where_the_command_is_not_found_it_says_how_to_get_at_it(
    fresh: Path, tally: Tally, monkeypatch: pytest.MonkeyPatch, *, found: bool
) -> None:
    (fresh / "activate").touch()
    monkeypatch.setattr(sys, "executable", str(fresh / "python"))
    monkeypatch.setattr(shutil, "which", lambda _name: "/bin/tally" if found else None)
    monkeypatch.setattr("tallystick.doors.cli.demo.demo_parts", list)
    ran = tally("demo", "--no-serve")
    assert (f"  . {fresh / 'activate'}" in ran.out) is not found


@pytest.mark.promise("demo.verified")
def test_what_it_says_to_try_next_is_there_to_be_tried(shown: Ran, tally: Tally) -> None:
    assert shown.json["next"]
    for line in shown.json["next"]:
        words = line.split()
        assert words[0] == "tally"
        named = [word for word in words[1:3] if word.isalpha()]
        assert tally(*named, "--help").code == 0, line


@pytest.mark.promise("demo.again")
def test_again_it_goes_on_in_the_same_folder_and_leaves_what_was_written_there(fresh: Path, tally: Tally) -> None:
    first = tally("--json", "demo", "--no-serve")
    scene = fresh / FOLDER / "Story/Scenes/SCN-night-tide.md"
    scene.write_text("Mine now.\n", encoding="utf-8")
    again = tally("--json", "demo", "--no-serve")
    assert (first.code, again.code) == (0, 0)
    assert again.json["workspace"] == first.json["workspace"]
    assert again.json["verified"]["records"] > first.json["verified"]["records"]
    assert scene.read_text(encoding="utf-8") == "Mine now.\n"


@pytest.mark.promise("demo.again")
def test_a_demo_that_was_thrown_away_begins_anew_beside_it_and_verifies(fresh: Path, tally: Tally) -> None:
    assert tally("demo", "--no-serve").code == 0
    shutil.rmtree(fresh / FOLDER)
    again = tally("--json", "demo", "--no-serve")
    assert again.code == 0
    assert again.json["workspace"] == str(fresh / f"{FOLDER}-2")
    assert again.json["verified"]["ok"] is True
    named = tally("demo", "--no-serve", "--workspace", fresh / FOLDER)
    assert (named.code, named.error) == (1, "ledger_gone")


@pytest.mark.promise("demo.again")
def test_it_does_not_begin_inside_a_project(workspace: Path, tally: Tally) -> None:
    before = sorted(workspace.iterdir())
    ran = tally("demo", "--no-serve")
    assert (ran.code, ran.error) == (1, "inside_a_project")
    assert sorted(workspace.iterdir()) == before


@pytest.mark.promise("demo.again")
def test_a_folder_with_other_files_is_refused_and_stays_as_it_is(fresh: Path, tally: Tally) -> None:
    (fresh / "My novel.md").write_text("Mine.", encoding="utf-8")
    ran = tally("demo", "--no-serve", "--workspace", fresh)
    assert (ran.code, ran.error) == (1, "folder_not_empty")
    assert [path.name for path in fresh.iterdir()] == ["My novel.md"]


@pytest.mark.promise("demo.again")
def test_a_named_folder_is_used(fresh: Path, tally: Tally) -> None:
    ran = tally("--json", "demo", "--no-serve", "--workspace", fresh / "elsewhere")
    assert ran.code == 0
    assert ran.json["workspace"] == str(fresh / "elsewhere")
    assert all((fresh / "elsewhere" / path).is_file() for path, _ in sample_files())


@pytest.mark.promise("demo.verified")
def test_from_the_shell_it_is_over_in_time(fresh: Path) -> None:
    command = [sys.executable, "-m", "tallystick", "demo", "--no-serve"]
    done = subprocess.run(command, capture_output=True, check=False, timeout=LONGEST_S)
    assert done.returncode == 0, done.stderr


def test_every_part_can_be_prepared_and_played() -> None:
    parts = demo_parts()
    assert len({part.name for part in parts}) == len(parts)
    assert all(callable(part.prepare) and callable(part.play) for part in parts)

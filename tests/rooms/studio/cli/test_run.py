"""`tally run`: started and watched, listed, shown, cancelled, resumed; with --json for programs."""

import json
from pathlib import Path

import pytest

from tests.doors.cli.conftest import Tally
from tests.rooms.studio.http.test_runs import furnish
from tests.rooms.studio.runs.conftest import LOOK


@pytest.fixture
def studio(workspace: Path) -> Path:
    furnish(workspace, look=LOOK)
    return workspace


@pytest.mark.promise("runs.cli")
def test_a_recipe_is_run_and_watched_without_any_server(tally: Tally, studio: Path) -> None:
    told = tally("run", "look", "--input", "thread=brass key", "--watch")
    assert told.code == 0, told.err
    assert "Look: done" in told.out
    assert [line.split()[1] for line in told.err.splitlines() if line.startswith("  +")] == [
        "find:", "read.0:", "read.1:", "read.2:", "judge:",
    ]  # fmt: skip
    assert "+ evidence_ok judged" in told.out
    assert "judge (" in told.out
    assert "Evidence:" in told.out
    assert "--slot NAME" in told.err
    run_id = told.out.split()[0]
    shown = tally("run", "show", run_id, "--json").json
    assert (shown["status"], shown["inputs"]) == ("done", {"thread": "brass key"})
    assert [said["step"] for said in shown["replies"]] == ["judge"]
    reply = tally("run", "show", run_id, "--slot", "judged")
    assert "Evidence:" in reply.out
    assert tally("run", "resume", run_id).error == "run_not_resumable"
    assert tally("audit", "verify").code == 0


@pytest.mark.promise("runs.cli", "runs.cancel", "runs.resume")
def test_a_run_waits_for_a_worker_and_can_be_cancelled_and_resumed(tally: Tally, studio: Path) -> None:
    assert "No runs yet" in tally("run", "list").err
    run_id = tally("run", "start", "look", "--json").json["run_id"]
    assert tally("run", "list", "--json").json["items"][0]["status"] == "queued"
    assert tally("run", "cancel", run_id).code == 0
    assert "cancelled" in tally("run", "list").out
    resumed = tally("--json", "run", "resume", run_id, "--watch")
    assert (resumed.code, resumed.json["status"]) == (0, "done")
    assert tally("run", "cancel", run_id).code == 1


@pytest.mark.promise("runs.cli", "runs.done")
def test_a_run_that_is_not_done_ends_with_one(tally: Tally, studio: Path) -> None:
    furnish(studio, strict={**LOOK, "done": [{"check": "file_exists", "path": "Story/nothing.md"}]})
    told = tally("run", "strict", "--watch")
    assert told.code == 1
    assert "incomplete" in told.out
    assert "x file_exists Story/nothing.md" in told.out


@pytest.mark.promise("runs.cli", "runs.bad-recipes")
def test_recipes_are_listed_and_those_that_cannot_run_say_why(tally: Tally, studio: Path) -> None:
    (studio / ".control-room" / "recipes" / "torn.json").write_text("{", encoding="utf-8")
    listed = tally("run", "recipes")
    assert "look" in listed.out
    assert "torn cannot run: torn.json (project)" in listed.err
    assert {one["id"] for one in json.loads(tally("run", "recipes", "--json").out)["items"]} >= {
        "look",
        "torn",
        "draft-scene",
    }


@pytest.mark.promise("runs.cli")
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["nothing"], "recipe_unknown"),
        (["look", "-i", "thread:=3"], "inputs_invalid"),
        (["look", "-i", "other=3"], "inputs_invalid"),
        (["draft-scene"], "inputs_invalid"),
        (["look", "-i", "thread"], "usage"),
        (["look", "-i", "thread:={"], "usage"),
        (["look", "-i", "thread=a", "-i", "thread=b"], "usage"),
        (["show", "run_0"], "run_unknown"),
        (["show", "../x"], "run_unknown"),
        (["show", "run_0", "--slot", "found"], "not_found"),
        (["cancel", "run_0"], "run_unknown"),
        (["resume", "run_0"], "run_unknown"),
    ],
    ids=" ".join,
)
def test_what_cannot_be_done_is_one_line_with_a_code(tally: Tally, studio: Path, words: list[str], code: str) -> None:
    assert tally("run", *words).error == code


def test_the_help_of_a_recipe_is_the_help_of_starting_one(tally: Tally) -> None:
    told = tally("run", "look", "--help")
    assert told.code == 0
    assert "--watch" in told.out

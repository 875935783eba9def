"""The tables of states: what a run may become, and what it is shown as."""

import itertools
from pathlib import Path

import pytest

from tallystick.errors import ConfigError
from tallystick.rooms.studio.runs.folder import Result, RunFolder
from tallystick.rooms.studio.runs.states import ENDED, FOLLOWS, RESUMABLE, shown
from tallystick.turns.runs import FOLLOWS as ENGINE


def folder(tmp_path: Path) -> RunFolder:
    made = RunFolder(tmp_path, "run_1", now=lambda: "2026-01-31T12:00:00Z")
    made.create({"inputs": {}, "recipe": {}})
    return made


@pytest.mark.promise("runs.states")
def test_done_is_final_and_a_cancelled_run_is_moved_by_a_person_alone() -> None:
    assert FOLLOWS["done"] == frozenset()
    assert FOLLOWS["cancelled"] == {"queued"}
    assert ENDED - {"done"} == RESUMABLE


@pytest.mark.promise("runs.states")
def test_a_run_is_called_done_only_where_its_file_and_the_engine_say_so() -> None:
    for written, engine in itertools.product(FOLLOWS, [*ENGINE, None]):
        if shown(written, engine) == "done":
            assert written == "done"
            assert engine in {"done", None}


@pytest.mark.promise("runs.states")
def test_a_run_the_engine_never_heard_of_has_failed() -> None:
    assert shown("queued", None) == "failed"
    assert shown("running", None) == "failed"


def test_a_folder_refuses_a_move_that_is_not_in_the_table(tmp_path: Path) -> None:
    run = folder(tmp_path)
    assert not run.become("done")
    assert run.become("running", step="a")
    assert run.become("cancelled", code="cancelled")
    assert not run.become("running")
    assert not run.become("done")
    assert run.become("queued")
    again = run.document()
    assert again["status"] == "queued"
    assert "code" not in again


@pytest.mark.promise("runs.files")
def test_the_first_result_of_a_step_stands(tmp_path: Path) -> None:
    run = folder(tmp_path)
    first = run.commit("a", Result(status="done", value=1, receipts=("r1",)), slot="s")
    second = run.commit("a", Result(status="done", value=2, receipts=("r2",)), slot="s")
    assert first == second
    assert run.cache().value("s") == 1
    assert run.cache().receipts("s") == ("r1",)


@pytest.mark.promise("runs.files")
def test_a_half_written_line_takes_no_other_with_it(tmp_path: Path) -> None:
    run = folder(tmp_path)
    run.tell("a", "running")
    with (run.path / "steps.jsonl").open("ab") as file:
        file.write(b'{"step": "b", "sta')
    run.tell("a", "done")
    run.tell("a", "done")
    assert [(line["step"], line["status"]) for line in run.log()] == [("a", "running"), ("a", "done")]


@pytest.mark.promise("runs.files")
def test_a_value_that_could_not_be_read_back_is_not_written(tmp_path: Path) -> None:
    run = folder(tmp_path)
    deep: list[object] = []
    for _ in range(100):
        deep = [deep]
    with pytest.raises(ConfigError) as refused:
        run.commit("a", Result(status="done", value=deep), slot="s")
    assert refused.value.code == "value_unfit"
    assert run.cache().slots == {}


@pytest.mark.parametrize("run_id", ["../x", "", "a/b", ".hidden", "a" * 200, "a\0b"])
def test_an_id_that_could_leave_its_folder_is_none(tmp_path: Path, run_id: str) -> None:
    with pytest.raises(ConfigError) as refused:
        RunFolder(tmp_path, run_id, now=lambda: "")
    assert refused.value.code == "run_id_invalid"

"""Whole runs with a worker: all phases, failures, references, whose run it is."""

import pytest

from tallystick.agents.problem import Problem
from tallystick.gate.session import LOCAL_OWNER, Caller
from tests.rooms.studio.runs.conftest import LOOK, Bench, steps

FIND = LOOK["phase_a"][0]
JUDGE = {**LOOK["phase_b"][0], "uses": ["found"]}
FOUND = [{"check": "slot_not_null", "slot": "found"}]


@pytest.mark.promise("runs.phases", "runs.receipts", "runs.files")
def test_all_phases_run_and_every_step_has_its_receipts(shared: Bench) -> None:
    run = shared.run(shared.recipe("look"))
    assert run["status"] == "done", run
    assert steps(run) == {"find": "done", "read": "done", "judge": "done"}
    assert [check["ok"] for check in run["done"]] == [True, True]
    receipts = [receipt for step in run["steps"] for receipt in step["receipts"]]
    assert len(receipts) == 1 + 3 + 2
    for receipt_id in receipts:
        receipt = shared.gate.ledger.find(receipt_id)
        assert receipt is not None
        assert (receipt.header["run_id"], receipt.header["session_id"]) == (run["run_id"], run["run_id"])
    logged = shared.file(run["run_id"], "steps.jsonl")
    assert {line["step"] for line in logged} >= {"find", "read.0", "read.1", "read.2", "judge"}
    document = shared.file(run["run_id"], "run.json")
    assert (document["status"], document["recipe"]["id"]) == ("done", "look")
    assert shared.file(run["run_id"], "cache.json")["slots"]["texts"] == ["read.0", "read.1", "read.2"]


@pytest.mark.promise("runs.phases")
def test_the_agent_is_shown_the_results_of_phase_a_and_cites_their_receipts(shared: Bench) -> None:
    run_id = shared.run(shared.recipe("look"))["run_id"]
    judged, texts = (shared.desk.slot(run_id, slot, LOCAL_OWNER) for slot in ("judged", "texts"))
    assert judged is not None
    assert texts is not None
    assert any(receipt in judged.value["reply"] for receipt in texts.receipts)
    assert judged.value["evidence"].startswith("Evidence:")


@pytest.mark.promise("runs.never-done")
def test_a_failed_step_ends_the_run_and_nothing_behind_it_shows_as_done(shared: Bench) -> None:
    broken = {"id": "shake", "tool": "shaky", "args": {"name": "tape"}, "slot": "shaken"}
    run = shared.run(shared.recipe("broken", phase_a=[FIND, broken], phase_b=[JUDGE]))
    assert (run["status"], run["code"]) == ("failed", "tool_failed")
    assert steps(run) == {"find": "done", "shake": "failed", "judge": "pending"}
    assert "mend it" in run["message"]
    assert run["done"] == []


@pytest.mark.promise("runs.resume")
def test_a_failed_run_is_resumed_at_the_step_that_failed(shared: Bench) -> None:
    broken = {"id": "shake", "tool": "shaky", "args": {"name": "glue"}, "slot": "shaken"}
    run_id = shared.run(shared.recipe("broken", phase_a=[FIND, broken], phase_b=[JUDGE]))["run_id"]
    (shared.workspace.parent / "glue").touch()
    resumed = shared.desk.resume(run_id, LOCAL_OWNER)
    assert isinstance(resumed, dict)
    assert resumed["status"] in {"queued", "running", "done"}
    run = shared.ended(run_id)
    assert (run["status"], steps(run)) == ("done", {"find": "done", "shake": "done", "judge": "done"})
    assert "code" not in run
    began = [line["step"] for line in shared.file(run_id, "steps.jsonl") if line["status"] == "running"]
    assert (began.count("find"), began.count("shake")) == (1, 2)
    refused = shared.desk.resume(run_id, LOCAL_OWNER)
    assert isinstance(refused, Problem)
    assert refused.code == "run_not_resumable"


@pytest.mark.promise("runs.never-done")
def test_an_optional_step_may_fail_and_shows_as_failed(shared: Bench) -> None:
    broken = {"id": "shake", "tool": "shaky", "args": {"name": "tape"}, "slot": "shaken", "optional": True}
    run = shared.run(shared.recipe("lenient", phase_a=[FIND, broken], phase_b=[JUDGE], done=FOUND))
    assert (run["status"], steps(run)["shake"]) == ("done", "failed")
    slot = shared.desk.slot(run["run_id"], "shaken", LOCAL_OWNER)
    assert slot is not None
    assert slot.value is None


@pytest.mark.promise("runs.done")
@pytest.mark.parametrize("path", ["../notes.txt", "/etc/passwd", ".control-room/durable.db", "Story", "x\0y"])
def test_no_file_outside_of_the_project_counts_as_there(shared: Bench, path: str) -> None:
    checks = [{"check": "file_exists", "path": {"$input": "thread"}}]
    run = shared.run(shared.recipe("sly", phase_a=[{**FIND, "args": {"search_criteria": "key"}}], phase_b=None, done=checks), thread=path)  # fmt: skip
    assert run["status"] == "incomplete"


@pytest.mark.promise("runs.roles")
def test_steps_are_done_with_the_roles_of_whoever_started_the_run(shared: Bench) -> None:
    viewer = Caller(subject="eve", roles=frozenset({"viewer"}), channel="http")
    run_id = shared.start(shared.recipe("look"), viewer)
    shared.gate.durable.wait(run_id, timeout_s=60)
    shown = shared.desk.show(run_id, viewer)
    assert shown is not None
    receipt = shared.gate.ledger.find(shown["steps"][0]["receipts"][0])
    assert receipt is not None
    assert receipt.header["caller"] == {"subject": "eve", "roles": ["viewer"], "channel": "worker"}


@pytest.mark.promise("runs.roles")
def test_a_run_is_seen_by_whoever_started_it_and_by_auditors(shared: Bench) -> None:
    eve, mallory = (Caller(subject=name, roles=frozenset({"viewer"})) for name in ("grace", "mallory"))
    auditor = Caller(subject="ada", roles=frozenset({"auditor"}))
    run_id = shared.start(shared.recipe("look"), eve)
    assert shared.desk.show(run_id, mallory) is None
    assert shared.desk.steps(run_id, mallory) is None
    assert shared.desk.slot(run_id, "found", mallory) is None
    assert shared.desk.cancel(run_id, mallory) is None
    assert shared.desk.resume(run_id, mallory) is None
    assert shared.desk.page(mallory, limit=9, offset=0) == ([], 0)
    assert shared.desk.page(eve, limit=9, offset=0)[1] == 1
    assert shared.desk.show(run_id, auditor) is not None


@pytest.mark.promise("runs.references")
def test_a_reference_that_leads_nowhere_fails_its_step_by_name(shared: Bench) -> None:
    lost = {
        "id": "lost",
        "tool": "file_reader",
        "args": {"file_path": {"$ref": "found.results.7.path"}},
        "slot": "lost",
    }
    run = shared.run(shared.recipe("lost", phase_a=[FIND, lost], phase_b=None, done=FOUND))
    assert (run["status"], run["code"]) == ("failed", "reference_missing")
    assert "found.results.7.path" in run["message"]


@pytest.mark.promise("runs.never-done")
def test_arguments_that_the_gate_refuses_fail_the_step_with_the_gate_s_code(shared: Bench) -> None:
    odd = {"id": "odd", "tool": "file_reader", "args": {"file_path": "x.md", "start_line": "one"}, "slot": "odd"}
    run = shared.run(
        shared.recipe("odd", phase_a=[odd], phase_b=None, done=[{"check": "slot_not_null", "slot": "odd"}])
    )
    assert (run["status"], run["code"]) == ("failed", "tool_call_invalid_args")
    assert run["steps"][0]["receipts"], "what was refused is recorded too"

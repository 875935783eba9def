"""Runs that change files, agents or policy: conditions, the definition of done, drafts, held calls, cancel and resume."""

from collections.abc import Callable
from typing import Any

import pytest

from tallystick import tool
from tallystick.gate.session import LOCAL_OWNER
from tallystick.storage.notifications import Notifications
from tests.doors.http.talking import finish, receipts_in, serve_agent
from tests.durable.conftest import InProcessWorker, until
from tests.rooms.studio.runs.conftest import LOOK, PATIENCE_S, Bench, steps
from tests.scripted_server import Says, ScriptedServer

FIND = LOOK["phase_a"][0]
JUDGE = {**LOOK["phase_b"][0], "uses": ["found"]}
FOUND = [{"check": "slot_not_null", "slot": "found"}]


@pytest.mark.promise("runs.never-done", "runs.conditions")
def test_a_step_whose_condition_does_not_hold_is_skipped_and_its_slot_is_null(bench: Bench) -> None:
    only = {"id": "only", "tool": "jot", "args": {"line": "x"}, "slot": "only", "when": {"$ref": "found.absent_terms"}}
    none = {
        "id": "none",
        "tool": "jot",
        "for_each": {"$ref": "found.absent_terms"},
        "args": {"line": "x"},
        "slot": "none",
    }
    run = bench.run(bench.recipe("picky", phase_a=[FIND, only, none], phase_b=None, done=FOUND))
    assert (run["status"], steps(run)) == ("done", {"find": "done", "only": "skipped", "none": "skipped"})
    assert not (bench.workspace.parent / "notes.txt").exists()
    checks = [{"check": "slot_not_null", "slot": "only"}]
    strict = bench.run(bench.recipe("strict", phase_a=[FIND, only], phase_b=None, done=checks))
    assert (strict["status"], strict["code"]) == ("incomplete", "not_done")


@pytest.mark.promise("runs.done")
def test_a_definition_of_done_that_does_not_hold_makes_the_run_incomplete_until_it_does(bench: Bench) -> None:
    checks = [
        {"check": "file_exists", "path": "Story/{{inputs.thread}}.md"},
        {"check": "slot_field_equals", "slot": "found", "field": "dry_run", "equals": False},
        {"check": "slot_field_equals", "slot": "found", "field": "files_found", "equals": 99},
    ]
    run = bench.run(bench.recipe("unfinished", phase_b=None, done=checks), thread="key")
    assert (run["status"], run["code"]) == ("incomplete", "not_done")
    assert [check["ok"] for check in run["done"]] == [False, True, False]
    checks[2]["equals"] = 3
    run = bench.run(bench.recipe("unfinished", phase_b=None, done=checks), thread="key")
    assert [check["ok"] for check in run["done"]] == [False, True, True]
    (bench.workspace / "Story" / "key.md").write_text("there", encoding="utf-8")
    assert isinstance(bench.desk.resume(run["run_id"], LOCAL_OWNER), dict)
    mended = bench.ended(run["run_id"])
    assert (mended["status"], [check["ok"] for check in mended["done"]]) == ("done", [True] * 3)


@pytest.mark.promise("runs.evidence")
def test_a_reply_that_does_not_pass_its_check_is_no_reply(bench: Bench) -> None:
    with ScriptedServer(finish(), Says("The key is in the lake.\n\nEvidence: trust me")) as server:
        serve_agent(bench.workspace, server, "critic")
        run = bench.run(bench.recipe("look"))
    assert run["status"] == "failed"
    assert steps(run)["judge"] == "failed"
    assert run["code"].startswith("evidence_"), run
    assert "judged" not in run["slots"]


@pytest.mark.promise("runs.evidence")
def test_an_endpoint_that_cannot_be_heard_fails_the_step_with_its_code(bench: Bench) -> None:
    with ScriptedServer() as server:
        serve_agent(bench.workspace, server, "critic")
        run = bench.run(bench.recipe("look"))
    assert (run["status"], run["code"]) == ("failed", "endpoint_failed")


@pytest.mark.promise("runs.evidence")
def test_agents_of_a_run_are_offered_tools_that_read_and_no_others(bench: Bench) -> None:
    with ScriptedServer(finish(), Says("x")) as server:
        serve_agent(bench.workspace, server, "critic")
        bench.run(bench.recipe("look", phase_b=[{key: value for key, value in JUDGE.items() if key != "tools"}]))
    offered = server.requests[0].text
    assert "shaky" in offered
    assert "jot" not in offered
    assert "record_observation" not in offered


@pytest.mark.promise("runs.patch")
def test_a_draft_becomes_a_patch_proposal_and_no_file_is_written(bench: Bench) -> None:
    scene = "Story/Scenes/SCN-03-the-lake.md"

    def drafted(seen: Any) -> str:
        receipt = receipts_in(seen)[0]
        return f'```\n# The Lake\n\n"Row," said Mara.\n```\n\nEvidence: Story/Scenes/SCN-02-the-door.md:L7; receipt {receipt}'

    with ScriptedServer(finish(), Says(drafted)) as server:
        serve_agent(bench.workspace, server, "writer")
        run = bench.run("draft-scene", scene_path=scene, beat="The brass key opens the archive door")
    assert run["status"] == "done", run
    assert steps(run)["draft.patch"] == "done"
    proposed = bench.desk.slot(run["run_id"], "draft_patch", LOCAL_OWNER)
    assert proposed is not None
    assert proposed.value["path"] == scene
    assert not (bench.workspace / scene).exists()
    kept = bench.workspace / ".control-room" / "workspace" / "patches" / f"{proposed.value['patch_id']}.json"
    assert kept.exists()


@pytest.mark.promise("runs.patch")
def test_a_writer_without_a_draft_proposes_nothing(bench: Bench) -> None:
    run = bench.run("draft-scene", scene_path="Story/Scenes/SCN-03.md", beat="The brass key opens the archive door")
    assert run["status"] == "failed"
    assert run["code"] in {"abstained", "draft_missing"}
    assert steps(run)["draft.patch"] in {"pending", "failed"}
    assert not (bench.workspace / ".control-room" / "workspace" / "patches").exists()


@pytest.mark.promise("runs.held")
def test_a_held_call_stops_the_run_and_resuming_takes_what_the_person_let_through(
    open_bench: Callable[..., Bench],
) -> None:
    bench = open_bench(tools={"send": {"decision": "ask"}})
    send = {"id": "send", "tool": "send", "args": {"to": "a@example.org"}, "slot": "sent"}
    with InProcessWorker(bench.gate.durable):
        run = bench.run(
            bench.recipe("mailing", phase_a=[send], phase_b=None, done=[{"check": "slot_not_null", "slot": "sent"}])
        )
        assert (run["status"], run["code"]) == ("failed", "held")
        approval_id = next(iter(bench.gate.approvals.list())).approval_id
        bench.gate.approvals.approve(approval_id, person="ada", channel="test")
        assert bench.gate.resume_sync(approval_id).ok
        bench.desk.resume(run["run_id"], LOCAL_OWNER)
        run = bench.ended(run["run_id"])
    assert run["status"] == "done", run
    slot = bench.desk.slot(run["run_id"], "sent", LOCAL_OWNER)
    assert slot is not None
    assert slot.value == "sent to a@example.org"


@pytest.mark.promise("runs.cancel")
def test_a_waiting_run_is_cancelled_at_once_and_can_go_on_later(open_bench: Callable[..., Bench]) -> None:
    bench = open_bench()
    run_id = bench.start(bench.recipe("look"))
    cancelled = bench.desk.cancel(run_id, LOCAL_OWNER)
    assert cancelled is not None
    assert (cancelled["status"], set(steps(cancelled).values())) == ("cancelled", {"pending"})
    with InProcessWorker(bench.gate.durable):
        bench.run(bench.recipe("other"))
        still = bench.desk.show(run_id, LOCAL_OWNER)
        assert still is not None
        assert still["status"] == "cancelled"
        assert isinstance(bench.desk.resume(run_id, LOCAL_OWNER), dict)
        assert bench.ended(run_id)["status"] == "done"


@pytest.mark.promise("runs.cancel", "runs.resume")
def test_a_running_run_does_no_further_step_once_it_is_cancelled(bench: Bench) -> None:
    wait = {"id": "wait", "tool": "patient", "slot": "found"}
    last = {"id": "last", "tool": "jot", "args": {"line": "last"}, "slot": "last"}
    run_id = bench.start(bench.recipe("long", phase_a=[wait, last], phase_b=None, done=FOUND))
    assert bench.gateway.begun.wait(60)
    cancelled = bench.desk.cancel(run_id, LOCAL_OWNER)
    assert cancelled is not None
    assert (cancelled["status"], cancelled["code"]) == ("cancelled", "cancelled")
    bench.gateway.go_on.set()
    until(lambda: "wait" in bench.file(run_id, "cache.json")["results"], "the step under way comes to its end")
    bench.run(bench.recipe("after", phase_b=None, done=FOUND))
    shown = bench.desk.show(run_id, LOCAL_OWNER)
    assert shown is not None
    assert (shown["status"], steps(shown)) == ("cancelled", {"wait": "done", "last": "pending"})
    assert isinstance(bench.desk.resume(run_id, LOCAL_OWNER), dict)
    assert bench.ended(run_id)["status"] == "done"
    assert bench.gateway.calls == 1, "what was done before the end of the first try is not done again"


@pytest.mark.promise("runs.notified")
def test_the_end_of_a_run_is_told_once(bench: Bench) -> None:
    done = bench.run(bench.recipe("look"))
    broken = bench.run(bench.recipe("broken", phase_a=[{"id": "shake", "tool": "shaky", "args": {"name": "tape"}, "slot": "found"}], phase_b=None, done=FOUND))  # fmt: skip
    told = [(one.level, one.link) for one in Notifications(bench.workspace).list() if one.source == "runs"]
    assert sorted(told) == sorted([("info", f"/runs/{done['run_id']}"), ("error", f"/runs/{broken['run_id']}")])


@pytest.mark.promise("runs.frozen")
def test_a_run_keeps_the_recipe_it_began_with(open_bench: Callable[..., Bench]) -> None:
    bench = open_bench()
    run_id = bench.start(bench.recipe("look", title="As it was"))
    bench.recipe("look", title="Changed", phase_a=[FIND], phase_b=None, done=FOUND)
    with InProcessWorker(bench.gate.durable):
        run = bench.ended(run_id)
    assert (run["title"], run["status"]) == ("As it was", "done")
    assert steps(run).keys() == {"find", "read", "judge"}


@pytest.mark.promise("runs.conditions")
def test_items_are_done_in_batches_and_a_failed_item_is_resumed_alone(bench: Bench) -> None:
    batched = {
        "id": "jots",
        "tool": "jot",
        "for_each": {"$ref": "book.scenes"},
        "batch": 1,
        "args": {"line": {"$ref": "item.0"}},
        "slot": "jots",
    }
    shake = {
        "id": "shake",
        "tool": "shaky",
        "for_each": {"$ref": "names"},
        "args": {"name": {"$ref": "item"}},
        "slot": "shaken",
    }
    names = {"id": "names", "tool": "file_locator", "args": {"search_criteria": "Mara"}, "slot": "named"}
    run = bench.run(bench.recipe("batched", phase_a=[batched, names, {**shake, "for_each": {"$ref": "named.results.*.path"}}], phase_b=None, done=[{"check": "slot_not_null", "slot": "shaken"}]))  # fmt: skip
    assert run["status"] == "failed"
    assert steps(run) == {"jots": "done", "names": "done", "shake": "failed"}
    lines = (bench.workspace.parent / "notes.txt").read_text(encoding="utf-8").splitlines()
    assert lines == ["Story/Scenes/SCN-01-the-harbour.md", "Story/Scenes/SCN-02-the-door.md"]


@pytest.mark.promise("runs.resume")
def test_a_run_that_was_lost_before_its_first_step_is_started_by_resume(open_bench: Callable[..., Bench]) -> None:
    bench = open_bench()
    run_id = bench.start(bench.recipe("look"))
    bench.gate.durable.cancel(run_id)
    assert bench.gate.durable.forget(run_id)
    lost = bench.desk.show(run_id, LOCAL_OWNER)
    assert lost is not None
    assert (lost["status"], lost["code"]) == ("failed", "run_lost")
    with InProcessWorker(bench.gate.durable):
        assert isinstance(bench.desk.resume(run_id, LOCAL_OWNER), dict)
        assert bench.ended(run_id)["status"] == "done"


def test_a_damaged_run_is_listed_as_such_and_the_others_are_there(bench: Bench) -> None:
    good = bench.run(bench.recipe("look"))["run_id"]
    bad = bench.run("look")["run_id"]
    (bench.workspace / ".control-room" / "runs" / bad / "run.json").write_text("{", encoding="utf-8")
    items, total = bench.desk.page(LOCAL_OWNER, limit=10, offset=0)
    assert total == 2
    assert {one["run_id"]: (one["status"], one.get("code")) for one in items} == {
        good: ("done", None),
        bad: ("failed", "run_damaged"),
    }


@pytest.mark.promise("runs.files", "runs.never-done")
def test_a_result_that_cannot_be_kept_fails_its_step_and_the_call_is_not_made_again(bench: Bench) -> None:
    calls: list[int] = []

    @tool(effect="write")
    def burrow() -> Any:
        "Give something very deep."
        calls.append(1)
        deep: list[Any] = []
        for _ in range(100):
            deep = [deep]
        return deep

    bench.gate.register(burrow)
    dig = {"id": "dig", "tool": "burrow", "slot": "found"}
    run = bench.run(bench.recipe("digging", phase_a=[dig], phase_b=None, done=FOUND))
    assert (run["status"], run["code"], steps(run)) == ("failed", "value_unfit", {"dig": "failed"})
    assert run["steps"][0]["receipts"], "what it did has its receipt"
    bench.desk.resume(run["run_id"], LOCAL_OWNER)
    assert bench.ended(run["run_id"])["code"] == "value_unfit"
    assert len(calls) == 1


@pytest.mark.promise("runs.never-done")
def test_a_run_that_ends_while_somebody_looks_is_not_taken_for_lost(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = bench.start(bench.recipe("quick", phase_b=None, done=FOUND))
    durable = bench.gate.durable
    asked = durable.status

    def asked_late(run_id: str) -> Any:
        monkeypatch.undo()
        durable.wait(run_id, timeout_s=PATIENCE_S)
        return asked(run_id)

    monkeypatch.setattr(durable, "status", asked_late)
    shown = bench.desk.show(run_id, LOCAL_OWNER)
    assert shown is not None
    assert (shown["status"], shown.get("code"), steps(shown)["find"]) == ("done", None, "done")

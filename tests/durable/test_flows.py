"""What flows can rely on: steps, retries, sleep, events, cancelling, resuming; on both databases."""

import itertools
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tallystick.storage.durable.stored import StoredDurable
from tallystick.turns.runs import DurableError, RunStatus
from tests.durable.conftest import until
from tests.durable.samples import attempts, effects

RunFlow = Callable[..., RunStatus]
_numbers = itertools.count()


@pytest.fixture
def run(working: StoredDurable, tmp_path: Path) -> RunFlow:
    """Start a flow under a new id and wait for its end."""

    def start(flow: str, **args: Any) -> RunStatus:
        run_id = working.start(f"sample.{flow}", {"out": str(tmp_path), **args}, run_id=f"run-{next(_numbers)}")
        status = working.wait(run_id, timeout_s=240)
        assert status is not None
        return status

    return start


@pytest.mark.promise("durable.steps")
def test_a_flow_gets_what_its_steps_gave_and_the_run_what_the_flow_gave(
    run: RunFlow, working: StoredDurable, tmp_path: Path
) -> None:
    ended = run("chain", steps=3)
    assert (ended.state, ended.flow, ended.queue, ended.attempts) == ("done", "sample.chain", "many", 1)
    assert ended.result == [effects(tmp_path)[f"{ended.id}/step:{number}"] for number in range(3)]
    assert [(step.name, step.failed) for step in working.steps(ended.id)] == [
        ("step:0", False),
        ("step:1", False),
        ("step:2", False),
    ]


@pytest.mark.promise("durable.async")
def test_steps_of_an_async_flow_go_on_together(run: RunFlow, tmp_path: Path) -> None:
    ended = run("gather", steps=10, together=True)
    assert ended.state == "done"
    keys = [f"{ended.id}/{kind}:{number}" for kind in ("plain", "loop") for number in range(10)]
    assert ended.result == [effects(tmp_path)[key] for key in keys]


@pytest.mark.promise("durable.same-id")
def test_the_same_id_twice_is_one_run(working: StoredDurable, tmp_path: Path) -> None:
    args = {"out": str(tmp_path), "steps": 1}
    for _ in range(5):
        assert working.start("sample.chain", args, run_id="once") == "once"
    assert working.wait("once", timeout_s=240) is not None
    working.start("sample.chain", args, run_id="once")
    assert attempts(tmp_path) == {"once/step:0": 1}
    with pytest.raises(DurableError) as refused:
        working.start("sample.gather", args, run_id="once")
    assert refused.value.code == "run_id_taken"


@pytest.mark.promise("durable.retries")
@pytest.mark.parametrize("flow", ["shaky", "shaky_async"])
def test_a_step_is_tried_again_as_often_as_it_says_and_then_fails_by_name(run: RunFlow, flow: str) -> None:
    assert run(flow, failures=2, attempts=3).result == {"tries": 3}
    assert run(flow, failures=9, attempts=3).result == {"caught": "ConnectionError", "step": "fails", "attempts": 3}


@pytest.mark.promise("durable.resume", "durable.last-step")
@pytest.mark.parametrize(("where", "failure"), [("step", ("StepFailed", "second")), ("flow", ("LookupError", None))])
def test_a_failed_run_is_resumed_after_its_last_good_step(
    run: RunFlow, working: StoredDurable, tmp_path: Path, where: str, failure: tuple[str, str | None]
) -> None:
    failed = run("until_mended", inside=where == "step")
    assert (failed.state, failed.result) == ("failed", None)
    assert failed.failure is not None
    assert (failed.failure.kind, failed.failure.step) == failure
    (tmp_path / "mended").touch()
    assert working.resume(failed.id) is not None
    mended = working.wait(failed.id, timeout_s=240)
    assert mended is not None
    assert (mended.state, mended.failure) == ("done", None)
    assert attempts(tmp_path) == {f"{failed.id}/first": 1}
    assert working.resume(failed.id) == mended, "done is final"


@pytest.mark.promise("durable.events")
def test_events_are_told_in_order_and_can_be_read_from_any_of_them_on(run: RunFlow, working: StoredDurable) -> None:
    ended = run("chain", steps=4, tell=True)
    told = working.events(ended.id)
    assert [(event.seq, event.data) for event in told] == [(number, {"done": number + 1}) for number in range(4)]
    assert working.events(ended.id, after=1) == told[2:]
    assert working.events(ended.id, after=3) == []
    assert working.events("no such run") == []
    assert [event.data for event in working.events(run("gather", steps=1).id)] == [{"done": 2}]


@pytest.mark.promise("durable.sleep")
@pytest.mark.parametrize("flow", ["sleeper", "sleeper_async"])
def test_a_sleep_takes_its_time(run: RunFlow, flow: str) -> None:
    began = time.monotonic()
    assert run(flow, seconds=0.3).state == "done"
    assert time.monotonic() - began >= 0.3


@pytest.mark.promise("durable.cancel", "durable.resume")
@pytest.mark.parametrize("flow", ["sleeper", "sleeper_async"])
def test_a_sleeping_run_is_cancelled_and_resumed(working: StoredDurable, tmp_path: Path, flow: str) -> None:
    run_id = working.start(f"sample.{flow}", {"out": str(tmp_path), "seconds": 1.0}, run_id=f"cancel-{flow}")
    until(lambda: working.steps(run_id), "the step before its sleep has ended")
    cancelled = working.cancel(run_id)
    assert cancelled is not None
    assert (cancelled.state, cancelled.queue) == ("cancelled", "many")
    assert working.cancel(run_id) == cancelled, "an ended run stays as it is"
    assert f"{run_id}/after" not in effects(tmp_path)
    assert working.resume(run_id) is not None
    ended = working.wait(run_id, timeout_s=240)
    assert ended is not None
    assert ended.state == "done"
    assert attempts(tmp_path) == {f"{run_id}/before": 1, f"{run_id}/after": 1}


@pytest.mark.promise("durable.cancel")
def test_a_running_run_that_is_cancelled_does_no_further_step(working: StoredDurable, tmp_path: Path) -> None:
    working.start("sample.held", {"out": str(tmp_path)}, run_id="cut-off")
    until(lambda: attempts(tmp_path)["cut-off/held"], "the held step")
    working.cancel("cut-off")
    (tmp_path / "go").touch()
    until(lambda: "cut-off/held" in effects(tmp_path), "the held step ends")
    # Another run through the same worker, so that it had its time.
    working.start("sample.chain", {"out": str(tmp_path), "steps": 1}, run_id="after-cut-off")
    working.wait("after-cut-off", timeout_s=240)
    assert "cut-off/last" not in attempts(tmp_path)
    status = working.status("cut-off")
    assert status is not None
    assert status.state == "cancelled"


@pytest.mark.promise("durable.cancel")
@pytest.mark.parametrize("flow", ["patient", "patient_async"])
def test_a_long_step_can_ask_whether_its_run_was_cancelled(working: StoredDurable, tmp_path: Path, flow: str) -> None:
    run_id = working.start(f"sample.{flow}", {"out": str(tmp_path)}, run_id=f"asked-{flow}")
    until(lambda: attempts(tmp_path)[f"{run_id}/wait"], "the step goes on")
    assert effects(tmp_path) == {}
    working.cancel(run_id)
    until(lambda: f"{run_id}/noticed" in effects(tmp_path), "the step notices")


@pytest.mark.promise("durable.delay")
def test_a_delayed_run_waits_and_can_be_cancelled_before_it_began(working: StoredDurable, tmp_path: Path) -> None:
    args = {"out": str(tmp_path), "steps": 1}
    working.start("sample.chain", args, run_id="soon", delay_s=0.3)
    working.start("sample.chain", args, run_id="never", delay_s=3600)
    assert [run.id for run in working.runs(states=["delayed"], prefix="never")] == ["never"]
    cancelled = working.cancel("never")
    assert cancelled is not None
    assert cancelled.state == "cancelled"
    soon = working.wait("soon", timeout_s=240)
    assert soon is not None
    assert soon.state == "done"
    assert attempts(tmp_path) == {"soon/step:0": 1}


@pytest.mark.promise("durable.plain-values")
def test_a_flow_sees_a_steps_result_as_it_would_be_read_back(run: RunFlow) -> None:
    assert run("odd", what="tuple").result == {"as": "list", "given": [1, [2, 3]]}


@pytest.mark.promise("durable.refusals")
@pytest.mark.parametrize(
    ("what", "kind", "code"),
    [
        ("step twice", "DurableError", "step_repeated"),
        ("result not JSON", "DurableError", "not_json"),
        ("step result not JSON", "StepFailed", "step_failed"),
        ("event not JSON", "DurableError", "not_json"),
        ("async step", "DurableError", "step_invalid"),
        ("reserved name", "DurableError", "step_invalid"),
    ],
)
def test_a_flow_that_breaks_a_rule_fails_with_a_fixed_code(run: RunFlow, what: str, kind: str, code: str) -> None:
    failed = run("odd", what=what)
    assert failed.state == "failed"
    assert failed.failure is not None
    assert (failed.failure.kind, failed.failure.code) == (kind, code)


@pytest.mark.promise("durable.refusals")
def test_a_flow_whose_steps_changed_under_a_run_fails_and_says_so(run: RunFlow, working: StoredDurable) -> None:
    failed = run("odd", what="other steps")
    working.resume(failed.id)
    changed = working.wait(failed.id, timeout_s=240)
    assert changed is not None
    assert changed.failure is not None
    assert (changed.state, changed.failure.code) == ("failed", "flow_changed")


@pytest.mark.promise("durable.forget")
def test_an_ended_run_can_be_forgotten_and_its_id_used_again(run: RunFlow, working: StoredDurable) -> None:
    ended = run("chain", steps=1, tell=True)
    assert working.forget(ended.id)
    assert working.status(ended.id) is None
    assert working.steps(ended.id) == []
    assert working.events(ended.id) == []
    assert not working.forget(ended.id)


@pytest.mark.promise("durable.list")
def test_runs_are_listed_by_flow_state_and_id(run: RunFlow, working: StoredDurable, tmp_path: Path) -> None:
    working.start("sample.chain", {"out": str(tmp_path), "steps": 1}, run_id="listed:1")
    working.start("sample.until_mended", {"out": str(tmp_path), "inside": True}, run_id="listed:2")
    for run_id in ("listed:1", "listed:2"):
        working.wait(run_id, timeout_s=240)
    assert {one.id for one in working.runs(prefix="listed:")} == {"listed:1", "listed:2"}
    assert [one.id for one in working.runs(prefix="listed:", states=["failed"])] == ["listed:2"]
    assert [one.id for one in working.runs(prefix="listed:", flow="sample.chain")] == ["listed:1"]
    assert len(working.runs(prefix="listed:", limit=1)) == 1
    assert working.runs(prefix="listed:", offset=2) == []
    assert working.status("no such run") is None
    assert (working.cancel("no such run"), working.resume("no such run")) == (None, None)


@pytest.mark.promise("durable.list")
def test_a_wait_that_ends_by_time_gives_the_state_as_it_is(working: StoredDurable, tmp_path: Path) -> None:
    working.start("sample.chain", {"out": str(tmp_path), "steps": 1}, run_id="late", delay_s=3600)
    status = working.wait("late", timeout_s=0.1)
    assert status is not None
    assert not status.ended
    working.cancel("late")

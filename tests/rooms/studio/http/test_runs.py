"""`/api/runs…` and `/api/recipes`: started, polled, streamed, cancelled and resumed; whose run it is."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.doors.http.conftest import OpenDoor
from tests.doors.http.doorway import AUTH, Doorway, bearer, problem
from tests.durable.conftest import InProcessWorker
from tests.rooms.studio.runs.conftest import FILES, LOOK

RUNS = "/api/runs"


def furnish(workspace: Path, **recipes: dict[str, Any]) -> None:
    """Put the project and its recipes in place."""
    for name, text in FILES.items():
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text(text, encoding="utf-8")
    folder = workspace / ".control-room" / "recipes"
    folder.mkdir(parents=True, exist_ok=True)
    for name, recipe in recipes.items():
        (folder / f"{name}.json").write_text(json.dumps({**recipe, "id": name}), encoding="utf-8")


def start(door: Doorway, recipe: str = "look", headers: dict[str, str] | None = None, **inputs: Any) -> str:
    answer = door.post(RUNS, {"recipe": recipe, "inputs": inputs}, headers=headers or {})
    assert answer.status_code == 202, answer.text
    run_id: str = answer.json()["run_id"]
    return run_id


def ended(door: Doorway, run_id: str) -> dict[str, Any]:
    assert door.gate.durable.wait(run_id, timeout_s=60) is not None
    shown: dict[str, Any] = door.get(f"{RUNS}/{run_id}").json()
    return shown


@pytest.fixture
def studio(door: Doorway) -> Doorway:
    furnish(door.workspace, look=LOOK)
    return door


@pytest.fixture
def working(studio: Doorway) -> Iterator[Doorway]:
    with InProcessWorker(studio.gate.durable):
        yield studio


@pytest.mark.promise("runs.http")
def test_a_run_is_started_polled_and_looked_into(working: Doorway) -> None:
    run_id = start(working, thread="brass key")
    shown = ended(working, run_id)
    assert (shown["status"], [step["status"] for step in shown["steps"]]) == ("done", ["done"] * 3)
    listed = working.get(RUNS).json()
    assert (listed["total"], listed["items"][0]["run_id"], listed["items"][0]["status"]) == (1, run_id, "done")
    log = working.get(f"{RUNS}/{run_id}/steps").json()
    assert log["total"] == len(log["items"]) > 3
    page = working.get(f"{RUNS}/{run_id}/steps?limit=2&offset=1").json()
    assert page == {"items": log["items"][1:3], "total": log["total"], "limit": 2, "offset": 1}
    slot = working.get(f"{RUNS}/{run_id}/cache/found").json()
    assert slot["value"]["files_found"] == 3
    receipt = working.get(f"/api/audit/sessions/{run_id}/receipts").json()
    assert slot["receipts"][0] in json.dumps(receipt)
    assert working.get(RUNS, params={"status": "failed"}).json()["total"] == 0
    assert working.get(RUNS, params={"status": "done"}).json()["total"] == 1


@pytest.mark.promise("runs.http")
def test_progress_is_streamed_and_can_be_taken_up_again(working: Doorway) -> None:
    run_id = start(working)
    told = events(working, f"{RUNS}/{run_id}/events")
    assert [name for name, _, _ in told][-2:] == ["run", "end"]
    assert [data["step"] for name, _, data in told if name == "step"] == ["find", "read.0", "read.1", "read.2", "judge"]
    assert told[-1][2]["status"] == "done"
    numbers = [number for _, number, _ in told if number is not None]
    assert numbers == sorted(set(numbers))
    again = events(working, f"{RUNS}/{run_id}/events", headers={"last-event-id": str(numbers[1])})
    assert [number for _, number, _ in again if number is not None] == numbers[2:]


@pytest.mark.promise("runs.http", "runs.cancel", "runs.resume")
def test_a_run_is_cancelled_and_resumed(studio: Doorway) -> None:
    run_id = start(studio)
    assert studio.get(f"{RUNS}/{run_id}").json()["status"] == "queued"
    problem(studio.post(f"{RUNS}/{run_id}/resume"), 409, "downstream_error")
    assert studio.post(f"{RUNS}/{run_id}/cancel").json()["status"] == "cancelled"
    assert events(studio, f"{RUNS}/{run_id}/events")[-1][2]["status"] == "cancelled"
    with InProcessWorker(studio.gate.durable):
        assert studio.post(f"{RUNS}/{run_id}/resume", {}).status_code == 200
        assert ended(studio, run_id)["status"] == "done"
    problem(studio.post(f"{RUNS}/{run_id}/resume"), 409, "downstream_error")
    assert studio.post(f"{RUNS}/{run_id}/cancel").json()["status"] == "done"


@pytest.mark.promise("runs.http", "runs.bad-recipes")
def test_recipes_are_listed_with_what_is_wrong_with_them(studio: Doorway) -> None:
    furnish(
        studio.workspace, broken={**LOOK, "phase_b": [{"id": "x", "agent": "ghost", "prompt": "?", "slot": "judged"}]}
    )
    (studio.workspace / ".control-room" / "recipes" / "torn.json").write_text("{", encoding="utf-8")
    listed = {one["id"]: one for one in studio.get("/api/recipes").json()["items"]}
    assert "problem" not in listed["look"]
    assert listed["look"]["inputs"]["properties"].keys() == {"thread"}
    assert listed["broken"]["problem"]["code"] == "agent_unknown"
    assert listed["torn"]["problem"]["code"] == "recipe_not_json"
    some = studio.get("/api/recipes", params={"limit": 1, "offset": 1}).json()
    assert [one["id"] for one in some.pop("items")] == [list(listed)[1]]
    assert some == {"total": len(listed), "limit": 1, "offset": 1}
    details = problem(studio.post(RUNS, {"recipe": "broken"}), 409, "tool_unavailable")
    assert "broken.json" in details["hint"]
    problem(studio.post(RUNS, {"recipe": "torn"}), 400, "validation_error")
    start(studio)


@pytest.mark.promise("runs.http", "runs.inputs")
@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 400),
        ({"recipe": 3}, 400),
        ({"recipe": "look", "inputs": []}, 400),
        ({"recipe": "look", "inputs": {"thread": 3}}, 400),
        ({"recipe": "look", "inputs": {"other": "x"}}, 400),
        ({"recipe": "look", "more": 1}, 400),
        ('{"recipe": "look", "recipe": "look"}', 400),
        ({"recipe": "nothing"}, 404),
        ({"recipe": "../look"}, 404),
    ],
    ids=repr,
)
def test_what_cannot_be_started_says_so(studio: Doorway, body: Any, status: int) -> None:
    assert studio.post(RUNS, body).status_code == status
    assert studio.get(RUNS).json()["total"] == 0


@pytest.mark.promise("runs.http")
@pytest.mark.parametrize("run_id", ["run_0", "..%2f..%2fx", ".hidden", "a" * 300])
def test_a_run_that_is_not_there_is_404_everywhere(studio: Doorway, run_id: str) -> None:
    for method, path in (("GET", ""), ("GET", "/steps"), ("GET", "/cache/found"), ("GET", "/events"), ("POST", "/cancel"), ("POST", "/resume")):  # fmt: skip
        assert studio.request(method, f"{RUNS}/{run_id}{path}").status_code == 404


def test_a_slot_that_is_not_there_and_odd_questions_are_refused(studio: Doorway) -> None:
    run_id = start(studio)
    problem(studio.get(f"{RUNS}/{run_id}/cache/nothing"), 404, "downstream_error")
    problem(studio.get(RUNS, params={"status": "finished"}), 400, "validation_error")
    problem(studio.get(f"{RUNS}/{run_id}/events", params={"after": "-1"}), 400, "validation_error")
    problem(studio.post(f"{RUNS}/{run_id}/cancel", {"why": "x"}), 400, "validation_error")


@pytest.mark.promise("runs.roles", "runs.http")
def test_another_s_run_does_not_exist_for_a_caller_and_does_for_an_auditor(open_door: OpenDoor) -> None:
    locked = open_door(auth=AUTH)
    furnish(locked.workspace, look=LOOK)
    eve, mallory, auditor = bearer("person", subject="eve"), bearer("person", subject="mallory"), bearer("auditor")
    run_id = start(locked, headers=eve)
    for path in ("", "/steps", "/events"):
        assert locked.get(f"{RUNS}/{run_id}{path}", headers=mallory).status_code == 404
    assert locked.post(f"{RUNS}/{run_id}/cancel", headers=mallory).status_code == 404
    assert locked.get(RUNS, headers=mallory).json()["total"] == 0
    assert locked.get(RUNS, headers=auditor).json()["total"] == 1
    assert locked.get(f"{RUNS}/{run_id}", headers=eve).json()["status"] == "queued"


def events(door: Doorway, path: str, **more: Any) -> list[tuple[str, int | None, Any]]:
    """Name, number and data of all events, to the end of the stream."""

    async def read() -> str:
        async with door.client() as client:
            answer = await asyncio.wait_for(client.get(path, **more), 60)
            assert answer.headers["content-type"].startswith("text/event-stream"), answer.text
            return answer.text

    told = []
    for block in asyncio.run(read()).split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if "event" in fields:
            number = int(fields["id"]) if "id" in fields else None
            told.append((fields["event"], number, json.loads(fields["data"])))
    return told

"""`/api/canon/index…`: by rules at once, by a model as long work, with progress for whoever wants it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.doors.http.conftest import OpenDoor
from tests.doors.http.doorway import AUTH, Doorway, bearer, problem
from tests.doors.http.talking import serve_agent
from tests.durable.conftest import InProcessWorker
from tests.rooms.studio.projects import lay_out
from tests.scripted_server import Says, ScriptedServer, Status

STATUS, INDEX = "/api/canon/index/status", "/api/canon/index"
PEOPLE = "Compendium/Characters/"
CARDS = {
    f"{PEOPLE}ada.md": "# Ada\n\nAda never lies.\n",
    f"{PEOPLE}ben.md": "# Ben\n\nEyes: grey\n",
    f"{PEOPLE}x.md": "---\nname:\n---\n",
}
STREAM = {"accept": "text/event-stream"}


def says(**changes: Any) -> Says:
    good = {
        "type": "character", "scope": ["book"], "hardness": "hard", "topics": ["truth"], "defines": [],
        "constraints": ["Ada never lies."], "summary": "A model's word.", **changes,
    }  # fmt: skip
    return Says(json.dumps(good))


@pytest.fixture
def told(open_door: OpenDoor, tmp_path: Path) -> Doorway:
    lay_out(tmp_path / "work", CARDS)
    return open_door()


@pytest.fixture
def working(told: Doorway) -> Iterator[Doorway]:
    with InProcessWorker(told.gate.durable):
        yield told


def events(answer: httpx.Response) -> list[tuple[str, dict[str, Any]]]:
    found = [block.split("\n") for block in answer.text.split("\n\n") if "event: " in block]
    return [
        (next(line[7:] for line in lines if line.startswith("event: ")),
         json.loads(next(line[6:] for line in lines if line.startswith("data: "))))
        for lines in found
    ]  # fmt: skip


@pytest.mark.promise("canon.http", "canon.status", "canon.rules")
def test_the_index_is_made_by_rules_and_read_as_a_file(told: Doorway) -> None:
    assert told.get(STATUS).json()["state"] == "absent"
    made = told.post(INDEX).json()
    assert (made["state"], made["indexed"], made["by"]) == ("current", 2, "rules")
    assert [one["code"] for one in made["problems"]] == ["card_without_name"]
    assert told.get(STATUS).json() == made
    read = told.call("file_reader", {"file_path": "Canon.md"}).json()["result"]
    assert read["sha256"] == made["index_sha256"]
    assert "Ada never lies." in read["text"]
    note = told.receipts()[-2]
    assert (note.header["kind"], note.header["audit"]["action"]) == ("note", "canon.index")


@pytest.mark.promise("canon.http")
def test_progress_is_streamed_where_it_is_asked_for(told: Doorway) -> None:
    heard = events(told.post(INDEX, {}, headers=STREAM))
    assert [name for name, _ in heard] == ["card", "card", "result"]
    assert [(data["done"], data["total"]) for _, data in heard[:2]] == [(1, 2), (2, 2)]
    assert heard[2][1]["state"] == "current"


@pytest.mark.promise("canon.http", "canon.durable", "canon.one-bad-card")
def test_a_model_makes_the_index_as_long_work(working: Doorway) -> None:
    with ScriptedServer(says(), Says("I would rather not."), says(summary="Again.")) as server:
        serve_agent(working.workspace, server, "continuity")
        heard = events(working.post(INDEX, {"agent": "continuity"}, headers=STREAM))
        assert [(name, data.get("by"), data.get("problem")) for name, data in heard[:2]] == [
            ("card", "model", None), ("card", "rules", "extraction_not_json"),
        ]  # fmt: skip
        assert heard[2][0] == "result"
        status = working.get(STATUS).json()
        assert (status["state"], status["by"], status["run"]["state"]) == ("current", "model", "done")
        assert (status["run"]["done"], status["run"]["total"]) == (2, 2)
        assert {one["code"] for one in status["problems"]} == {"card_without_name", "extraction_not_json"}
        # No catalogue, no protocol: the prompt is the card's alone.
        assert "TOOL_NONCE" not in server.requests[0].text
        assert "Ada never lies." in server.requests[0].text
        begun = working.post(INDEX, {"agent": "continuity"})
        assert begun.status_code == 202
        done = working.gate.durable.wait(begun.json()["run_id"], timeout_s=60)
        assert done is not None
        assert done.state == "done"
        # Only the card that had no good answer was read again.
        assert len(server.requests) == 3
        assert "Eyes: grey" in server.requests[2].text


@pytest.mark.promise("canon.one-bad-card")
def test_a_model_that_cannot_be_reached_leaves_the_index_to_rules(working: Doorway) -> None:
    with ScriptedServer(Status(500)) as server:
        serve_agent(working.workspace, server, "continuity")
        heard = events(working.post(INDEX, {"agent": "continuity"}, headers=STREAM))
        assert [data.get("problem") for _, data in heard[:2]] == ["endpoint_failed", "model_silent"]
        assert (heard[2][0], heard[2][1]["by"], heard[2][1]["indexed"]) == ("result", "rules", 2)
        assert len(server.requests) == 1


@pytest.mark.promise("canon.http")
def test_what_cannot_be_done_is_a_problem(told: Doorway) -> None:
    problem(told.post(INDEX, {"agent": "nobody"}), 404, "downstream_error")
    problem(told.post(INDEX, {"agent": 7}), 400, "validation_error")
    problem(told.post(INDEX, {"model": "x"}), 400, "validation_error")
    (told.workspace / ".control-room" / "canon").mkdir()
    (told.workspace / ".control-room" / "canon" / "canon-meta.json").write_text("{")
    for answer in (told.get(STATUS), told.post(INDEX)):
        assert answer.status_code == 503
        assert "canon_meta_damaged" in answer.text or "canon-meta.json" in answer.text


@pytest.mark.promise("canon.http")
def test_a_token_is_needed_where_tokens_are(open_door: OpenDoor) -> None:
    locked = open_door(auth=AUTH)
    problem(locked.get(STATUS), 401, "rbac_denied")
    problem(locked.post(INDEX), 401, "rbac_denied")
    assert locked.get(STATUS, headers=bearer("viewer")).status_code == 200


@pytest.mark.promise("canon.boot")
def test_a_server_that_starts_makes_the_index_that_is_not_there_and_no_other(told: Doorway) -> None:
    assert told.get(STATUS).json()["state"] == "absent"
    studio = told.gate.rooms()["studio"]
    studio.served()
    studio.close()
    status = told.get(STATUS).json()
    assert (status["state"], status["by"], status["indexed"]) == ("current", "rules", status["cards"])
    assert len(list(told.gate.ledger.session("canon"))) == 1
    (told.gate.workspace / PEOPLE / "ada.md").write_text("# Ada\n\nAda lies.\n", encoding="utf-8")
    studio.served()
    studio.close()
    assert told.get(STATUS).json()["state"] == "stale"

"""Files of tickets over HTTP: the form, the guard's limits, what is left behind, how columns are named."""

import json
from pathlib import Path
from typing import Any

import pytest

from tallystick.rooms.insight.sample.tickets import sample
from tests.doors.http.conftest import OpenDoor
from tests.doors.http.doorway import AUTH, Doorway, bearer, problem

CSV = b"id,created,body\n1,2026-03-01,my card was charged twice\n2,2026-03-02,the hub is offline again\n3,,\n"
RESULT = {"dataset_id", "name", "row_count", "department_count", "file_hash", "inserted_tickets"}


def upload(door: Doorway, data: bytes = CSV, name: str = "march.csv", *, headers: Any = None, **fields: str) -> Any:
    return door.request("POST", "/ingest/upload", files={"file": (name, data)}, data=fields, headers=headers)


def left_behind(workspace: Path) -> list[str]:
    folder = workspace / ".control-room" / "uploads"
    return [path.name for path in folder.iterdir()] if folder.exists() else []


@pytest.mark.promise("insight.upload", "insight.routes")
def test_a_file_becomes_a_dataset_and_again_the_same_one(door: Doorway) -> None:
    first = upload(door)
    assert first.status_code == 200
    assert first.json().keys() == RESULT
    assert first.json() | {"file_hash": ""} == {
        "dataset_id": 1,
        "name": "march.csv",
        "row_count": 2,
        "department_count": 0,
        "file_hash": "",
        "inserted_tickets": 2,
    }
    again = upload(door, name="other.csv")
    assert again.json() == {**first.json(), "inserted_tickets": 0}
    assert left_behind(door.workspace) == []
    receipt = door.gate.ledger.find(first.headers["x-tally-receipt"])
    assert receipt is not None
    assert receipt.header["tool_id"] == "tool.ingest.upload"


@pytest.mark.promise("insight.routes")
def test_how_a_file_was_read_and_what_was_not_taken_can_be_seen(door: Doorway) -> None:
    dataset_id = upload(door, dataset_name="March").json()["dataset_id"]
    found = door.get(f"/ingest/{dataset_id}").json()
    assert found["name"] == "March"
    assert found["mapping"] == {"text": "body", "external_id": "id", "created_at": "created"}
    assert (found["bad_row_count"], found["bad_rows"][0]["line"], found["bad_rows"][0]["reason"]) == (1, 4, "no_text")
    assert [one["dataset_id"] for one in door.get("/ingest").json()["items"]] == [dataset_id]
    for missing in ("7", "99999999999999999"):
        problem(door.get(f"/ingest/{missing}"), 404, "downstream_error")
    for wrong in ("0", "-1", "x", "1.0", "9" * 40, "%D9%A1"):
        problem(door.get(f"/ingest/{wrong}"), 400, "validation_error")


@pytest.mark.promise("insight.routes")
def test_a_mapping_that_was_set_is_used_for_files_of_its_name(door: Doorway) -> None:
    odd = b"a,b,c\nx,2026-03-01,my card was charged twice\ny,2026-03-02,the hub is offline\n"
    problem(upload(door, odd, "odd.csv"), 400, "validation_error")
    said = door.request("PUT", "/ingest/mappings/odd.csv", json={"text": "c", "created_at": "b"})
    assert said.json() == {"name": "odd.csv", "mapping": {"text": "c", "created_at": "b"}}
    assert door.get("/ingest/mappings/odd.csv").json() == said.json()
    taken = upload(door, odd, "odd.csv").json()
    assert door.get(f"/ingest/{taken['dataset_id']}").json()["mapping"]["text"] == "c"
    note = door.get("/api/audit/records").json()["items"][0]
    assert (note["action"], note["resource"]) == ("ingest.mapping", "mapping:odd.csv")
    problem(door.get("/ingest/mappings/none"), 404, "downstream_error")
    for body in ({"words": "c"}, {"text": ""}, {"text": 1}, []):
        problem(door.request("PUT", "/ingest/mappings/odd.csv", json=body), 400, "validation_error")
    for name in ("ana@example.org", "a%0Ab", "x" * 300):
        problem(door.request("PUT", f"/ingest/mappings/{name}", json={"text": "c"}), 400, "validation_error")


@pytest.mark.promise("insight.problems", "insight.upload")
@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"", "empty.csv"),
        (b"id,body\n", "header.csv"),
        (b"id,body\n,\n,\n", "blank.csv"),
        (b"\x00\x01\x02", "x.bin"),
        (b"PK\x03\x04 not a zip", "broken.xlsx"),
        (b'{"a":', "cut.json"),
        (b"[" * 5000, "deep.json"),
    ],
    ids=["empty", "header only", "blank rows", "no text", "broken xlsx", "cut json", "deep json"],
)
def test_a_file_that_cannot_be_taken_is_a_validation_error_with_a_hint_and_leaves_nothing(
    door: Doorway, data: bytes, name: str
) -> None:
    details = problem(upload(door, data, name), 400, "validation_error")
    assert details["tool_name"] == "tool.ingest.upload"
    assert details["endpoint"] == "/ingest/upload"
    assert details["hint"]
    assert left_behind(door.workspace) == []
    assert door.get("/ingest").json()["total"] == 0


@pytest.mark.promise("insight.problems", "insight.upload")
def test_a_body_that_is_no_form_with_one_file_is_a_validation_error(door: Doorway) -> None:
    form = {"content-type": "multipart/form-data; boundary=x"}
    for more in (
        {},
        {"json": {}},
        {"content": b"garbage", "headers": form},
        {"content": b"x" * 100},
        {"headers": {"content-type": "multipart/form-data"}, "content": b"--x"},
        {"data": {"file": "text"}},
        {"files": [("file", ("a.csv", CSV)), ("file", ("b.csv", CSV))]},
        {"files": {"other": ("a.csv", CSV)}},
        {"files": {"file": ("a.csv", CSV)}, "data": {"surprise": "x"}},
        {"files": {"file": ("a.csv", CSV), "dataset_name": ("n", b"x")}},
    ):
        problem(door.request("POST", "/ingest/upload", **more), 400, "validation_error")
    assert left_behind(door.workspace) == []


@pytest.mark.promise("insight.upload")
def test_a_file_may_be_larger_than_other_bodies_and_has_its_own_end(open_door: OpenDoor) -> None:
    door = open_door(server={"max_body_bytes": 1000, "max_upload_bytes": 400_000})
    assert upload(door, sample(), "tickets.csv").status_code == 200
    problem(door.post("/embed/run", {"dataset_id": 1, "model_name": "x" * 2000}), 413, "validation_error")
    problem(upload(door, sample() * 2, "more.csv"), 413, "validation_error")

    async def pieces() -> Any:
        yield b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
        for _ in range(50):
            yield b"x" * 10_000

    form = {"content-type": "multipart/form-data; boundary=x"}
    problem(door.request("POST", "/ingest/upload", content=pieces(), headers=form), 413, "validation_error")
    assert left_behind(door.workspace) == []
    assert door.get("/ingest").json()["total"] == 1


@pytest.mark.promise("insight.rbac", "insight.upload")
def test_without_a_token_no_byte_of_a_file_is_kept(open_door: OpenDoor) -> None:
    door = open_door(auth=AUTH)
    refused = upload(door)
    problem(refused, 401, "rbac_denied")
    assert refused.headers["www-authenticate"] == "Bearer"
    assert left_behind(door.workspace) == []
    assert door.outcomes()[-1].header["caller"]["subject"] == "anonymous"
    assert upload(door, headers=bearer("viewer")).status_code == 200


@pytest.mark.promise("insight.upload", "insight.nowhere")
def test_personal_data_in_names_reaches_neither_the_dataset_nor_the_receipt(door: Doorway) -> None:
    taken = upload(door, name="from ana.lopez@example.org.csv", dataset_name="call +44 7700 900123")
    assert taken.status_code == 200
    told = json.dumps([receipt.flat() for receipt in door.receipts()]) + taken.text + door.get("/ingest").text
    assert "ana.lopez" not in told
    assert "900123" not in told

"""`tool.ingest.upload` through the gate."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tallystick import Gate
from tallystick.gate.role_names import EVERY_ROLE
from tallystick.rooms.insight.ingest.source_file import put_upload
from tests.gates import outcomes

TICKETS = b"Number,Description,Assignment group\n1,my mail is anna.berg@example.org,IT\n2,again,HR\n"


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    (tmp_path / "tallystick.toml").write_text("ledger.durability = 'os'")
    with Gate.open(tmp_path, rooms=["insight"]) as opened:
        yield opened


def taken(gate: Gate, **args: Any) -> Any:
    return gate.call_sync("tool.ingest.upload", args)


@pytest.mark.promise("insight.once")
def test_a_file_of_the_workspace_is_taken_once(gate: Gate) -> None:
    (gate.workspace / "may.csv").write_bytes(TICKETS)
    first = taken(gate, file_path="may.csv", dataset_name="May").unwrap()
    assert first == {
        "dataset_id": 1,
        "name": "May",
        "row_count": 2,
        "department_count": 2,
        "file_hash": first["file_hash"],
        "inserted_tickets": 2,
    }
    assert taken(gate, file_path="may.csv").unwrap() == {**first, "inserted_tickets": 0}


@pytest.mark.promise("insight.mapping")
def test_the_receipt_says_which_file_was_read_how(gate: Gate) -> None:
    (gate.workspace / "may.csv").write_bytes(TICKETS)
    taken(gate, file_path="may.csv").unwrap()
    file, mapping = outcomes(gate)[-1].header["file_refs"]
    assert file["path"] == "may.csv"
    assert mapping["path"] == "mapping:text=Description,external_id=Number,department=Assignment group"


@pytest.mark.promise("insight.paths")
def test_an_upload_is_taken_and_removed_even_when_it_is_refused(gate: Gate) -> None:
    good = put_upload(gate.workspace, "x.csv", [TICKETS], random=os.urandom)
    assert taken(gate, file_path=good, dataset_name="x.csv").ok
    bad = put_upload(gate.workspace, "x.csv", [b"a,b\n1,2\n"], random=os.urandom)
    assert not taken(gate, file_path=bad).ok
    assert list((gate.workspace / ".control-room" / "uploads").iterdir()) == []


@pytest.mark.promise("insight.hostile")
@pytest.mark.parametrize(
    ("name", "category", "status"),
    [
        ("empty.csv", "validation_error", 400),
        ("none.csv", "downstream_error", 404),
        ("../a.csv", "validation_error", 400),
    ],
)
def test_what_cannot_be_taken_has_its_category_and_a_hint(gate: Gate, name: str, category: str, status: int) -> None:
    (gate.workspace / "empty.csv").write_bytes(b"")
    outcome = taken(gate, file_path=name)
    error = outcome.as_dict()["error"]
    assert (error["category"], outcome.http) == (category, status)
    assert error["details"]["hint"]


@pytest.mark.promise("insight.planted")
def test_neither_receipts_nor_logs_nor_the_workspace_hold_what_was_personal(
    gate: Gate, caplog: pytest.LogCaptureFixture
) -> None:
    path = put_upload(gate.workspace, "x.csv", [TICKETS], random=os.urandom)
    taken(gate, file_path=path).unwrap()
    gate.close()
    assert "anna.berg" not in caplog.text
    files = [file for file in gate.workspace.rglob("*") if file.is_file()]
    assert [file for file in files if b"anna.berg" in file.read_bytes()] == []


def test_the_key_is_the_owners_alone_and_stays(gate: Gate) -> None:
    (gate.workspace / "may.csv").write_bytes(TICKETS)
    taken(gate, file_path="may.csv").unwrap()
    key = gate.workspace / ".control-room" / "insight" / "placeholders.key"
    assert key.stat().st_mode & 0o077 == 0
    said = key.read_bytes()
    (gate.workspace / "june.csv").write_bytes(TICKETS + b"3,more,IT\n")
    taken(gate, file_path="june.csv").unwrap()
    assert key.read_bytes() == said


def test_the_card_is_the_seeds(gate: Gate) -> None:
    card = next(card for card in gate.tools() if card.name == "tool.ingest.upload")
    assert json.loads(json.dumps(card.input_schema))["required"] == ["file_path"]
    assert set(card.input_schema["properties"]) == {"file_path", "dataset_name"}
    assert card.output_schema is not None
    assert set(card.output_schema["required"]) == set(card.output_schema["properties"])
    assert (card.roles, card.audited) == (EVERY_ROLE, False)

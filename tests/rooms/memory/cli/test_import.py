"""`tally memory import`: proposals from a file."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.doors.cli.conftest import Tally


def line(tool: str, **payload: Any) -> str:
    return json.dumps({"tool_name": tool, "payload": payload})


def seen(text: str, source: str, **more: Any) -> str:
    where = {"id": source, "class": "human"}
    return line("record_observation", text=text, source=where, observed_at="2024-01-01T00:00:00Z", **more)


@pytest.mark.promise("memory.lists", "memory.cli")
def test_a_file_is_proposed_line_by_line_and_the_same_again_changes_nothing(tally: Tally, workspace: Path) -> None:
    first, second = workspace / "first.jsonl", workspace / "second.jsonl"
    first.write_text("\n".join([seen("Ada is from Lisbon.", "ben"), "", seen("Ada? Lisbon.", "cleo")]) + "\n")
    told = tally("memory", "import", str(first), "--json")
    assert (told.code, told.json) == (0, {"accepted": 2, "transformed": 0, "rejected": 0, "refused": []})
    listed = tally("call", "mem.search", json.dumps({"query": "Lisbon"}), "--json").json["result"]
    ids = sorted({one["observation_id"] for one in listed["passages"]})
    fact = {"subject": "Ada", "predicate": "is_from", "object": "Lisbon", "volatility": "static"}
    second.write_text(line("propose_proposition", **fact, observation_ids=ids))
    assert "1 accepted" in tally("memory", "import", str(second)).out
    before = tally("memory", "status", "--digest", "--json").json
    assert before["states"]["accepted"] == 1
    again = tally("memory", "import", str(first), "--json")
    assert (again.code, again.json["transformed"]) == (0, 2)
    twice = tally("memory", "import", str(second), "--json")
    assert twice.code == 1
    assert [one["code"] for one in twice.json["refused"]] == ["POLICY_VIOLATION"]
    after = tally("memory", "status", "--json").json
    assert (after["counts"], after["states"]) == (before["counts"], before["states"])


@pytest.mark.promise("memory.lists")
def test_what_is_refused_is_told_with_its_line_and_recorded_and_the_rest_is_taken(
    tally: Tally, workspace: Path
) -> None:
    file = workspace / "mixed.jsonl"
    lines = [
        "{", "[]", json.dumps({"tool_name": "record_observation"}), line("file_reader", file_path="x"),
        seen("Ada.", "ben", status="accepted"), line("attach_support", proposition_id="p", observation_id="o", quote="q"),
        seen("Ada sings.", "ben"),
    ]  # fmt: skip
    file.write_text("\n".join(lines))
    told = tally("memory", "import", str(file))
    assert told.code == 1
    assert "1 accepted, 0 transformed, 6 rejected" in told.out
    codes = tally("memory", "import", str(file), "--json").json["refused"]
    assert [(one["line"], one["code"]) for one in codes] == [
        (1, "INVALID_PAYLOAD"), (2, "INVALID_PAYLOAD"), (3, "INVALID_PAYLOAD"), (4, "INVALID_TOOL_NAME"),
        (5, "DIRECT_CANONICAL_WRITE_FORBIDDEN"), (6, "MISSING_PROVENANCE"),
    ]  # fmt: skip
    rejected = tally("audit", "list", "--session", "memory", "--status", "rejected", "--json").json["items"]
    assert len(rejected) == 12
    assert tally("memory", "status", "--json").json["counts"]["observations"] == 1


@pytest.mark.promise("memory.lists")
def test_a_file_that_is_not_there_and_an_empty_one(tally: Tally, workspace: Path) -> None:
    assert tally("memory", "import", "nowhere.jsonl").code == 1
    (workspace / "empty.jsonl").write_text("\n")
    assert "0 accepted" in tally("memory", "import", str(workspace / "empty.jsonl")).out

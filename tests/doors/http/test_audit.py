"""`/api/audit/…`: receipts a page at a time, the session file, links, proofs, records, the head, and verify."""

import json
from pathlib import Path
from typing import Any

import pytest

from tallystick.gate.record.checkpoint import open_note, parse_checkpoint, parse_vkey
from tallystick.gate.record.consistency import check_heads
from tallystick.gate.record.proof import Proof, proof_fault
from tests.doors.http.conftest import OpenDoor
from tests.doors.http.doorway import Doorway, problem

PATH = "/api/audit"


def three_sessions(door: Doorway) -> None:
    for session, numbers in {"s1": range(5), "s2": range(2), "s3": range(1)}.items():
        for number in numbers:
            door.call("double", {"number": number}, session=session, agent=f"agent-{number % 2}")
    door.call("double", {"number": "x"}, session="s1")
    door.call("store", {"name": "x"}, session="s1")


@pytest.mark.promise("doors.http-audit")
def test_an_empty_ledger_answers_empty_lists(door: Doorway) -> None:
    empty = {"items": [], "total": 0, "limit": 50, "offset": 0}
    assert door.get(f"{PATH}/sessions").json() == empty
    assert door.get(f"{PATH}/records").json() == empty
    assert door.get(f"{PATH}/head").json()["size"] == 0
    assert door.post(f"{PATH}/verify").json()["ok"] is True


@pytest.mark.promise("doors.http-audit")
def test_sessions_and_their_receipts_come_a_page_at_a_time(door: Doorway) -> None:
    three_sessions(door)
    listed = door.get(f"{PATH}/sessions", params={"limit": 2, "offset": 1}).json()
    assert listed == {"items": ["s2", "s3"], "total": 3, "limit": 2, "offset": 1}
    page = door.get(f"{PATH}/sessions/s1/receipts", params={"limit": 3, "offset": 2}).json()
    assert (page["total"], page["limit"], page["offset"]) == (8, 3, 2)
    assert [item["inputs"]["args"]["number"] for item in page["items"]] == [2, 3, 4]
    whole = door.get(f"{PATH}/sessions/s1/receipts").json()["items"]
    assert [item["seq"] for item in whole] == sorted(item["seq"] for item in whole)
    assert whole[2:5] == page["items"]
    assert door.get(f"{PATH}/sessions/s1/receipts", params={"offset": 8}).json()["items"] == []


@pytest.mark.promise("doors.http-audit")
@pytest.mark.parametrize(
    ("query", "count"),
    [
        ({"kind": "outcome"}, 7), ({"kind": "started"}, 1), ({"kind": "nothing"}, 0), ({"status": "rejected"}, 1),
        ({"status": "accepted"}, 6), ({"tool_id": "store"}, 2), ({"agent_id": "agent-0"}, 3),
        ({"agent_id": "agent-0", "status": "accepted", "kind": "outcome"}, 3), ({"turn_id": "turn_0"}, 0),
        ({"status": "accepted", "tool_id": "store"}, 1), ({"limit": 1, "kind": "outcome"}, 7),
    ],
)  # fmt: skip
def test_receipts_can_be_narrowed(open_door: OpenDoor, query: dict[str, Any], count: int) -> None:
    door = open_door()
    three_sessions(door)
    answer = door.get(f"{PATH}/sessions/s1/receipts", params=query).json()
    assert answer["total"] == count
    assert len(answer["items"]) == min(count, query.get("limit", 50))
    wanted = {name: value for name, value in query.items() if name not in {"limit", "status"}}
    assert all(item.get(name) == value for item in answer["items"] for name, value in wanted.items())


@pytest.mark.promise("doors.http-audit", "record.session-view", "record.flat-view")
def test_the_session_file_is_the_view_byte_for_byte(door: Doorway) -> None:
    three_sessions(door)
    for _ in range(20):
        door.call("echo", {"text": "é" * 5_000}, session="s1")
    door.call("echo", {"text": "é" * 70_000}, session="s1")
    answer = door.get(f"{PATH}/sessions/s1/tool-receipts")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/x-ndjson"
    assert answer.headers["content-disposition"] == 'attachment; filename="s1.tool_receipts.jsonl"'
    view = door.workspace / ".control-room" / "audit" / "sessions" / "s1" / "tool_receipts.jsonl"
    assert answer.content == view.read_bytes()
    lines = [json.loads(line) for line in answer.text.splitlines()]
    assert lines == door.get(f"{PATH}/sessions/s1/receipts").json()["items"]


@pytest.mark.promise("doors.http-audit", "doors.http-problems")
@pytest.mark.parametrize("route", ["receipts", "tool-receipts"])
def test_a_session_that_is_not_there_is_404_and_a_wrong_id_400(well_used: Doorway, route: str) -> None:
    problem(well_used.get(f"{PATH}/sessions/nobody/{route}"), 404, "downstream_error")
    for wrong in ("-x", "a b", "%00", "a%0Ab", "x" * 129, "é", "..", ".hidden"):
        answer = well_used.get(f"{PATH}/sessions/{wrong}/{route}")
        assert answer.status_code in {400, 404}
        problem(answer, answer.status_code, "validation_error" if answer.status_code == 400 else "downstream_error")


@pytest.mark.promise("doors.http-audit")
def test_linking_an_issue_writes_which_receipts_belong_to_it(door: Doorway) -> None:
    three_sessions(door)
    issue_id = door.post("/api/issues", {"title": "The compass"}).json()["issue_id"]
    answer = door.post(f"{PATH}/sessions/s2/link-issue", {"issueId": issue_id})
    assert answer.status_code == 200
    ids = [item["receipt_id"] for item in door.get(f"{PATH}/sessions/s2/receipts").json()["items"]]
    assert answer.json() == {"issueId": issue_id, "sessionId": "s2", "receipts": ids}
    folder = door.workspace / ".control-room" / "audit" / "issues" / issue_id
    (link,) = folder.iterdir()
    assert json.loads(link.read_bytes())["receipts"] == ids
    # Linking again, by its number, brings it up to date.
    door.call("double", {"number": 9}, session="s2")
    again = door.post(f"{PATH}/sessions/s2/link-issue", {"issueId": "1"}).json()
    assert (again["issueId"], len(again["receipts"])) == (issue_id, 3)
    door.post(f"{PATH}/sessions/s3/link-issue", {"issueId": issue_id})
    assert [path.name for path in folder.parent.iterdir()] == [issue_id]
    assert {path.name for path in folder.iterdir()} == {"s2.json", "s3.json"}
    linked = door.get("/api/issues/1").json()["links"]
    assert linked == [{"kind": "session", "id": "s2"}, {"kind": "session", "id": "s3"}]


@pytest.mark.promise("doors.http-audit", "doors.http-problems")
def test_an_issue_that_is_not_there_or_is_frozen_is_linked_to_nothing(door: Doorway) -> None:
    three_sessions(door)
    door.post("/api/issues", {"title": "The compass"})
    door.post("/api/issues/1/freeze", {}, headers=door.person)
    for issue, status, code in (
        ("issue_nope", 404, "issue_unknown"),
        ("2", 404, "issue_unknown"),
        ("1", 409, "issue_frozen"),
    ):
        refused = problem(door.post(f"{PATH}/sessions/s1/link-issue", {"issueId": issue}), status, "downstream_error")
        assert refused["hint"] == code
    assert not (door.workspace / ".control-room" / "audit" / "issues").exists()
    assert door.post(f"{PATH}/sessions/s1/link-issue", {"issueId": "1"}, headers=door.person).status_code == 200


@pytest.mark.promise("doors.http-audit", "doors.http-problems")
def test_a_link_that_is_asked_for_wrongly_writes_nothing(door: Doorway) -> None:
    three_sessions(door)
    for body in (None, {}, [], {"issueId": 7}, {"issueId": ""}, {"issueId": "../x"}, {"issueId": "a/b"},
                 {"issueId": "I", "more": 1}, b'{"issueId":"a","issueId":"b"}'):  # fmt: skip
        problem(door.post(f"{PATH}/sessions/s1/link-issue", body), 400, "validation_error")
    problem(door.post(f"{PATH}/sessions/nobody/link-issue", {"issueId": "I-1"}), 404, "downstream_error")
    assert not (door.workspace / ".control-room" / "audit" / "issues").exists()


@pytest.mark.promise("doors.http-audit")
def test_one_receipt_and_its_proof_hold_for_a_third_party(door: Doorway) -> None:
    three_sessions(door)
    receipt_id = door.call("double", {"number": 3}).json()["receipt_id"]
    receipt = door.get(f"{PATH}/receipts/{receipt_id}").json()
    assert receipt["receipt_id"] == receipt_id
    assert receipt["outputs"] == 6
    door.call("double", {"number": 4})
    wire = door.get(f"{PATH}/receipts/{receipt_id}/proof").json()
    assert wire.keys() == {"seq", "header", "path", "checkpoint"}
    verifier = parse_vkey(door.get(f"{PATH}/head").json()["keys"][0])
    proof = Proof.from_dict(wire)
    assert proof_fault(proof, verifier) is None
    assert json.loads(proof.header)["receipt_id"] == receipt_id
    changed = Proof.from_dict({**wire, "header": wire["header"].replace("accepted", "rejected")})
    assert proof_fault(changed, verifier) is not None


@pytest.mark.promise("doors.http-audit", "doors.http-problems")
@pytest.mark.parametrize(
    "wrong", ["rcpt_0000000000000000000000ff", "nope", "rcpt_", "rcpt_" + "z" * 24, "1", "%00", "é"]
)
@pytest.mark.parametrize("route", ["", "/proof"])
def test_a_receipt_that_is_not_there_is_404(well_used: Doorway, wrong: str, route: str) -> None:
    details = problem(well_used.get(f"{PATH}/receipts/{wrong}{route}"), 404, "downstream_error")
    assert details["endpoint"] == f"{PATH}/receipts/{{receipt_id}}{route}"


@pytest.mark.promise("doors.http-audit", "record.audit-record")
def test_records_say_who_did_what_to_which_resource_and_hold_no_text(door: Doorway) -> None:
    for number in (1, 2):
        args = {"dataset_id": number, "model": "small", "question": "What does Ada Lovelace, ada@example.org, earn?"}
        assert door.call("analyse", args).status_code == 200
    door.call("double", {"number": 1})
    door.call("analyse", {"dataset_id": "x", "model": "small", "question": "q"})
    answer = door.get(f"{PATH}/records")
    records = answer.json()
    assert records["total"] == 2
    first = records["items"][0]
    assert first.keys() == {"subject", "action", "resource", "metadata", "receipt_id", "timestamp"}
    assert (first["subject"], first["action"], first["resource"]) == ("local", "analysis.run", "dataset:1")
    assert first["metadata"] == {"model": "small"}
    assert "Ada" not in answer.text
    assert "ada@example.org" not in answer.text
    assert (
        door.get(f"{PATH}/records", params={"action": "analysis.run", "limit": 1, "offset": 1}).json()["items"]
        == (records["items"][1:])
    )
    assert door.get(f"{PATH}/records", params={"action": "other"}).json()["total"] == 0
    assert door.get(f"{PATH}/records", params={"subject": "local"}).json()["total"] == 2
    assert door.get(f"{PATH}/records", params={"subject": "eve"}).json()["total"] == 0


@pytest.mark.promise("doors.http-audit", "record.checkpoint-form")
def test_the_head_is_a_note_that_its_key_signed_over_all_receipts(door: Doorway) -> None:
    three_sessions(door)
    head = door.get(f"{PATH}/head").json()
    assert head["size"] == len(door.receipts())
    opened = open_note(head["checkpoint"].encode(), [parse_vkey(key) for key in head["keys"]])
    assert opened is not None
    checkpoint = parse_checkpoint(opened[0])
    assert checkpoint is not None
    assert checkpoint.size == head["size"]


@pytest.mark.promise("doors.http-audit", "record.proofs")
def test_the_head_comes_with_a_proof_that_the_log_goes_on_from_an_earlier_one(door: Doorway) -> None:
    three_sessions(door)
    then = door.get(f"{PATH}/head").json()
    door.call("double", {"number": 1}, session="s9")
    now = door.get(f"{PATH}/head", params={"since": then["size"]}).json()
    assert now["consistency"]["old_size"] == then["size"] < now["size"] == now["consistency"]["new_size"]
    between = {"old": then["checkpoint"], "checkpoint": now["checkpoint"], "path": now["consistency"]["path"]}
    assert check_heads(between, parse_vkey(now["keys"][0])) is None
    for wrong in ("0", "x", "-1", "1e3", str(now["size"] + 1), "9" * 5000, "\u0663"):
        problem(door.get(f"{PATH}/head", params={"since": wrong}), 400, "validation_error")


def journal_of(door: Doorway) -> Path:
    """The file with the most receipts in it."""
    files = [path for path in (door.workspace / ".control-room" / "audit" / "journal").iterdir() if path.is_file()]
    return max(files, key=lambda path: path.read_bytes().count(b"receipt_id"))


def change(path: Path, old: bytes, new: bytes, *, which: int = 0) -> None:
    """Change a file in its place, as somebody with an editor of bytes would."""
    data = path.read_bytes()
    at = -1
    for _ in range(which + 1):
        at = data.index(old, at + 1)
    assert len(old) == len(new)
    with path.open("r+b") as file:
        file.seek(at)
        file.write(new)


@pytest.mark.promise("doors.http-verify")
def test_verify_finds_a_changed_receipt_and_names_it(door: Doorway) -> None:
    three_sessions(door)
    before = door.post(f"{PATH}/verify").json()
    assert (before["ok"], before["size"], before["problems"]) == (True, len(door.receipts()), [])
    assert before["proved_up_to"] == before["size"]
    victim = door.receipts()[3]
    change(journal_of(door), b'"agent-1"', b'"agent-0"', which=1)
    after = door.post(f"{PATH}/verify").json()
    assert after["ok"] is False
    first = after["problems"][0]
    assert (first["seq"], first["receipt_id"]) == (victim.seq, victim.receipt_id)
    assert first["code"]
    assert first["reason"]
    # What does not verify is not shown as a receipt either.
    problem(door.get(f"{PATH}/receipts/{victim.receipt_id}"), 404, "downstream_error")
    problem(door.get(f"{PATH}/records"), 503, "tool_unavailable")


@pytest.mark.promise("doors.http-verify")
def test_verify_finds_a_changed_session_file(door: Doorway) -> None:
    three_sessions(door)
    view = door.workspace / ".control-room" / "audit" / "sessions" / "s1" / "tool_receipts.jsonl"
    change(view, b'"number":1', b'"number":7')
    after = door.post(f"{PATH}/verify").json()
    assert after["ok"] is False
    assert after["problems"][0]["session_id"] == "s1"


@pytest.mark.promise("doors.http-verify")
def test_verify_holds_the_log_against_a_head_kept_elsewhere(open_door: OpenDoor) -> None:
    door, other = open_door("one"), open_door("two")
    three_sessions(door)
    three_sessions(other)
    mine, foreign = (each.get(f"{PATH}/head").json() for each in (door, other))
    good = door.post(f"{PATH}/verify", {"checkpoints": [mine["checkpoint"]], "key": mine["keys"][0]}).json()
    assert good["ok"] is True
    assert "outside checkpoint 1" in [warrant["by"] for warrant in good["warrants"]]
    for body in ({"checkpoints": [foreign["checkpoint"]]}, {"checkpoints": ["nonsense"]}, {"key": foreign["keys"][0]}):
        assert door.post(f"{PATH}/verify", body).json()["ok"] is False
    for body in ({"key": "nonsense"}, {"checkpoints": "x"}, {"checkpoints": [7]}, {"more": 1}, [], b"{"):
        problem(door.post(f"{PATH}/verify", body), 400, "validation_error")


@pytest.mark.promise("doors.http-verify")
def test_verify_answers_while_calls_go_on(open_door: OpenDoor) -> None:
    door = open_door(ledger={"durability": "fsync"})
    three_sessions(door)
    for number in range(3):
        door.call("double", {"number": number})
        assert door.post(f"{PATH}/verify").json()["problems"] == []


@pytest.mark.promise("doors.http-verify")
def test_a_key_that_others_can_read_is_said_plainly(door: Doorway) -> None:
    three_sessions(door)
    (door.workspace / ".control-room" / "audit" / "secret.key").chmod(0o644)
    details = problem(door.post(f"{PATH}/verify"), 503, "tool_unavailable")
    assert details["hint"]

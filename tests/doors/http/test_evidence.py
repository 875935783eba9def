"""`POST /api/evidence/check`: what a reply claims, against this workspace's files and receipts."""

import pytest

from tests.doors.http.conftest import OpenDoor
from tests.doors.http.doorway import Doorway, problem

PATH = "/api/evidence/check"
SCENE = "The harbour was quiet.\nShe had never once set foot on a boat.\nNobody asked her why.\n"
QUOTE = '"She had never once set foot on a boat"'


@pytest.fixture
def story(open_door: OpenDoor) -> Doorway:
    door = open_door()
    folder = door.workspace / "Story" / "Scenes"
    folder.mkdir(parents=True)
    (folder / "SCN-01.md").write_text(SCENE, encoding="utf-8")
    return door


@pytest.mark.promise("doors.http-evidence")
def test_a_true_quote_is_found_and_leaves_a_receipt(story: Doorway) -> None:
    reply = f"She does not sail.\nEvidence: {QUOTE} Story/Scenes/SCN-01.md:L2"
    answer = story.post(PATH, {"reply": reply, "session": "s1", "agent": "critic"})
    assert answer.status_code == 200
    found = answer.json()
    assert found["ok"] is True
    (item,) = found["items"]
    assert item["matched"]["path"] == "Story/Scenes/SCN-01.md"
    receipt = story.gate.ledger.find(found["receipt_id"])
    assert receipt is not None
    assert (receipt.header["kind"], receipt.header["session_id"]) == ("reply_check", "s1")
    assert receipt.header["agent_id"] == "critic"
    assert receipt.header["caller"]["channel"] == "http"


@pytest.mark.promise("doors.http-evidence")
@pytest.mark.parametrize(
    ("reply", "code"),
    [
        ('x\nEvidence: "She had never once set foot on a train" Story/Scenes/SCN-01.md', "quote_not_found"),
        ("No line at all.", "evidence_invalid"),
        (f"x\nEvidence: {QUOTE} Story/Scenes/SCN-09.md", "evidence_invalid"),
        ("<think>hm</think> She sails.\nEvidence: none", "cot_leak"),
        ('double({"number": 1})\nEvidence: none', "tool_syntax"),
        ("x\nEvidence: receipt rcpt_0000000000000000000000ff", "evidence_invalid"),
    ],
)
def test_a_reply_that_does_not_hold_says_why(story: Doorway, reply: str, code: str) -> None:
    found = story.post(PATH, {"reply": reply}).json()
    assert found["ok"] is False
    assert found["code"] == found["bucket"] == code
    assert "rejection_count" in story.get("/metrics").text


@pytest.mark.promise("doors.http-evidence")
def test_a_receipt_is_cited_in_its_own_session_only(story: Doorway) -> None:
    receipt_id = story.call("double", {"number": 21}, session="s1").json()["receipt_id"]
    reply = f"The tool says 42.\nEvidence: receipt {receipt_id}"
    body = {"reply": reply, "tools_ran": True}
    assert story.post(PATH, {**body, "session": "s1"}).json()["ok"] is True
    assert story.post(PATH, {**body, "session": "s2"}).json()["ok"] is False
    uncited = {"reply": f"x\nEvidence: {QUOTE} Story/Scenes/SCN-01.md", "tools_ran": True, "session": "s1"}
    assert story.post(PATH, uncited).json()["ok"] is False


@pytest.mark.promise("doors.http-evidence")
def test_abstaining_is_an_answer_in_a_conference(story: Doorway) -> None:
    body = {"reply": " abstain ", "conference": True, "conference_id": "c1", "round_id": "r1"}
    found = story.post(PATH, body).json()
    assert (found["ok"], found["abstained"]) == (True, True)
    assert story.gate.ledger.find(found["receipt_id"]).header["round_id"] == "r1"  # type: ignore[union-attr]
    assert story.post(PATH, {"reply": "abstain"}).json()["ok"] is False


@pytest.mark.promise("doors.http-evidence")
def test_each_sentence_may_carry_its_own_reference(story: Doorway) -> None:
    reply = f"She does not sail [{QUOTE} Story/Scenes/SCN-01.md:L2]. She is twelve."
    found = story.post(PATH, {"reply": reply, "form": "per-sentence"}).json()
    assert found["ok"] is False
    assert found["bucket"] == "evidence_invalid"


@pytest.mark.promise("doors.http-evidence", "doors.http-problems")
@pytest.mark.parametrize(
    "body",
    [
        None, b"", b"[]", b"{", {}, {"reply": 7}, {"reply": None}, {"reply": "x", "more": 1}, {"reply": "x", "session": "../a"},
        {"reply": "x", "session": 7}, {"reply": "x", "agent": ["critic"]}, {"reply": "x", "form": "other"},
        {"reply": "x", "conference": "yes"}, {"reply": "x", "tools_ran": 1}, b'{"reply":"a","reply":"b"}', b'{"reply":"\\ud800"}',
    ],
)  # fmt: skip
def test_a_check_that_is_asked_for_wrongly_is_400_and_leaves_nothing(well_used: Doorway, body: object) -> None:
    since = well_used.gate.ledger.size()
    details = problem(well_used.post(PATH, body), 400, "validation_error")
    assert details["endpoint"] == PATH
    assert well_used.gate.ledger.size() == since


@pytest.mark.promise("doors.http-evidence")
def test_files_of_the_gate_itself_are_no_evidence(story: Doorway) -> None:
    key = (story.workspace / ".control-room" / "audit" / "secret.key").read_text(encoding="ascii")
    for path in (".control-room/audit/secret.key", "Story/../.control-room/audit/secret.key"):
        answer = story.post(PATH, {"reply": f'x\nEvidence: "one two three four five six" {path}'})
        assert answer.json()["ok"] is False
        assert key.strip() not in answer.text

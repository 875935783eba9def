"""The acceptance and smoke tests for 1:1 chat once more, by their names, through the HTTP door with a model server."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.doors.http.doorway import Doorway
from tests.doors.http.talking import CHAT, QUOTE, SCENE, call, finish, grounded, receipts_in, serve_agent, write_story
from tests.scripted_server import Behaviour, Says, ScriptedServer, Seen

pytestmark = pytest.mark.promise("turns.acceptance")

READ = {"file_path": SCENE}
REJECTED = "STOP_HOOK: tool_call_rejected"


@pytest.fixture
def door(tmp_path: Path) -> Iterator[Doorway]:
    opened = Doorway(tmp_path / "work")
    write_story(opened.workspace)
    yield opened
    opened.close()


def chat(door: Doorway, *script: Behaviour, message: str = "Does Ada sail?", **more: Any) -> dict[str, Any]:
    """One message to the critic, whose model answers from the script."""
    with ScriptedServer(*script) as server:
        serve_agent(door.workspace, server)
        answer = door.post(CHAT, {"message": message, "agentId": "critic", "sessionId": "s1", **more})
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


def assert_unrun(door: Doorway, told: dict[str, Any], code: str) -> None:
    assert (told["reply"], told["receipts"], told["stop_hook"]) == (None, [], f"{REJECTED} {code}")
    (refused,) = door.outcomes()
    assert refused.header["outcome"]["status"] == "rejected"


def stale(_seen: Seen) -> str:
    return json.dumps({"tool": "file_reader", "args": READ, "nonce": "0" * 32})


def test_1_agent_cites_a_quote_that_is_not_in_file_rejected(door: Doorway) -> None:
    told = chat(door, Says(f'She sails.\nEvidence: "she had often set foot on many boats" {SCENE}'))
    assert (told["reply"], told["rejected"]["code"]) == (None, "quote_not_found")


def test_2_agent_uses_bold_evidence_accepted(door: Doorway) -> None:
    told = chat(door, Says(f"She stays ashore.\n\n**Evidence:** {QUOTE}"))
    assert told["reply"] is not None
    assert told["findings"]["ok"] is True


def test_3_agent_makes_structural_claim_without_line_or_section_rejected(door: Doorway) -> None:
    told = chat(door, Says(f"It is short.\nEvidence (structural): {SCENE}"))
    assert told["rejected"]["code"] == "evidence_invalid"


def test_4_agent_attempts_tool_call_in_plain_text_rejected(door: Doorway) -> None:
    assert_unrun(door, chat(door, Says(f'file_reader(file_path="{SCENE}")')), "tool_call_invalid_format")


def test_5_tool_call_json_with_extra_text_rejected(door: Doorway) -> None:
    chatty = Says(lambda seen: f"Sure: {json.dumps({'tool': 'file_reader', 'args': READ, 'nonce': seen.nonce})}")
    assert_unrun(door, chat(door, chatty), "tool_call_invalid_format")


def test_6_tool_call_json_with_wrong_nonce_rejected(door: Doorway) -> None:
    assert_unrun(door, chat(door, Says(stale)), "tool_call_nonce_invalid")


def test_smoke_json_only_tool_call_receipt_minted_evidence_references_receipt_id(door: Doorway) -> None:
    told = chat(door, *grounded())
    assert told["reply"] is not None
    assert told["findings"]["receipts"] == told["receipts"]
    assert len(told["receipts"]) == 1


def test_smoke_a_receipt_that_does_not_exist_is_no_evidence(door: Doorway) -> None:
    invented = Says(f"She stays ashore.\nEvidence: {QUOTE}; receipt rcpt_01ARZ3NDEKTSV4RRFFQ69G5FAV")
    told = chat(door, call("file_reader", READ), finish(), invented)
    assert told["rejected"]["code"] == "evidence_invalid"


def test_smoke_tool_syntax_in_plain_text_of_the_answer_rejected(door: Doorway) -> None:
    trap = Says(lambda seen: f'file_reader(file_path="x")\nEvidence: {QUOTE}; receipt {receipts_in(seen)[0]}')
    told = chat(door, call("file_reader", READ), finish(), trap)
    assert told["rejected"]["code"] == "tool_syntax"


def test_repro_json_tool_call_baseline_and_trap(door: Doorway) -> None:
    baseline = (
        "Return ONLY the JSON tool call object. No other text. Use the nonce exactly as given. "
        "Task: locate the outline file."
    )
    told = chat(door, call("file_locator", {"search_criteria": "outline"}), finish(), Says("ABSTAIN"), message=baseline)
    assert (told["required_by"], len(told["receipts"])) == ("heuristic", 1)
    trap = chat(
        door,
        Says('I used file_locator(search_criteria="scenes") and found one issue.'),
        message="Use file_locator to find scenes, then report one issue.",
        sessionId="s2",
    )
    assert trap["stop_hook"] == f"{REJECTED} tool_call_invalid_format"

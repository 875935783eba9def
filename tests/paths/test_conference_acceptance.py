"""The acceptance and smoke tests for conferences of the documents the product comes from, by their names.

Through the HTTP door: a scripted model server plays the agents, everything else is real. Where a well-behaved agent
can show the same, the offline agent does too.
"""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.conferences import (
    ABSTAIN,
    FRAMING,
    PROMPT,
    READ,
    Meeting,
    card_of,
    issue_of,
    prompts,
    reply_of,
    says,
    tools,
)
from tests.doors.http.doorway import Doorway
from tests.doors.http.talking import QUOTE, SCENE, call, finish, receipts_in
from tests.scripted_server import Says, Seen

pytestmark = pytest.mark.promise("studio.conference-acceptance")

CATALOGUE = '"name":"file_reader"'
PROTOCOL = "# Tool Call Protocol (STRICT JSON ONLY)"


@pytest.fixture
def door(tmp_path: Path) -> Iterator[Doorway]:
    opened = Doorway(tmp_path / "work")
    yield opened
    opened.close()


@pytest.fixture
def meeting(door: Doorway) -> Meeting:
    return Meeting(door, "critic")


def stale(_seen: Seen) -> str:
    return json.dumps({"tool": "file_reader", "args": READ, "nonce": "0" * 32})


def assert_stopped_unrun(meeting: Meeting, held: dict[str, Any], asked: list[Seen], code: str) -> None:
    """Refused in the tool phase: nothing ran, nobody was asked, and the round's issue says why."""
    hook = f"STOP_HOOK: tool_call_rejected {code}"
    assert (held["state"], held["stop_hook"], held["receipts"], held["replies"]) == ("stopped", hook, [], [])
    assert meeting.ran() == []
    assert len(asked) == 1, "nobody is asked after a refused tool phase"
    heading, body = issue_of(meeting.door.workspace, held["issue_id"])
    assert heading["title"] == f"Conference {meeting.id} — Turn 1"
    assert hook in body


# -- acceptance --------------------------------------------------------------------------------------------------------


def test_1_chief_phase_1_tool_call_json_accepted_receipt_minted_results_buffered(meeting: Meeting) -> None:
    held, asked = meeting.play(*tools(), says("She stays ashore."), ABSTAIN)
    assert held["state"] == "closed"
    (ran,) = meeting.ran()
    assert held["receipts"] == [ran.receipt_id]
    assert (ran.header["agent_id"], ran.header["tool_id"]) == ("assistant", "file_reader")
    assert (ran.header["conference_id"], ran.header["round_id"]) == (meeting.id, held["round_id"])
    # The buffer reached both interpretations, the Chief's second pass among them.
    assert all(ran.receipt_id in text and "set foot on a boat" in text for text in prompts(asked)[2:])
    assert len(asked) == 4


def test_2_chief_phase_1_wrong_nonce_rejected_no_tool_executes(meeting: Meeting) -> None:
    held, asked = meeting.play(Says(stale))
    assert_stopped_unrun(meeting, held, asked, "tool_call_nonce_invalid")


def test_3_chief_phase_1_invalid_args_rejected_no_tool_executes(meeting: Meeting) -> None:
    held, asked = meeting.play(call("file_reader", {**READ, "start_line": "first"}))
    assert_stopped_unrun(meeting, held, asked, "tool_call_invalid_args")


def test_4_phase_2_agent_cites_a_quote_that_is_not_in_file_rejected(meeting: Meeting) -> None:
    made_up = f'She sails.\nEvidence: "she had never once set foot on that boat" {SCENE}:L4'
    false = Says(lambda seen: f"{made_up}; receipt {receipts_in(seen)[0]}")
    held, _ = meeting.play(*tools(), ABSTAIN, false)
    reply = reply_of(held, "critic")
    assert (reply["status"], reply["text"], reply["code"]) == ("rejected", None, "quote_not_found")
    assert reply["rejected"]["nearest"]["line"] == 4
    assert "she had never once set foot on a boat" in reply["rejected"]["nearest"]["text"]
    assert held["state"] == "closed"


def test_5_phase_2_agent_uses_bold_evidence_referencing_chiefs_receipt_id_accepted(meeting: Meeting) -> None:
    bold = Says(lambda seen: f"She stays ashore.\n\n**Evidence:** {QUOTE}; receipt {receipts_in(seen)[0]}")
    held, _ = meeting.play(*tools(), ABSTAIN, bold)
    reply = reply_of(held, "critic")
    assert reply["status"] == "accepted"
    assert reply["receipts"] == held["receipts"]
    (check,) = meeting.receipts("reply_check")
    assert check.receipt_id == reply["check_receipt"]


def test_6_phase_2_agent_makes_structural_claim_without_line_or_section_rejected(meeting: Meeting) -> None:
    loose = Says(lambda seen: f"It is short.\nEvidence (structural): {SCENE}; receipt {receipts_in(seen)[0]}")
    held, _ = meeting.play(*tools(), ABSTAIN, loose)
    reply = reply_of(held, "critic")
    assert (reply["status"], reply["code"]) == ("rejected", "evidence_invalid")


@pytest.mark.parametrize("word", ["ABSTAIN", "  abstain\n", "Abstain"])
def test_7_phase_2_agent_responds_with_abstain_keyword_detected_card_yellow_no_chat_message(
    meeting: Meeting, word: str
) -> None:
    held, _ = meeting.play(*tools(), says("She stays ashore."), Says(word))
    assert card_of(held, "critic") == ("abstained", "Abstained", "yellow")
    card = next(card for card in held["cards"] if card["agent_id"] == "critic")
    assert card["tooltip"] == "This agent had nothing to add from their role this round."
    assert [reply["agent_id"] for reply in held["replies"]] == ["assistant"]
    assert [line["agent_id"] for line in meeting.transcript() if line["kind"] == "reply"] == ["assistant"]
    assert len(meeting.receipts("reply_check")) == 1, "an abstention is not checked"
    credits_of = meeting.door.get("/api/credits/critic").json()
    assert (credits_of["balance"], credits_of["items"]) == (0, [])


def test_7b_i_would_not_abstain_is_no_abstention(meeting: Meeting) -> None:
    held, _ = meeting.play(*tools(), ABSTAIN, Says("I would not abstain."))
    assert reply_of(held, "critic")["status"] == "rejected"
    assert card_of(held, "critic") == ("participant", "Participant", "default")


def test_8_agents_do_not_see_other_agents_replies_during_the_same_round(door: Doorway) -> None:
    meeting = Meeting(door, "critic", "continuity")
    held, asked = meeting.play(*tools(), says("Cormorant, says one."), says("Kittiwake, says two."), says("Done."))
    assert [reply["status"] for reply in held["replies"]] == ["accepted"] * 3
    *_, critic, continuity = prompts(asked)
    assert "Cormorant" not in critic
    assert "Cormorant" not in continuity
    assert "Kittiwake" not in continuity


def test_9_round_close_full_transcript_saved_as_issue_with_linked_receipts(meeting: Meeting) -> None:
    held, _ = meeting.play(*tools(), says("She stays ashore."), Says("No evidence at all."))
    heading, body = issue_of(meeting.door.workspace, held["issue_id"])
    assert heading["title"] == f"Conference {meeting.id} — Turn 1"
    assert {"kind": "receipt", "id": held["receipts"][0]} in heading["links"]
    for said in (PROMPT, "She stays ashore.", "No evidence at all.", "REJECTED", held["receipts"][0]):
        assert said in body
    link = meeting.door.workspace / f".control-room/audit/issues/{held['issue_id']}/{meeting.id}.json"
    linked = orjson.loads(link.read_bytes())
    of_round = [each.receipt_id for each in meeting.door.gate.ledger.session(meeting.id)]
    assert linked["receipts"] == of_round
    assert held["receipts"][0] in of_round


def test_10_next_round_agent_history_wiped_injection_cleared_user_sees_continuous_chat(meeting: Meeting) -> None:
    first, _ = meeting.play(*tools(), says("Cormorant."), says("Kittiwake."), prompt="Does Ada sail at all?")
    second, asked = meeting.play(
        call("file_locator", {"search_criteria": "Fridays"}), finish(), ABSTAIN, ABSTAIN, prompt="What of Fridays?"
    )
    assert (first["number"], second["number"]) == (1, 2)
    for text in prompts(asked):
        for old in ("Cormorant", "Kittiwake", "sail at all", first["receipts"][0]):
            assert old not in text
    lines = [(line["round"], line["kind"], line.get("text")) for line in meeting.transcript()]
    assert [line for line in lines if line[1] == "prompt"] == [
        (1, "prompt", "Does Ada sail at all?"), (2, "prompt", "What of Fridays?"),
    ]  # fmt: skip
    assert [line[:2] for line in lines] == [
        (1, "prompt"), (1, "reply"), (1, "reply"), (1, "close"), (2, "prompt"), (2, "close"),
    ]  # fmt: skip
    # A receipt of the round before proves nothing in this one.
    old = Says(f"She stays ashore.\nEvidence: {QUOTE}; receipt {first['receipts'][0]}")
    third, _ = meeting.play(*tools(), ABSTAIN, old)
    assert reply_of(third, "critic")["status"] == "rejected"


# -- smoke -------------------------------------------------------------------------------------------------------------


def test_smoke_chief_phase_1_tool_call_succeeds_receipt_minted_results_buffered(meeting: Meeting) -> None:
    held = meeting.hold("What does SCN-01 say about the supply ship?")
    assert held["state"] == "closed"
    assert [each.receipt_id for each in meeting.ran()] == held["receipts"]
    assert held["receipts"]


def test_smoke_chief_phase_1_wrong_nonce_rejected(meeting: Meeting) -> None:
    held, _ = meeting.play(Says(stale))
    assert held["stop_hook"] == "STOP_HOOK: tool_call_rejected tool_call_nonce_invalid"


@pytest.mark.promise("turns.conference")
def test_smoke_phase_2_agent_receives_injection_responds_with_role_interpretation_and_evidence(
    meeting: Meeting,
) -> None:
    held, asked = meeting.play(*tools(), says("She stays ashore."), says("It reads well."))
    chief, critic = asked[2:]
    for seen, name in ((chief, "Chief of Staff"), (critic, "Critic")):
        system, user = (message["content"] for message in seen.body["messages"])
        assert f"You are {name} (" in system
        assert "# Grounding" in system
        assert FRAMING.format(name) in user
        assert user.startswith(PROMPT)
        assert CATALOGUE not in system.replace(" ", "") + user
        assert PROTOCOL not in user
        assert "TOOL_NONCE" not in user
    assert [reply["status"] for reply in held["replies"]] == ["accepted", "accepted"]


def test_smoke_phase_1_prompt_is_lean(meeting: Meeting) -> None:
    _, asked = meeting.play(*tools(), ABSTAIN, ABSTAIN)
    system, user = (message["content"] for message in asked[0].body["messages"])
    assert system.startswith("# Tools\n")
    assert CATALOGUE in system.replace('": "', '":"')
    assert user.startswith(f"{PROMPT}\n\n{PROTOCOL}\n")
    for heavy in ("# Role", "# Grounding", "Evidence", "ABSTAIN", "Chief of Staff"):
        assert heavy not in system.split("\n")[0]
        assert heavy not in user


def test_smoke_phase_2_agent_responds_with_abstain_detected_card_goes_yellow_no_chat_message(
    meeting: Meeting,
) -> None:
    # The offline planner has to look into the outline, and there is none.
    offline = Meeting(meeting.door, "planner")
    held = offline.hold("What does SCN-01 say about the supply ship?")
    assert card_of(held, "planner") == ("abstained", "Abstained", "yellow")
    assert [reply["agent_id"] for reply in held["replies"]] == ["assistant"]


def test_smoke_round_close_issue_created_with_full_transcript_and_receipts(meeting: Meeting) -> None:
    held = meeting.hold("What does SCN-01 say about the supply ship?")
    heading, body = issue_of(meeting.door.workspace, held["issue_id"])
    assert heading["title"] == f"Conference {meeting.id} — Turn 1"
    assert all(reply["text"] in body for reply in held["replies"])
    assert all(receipt in body for receipt in held["receipts"])
    assert {link["id"] for link in heading["links"]} >= {meeting.id, *held["receipts"]}


def test_smoke_next_round_buffer_wiped_agents_have_no_memory_of_prior_rounds(meeting: Meeting) -> None:
    first = meeting.hold("What does SCN-01 say about the supply ship?")
    second = meeting.hold("What does SCN-01 say about the supply ship?")
    told = [{reply["agent_id"]: reply["text"] for reply in held["replies"]} for held in (first, second)]
    for agent_id, text in told[1].items():
        assert not any(receipt in text for receipt in first["receipts"])
        # The same question finds the same words: nothing was added by having been asked before.
        assert _plain(text) == _plain(told[0][agent_id])


def _plain(text: str) -> str:
    return " ".join(word for word in text.split() if "rcpt_" not in word)


# -- the repro prompts of the version before ----------------------------------------------------------------------------

BASELINE = (
    "Return ONLY the JSON tool call object. No other text. Use the nonce exactly as given. "
    "Task: locate the outline file."
)
TRAP = "Use file_locator to find scenes, then report one issue."


def test_repro_json_tool_call_baseline_is_pure_json(meeting: Meeting) -> None:
    held, asked = meeting.play(
        call("file_locator", {"search_criteria": "outline"}), finish(), ABSTAIN, ABSTAIN, prompt=BASELINE
    )
    assert (held["state"], len(held["receipts"])) == ("closed", 1)
    assert asked[0].body["response_format"]["type"] == "json_schema"


def test_repro_json_tool_call_baseline_is_pure_json_from_a_well_behaved_agent(meeting: Meeting) -> None:
    held = meeting.hold(BASELINE)
    assert held["state"] == "closed"
    first = held["steps"][0]
    assert json.loads(first["text"]).keys() == {"tool", "args", "nonce"}
    assert "file_locator" in [step["tool"] for step in held["steps"]]


@pytest.mark.parametrize("text", [
    'I used file_locator(search_criteria="scenes") and found one issue.',
    '{"tool":"file_locator","args":{"search_criteria":"scenes"}',
    'Sure: {"tool":"file_locator","args":{"search_criteria":"scenes"},"nonce":"x"}',
])  # fmt: skip
def test_repro_tool_call_trap_is_rejected_in_plain_text_and_malformed(meeting: Meeting, text: str) -> None:
    held, asked = meeting.play(Says(text), prompt=TRAP)
    assert_stopped_unrun(meeting, held, asked, "tool_call_invalid_format")


def test_repro_tool_call_trap_in_phase_2_is_rejected_as_a_reply(meeting: Meeting) -> None:
    trap = Says('I used file_locator(search_criteria="scenes") and found one issue.')
    held, _ = meeting.play(*tools(), ABSTAIN, trap, prompt=TRAP)
    assert (reply_of(held, "critic")["status"], reply_of(held, "critic")["code"]) == ("rejected", "tool_syntax")


def test_repro_tool_call_trap_is_answered_well_by_a_well_behaved_agent(meeting: Meeting) -> None:
    held = meeting.hold(TRAP)
    assert held["state"] == "closed"
    assert held["steps"][0]["tool"] == "file_locator"
    assert all(reply["status"] == "accepted" for reply in held["replies"])


# -- what lasts --------------------------------------------------------------------------------------------------------


@pytest.mark.promise("studio.conference-record")
def test_the_record_of_a_round_holds_ids_and_digests_and_no_words(meeting: Meeting) -> None:
    held, asked = meeting.play(*tools(), says("Cormorant."), Says("Kittiwake without evidence."))
    file = meeting.door.workspace / f".control-room/conferences/{meeting.id}/conference.json"
    text = file.read_text(encoding="utf-8")
    for word in ("Cormorant", "Kittiwake", PROMPT, "set foot"):
        assert word not in text
    (kept,) = orjson.loads(text)["rounds"]
    assert kept["prompt_sha256"] == hashlib.sha256(PROMPT.encode()).hexdigest()
    replies = {given["agent_id"]: given for given in kept["replies"]}
    said = reply_of(held, "assistant")["text"]
    assert replies["assistant"]["reply_sha256"] == hashlib.sha256(said.encode()).hexdigest()
    for place, agent_id in ((2, "assistant"), (3, "critic")):
        messages = [{"content": each["content"], "role": each["role"]} for each in asked[place].body["messages"]]
        digest = hashlib.sha256(orjson.dumps(messages, option=orjson.OPT_SORT_KEYS)).hexdigest()
        assert replies[agent_id]["prompt_sha256"] == digest

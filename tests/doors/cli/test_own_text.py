"""`tally evidence check` on words that the agent itself brought in."""

import json
from pathlib import Path

import pytest

from tests.doors.cli.conftest import Tally

CLAIM = "the sky is made of brass plates"
SCENE = "The harbour was quiet, and the gulls slept on the rail all night.\n"


@pytest.mark.promise("reply.own-text")
def test_a_reply_that_quotes_its_own_question_or_note_does_not_hold(tally: Tally, workspace: Path) -> None:
    asked = tally("call", "file_locator", json.dumps({"search_criteria": CLAIM}), "--session", "s1", "--json").json
    note = {"text": CLAIM, "source": {"id": "me", "class": "document", "group": "me"}, "observed_at": "2024-01-01T00:00:00Z"}  # fmt: skip
    assert tally("call", "record_observation", json.dumps(note), "--session", "s1").code == 0
    recalled = tally("call", "mem.search", '{"query":"What is the sky?"}', "--session", "s1", "--json").json
    for receipt in (asked["receipt_id"], recalled["receipt_id"]):
        reply = f'Brass.\nEvidence: "{CLAIM}" receipt {receipt}\n'
        wrong = tally("evidence", "check", "-", "--session", "s1", "--json", stdin=reply)
        assert (wrong.code, wrong.json["code"], wrong.json["items"][0]["code"]) == (1, "evidence_invalid", "own_text")
        shown = tally("evidence", "check", "-", "--session", "s1", stdin=reply).out
        assert "Cite a source that others wrote" in " ".join(shown.split())

    (workspace / "Story").mkdir()
    (workspace / "Story" / "one.md").write_text(SCENE)
    words = "the gulls slept on the rail all night"
    found = tally(
        "call", "file_locator", json.dumps({"search_criteria": words, "scan_mode": "DEEP_SCAN"}), "-s", "s1", "--json"
    ).json
    true = f'Quiet.\nEvidence: "{words}" Story/one.md:L1; "{words}" receipt {found["receipt_id"]}\n'
    assert tally("evidence", "check", "-", "--session", "s1", "--json", stdin=true).code == 0

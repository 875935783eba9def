"""`tally evidence check`."""

from pathlib import Path

import pytest

from tests.doors.cli.conftest import Tally

SCENE = "The harbour was quiet, and the gulls slept on the rail all night.\n"
TRUE = 'Quiet.\nEvidence: "the gulls slept on the rail all night" Story/one.md:L1\n'
FALSE = 'Loud.\nEvidence: "the gulls slept on the roof all night" Story/one.md:L1\n'


@pytest.fixture(autouse=True)
def scene(workspace: Path) -> None:
    (workspace / "Story").mkdir()
    (workspace / "Story" / "one.md").write_text(SCENE)


@pytest.mark.promise("doors.cli-evidence")
def test_a_reply_that_holds_and_one_that_does_not(tally: Tally, workspace: Path, tmp_path: Path) -> None:
    reply = tmp_path / "reply.txt"
    reply.write_text(TRUE)
    holds = tally("evidence", "check", str(reply), "--workspace", str(workspace), "--json")
    assert holds.code == 0
    assert holds.json["items"][0]["matched"]["lines"] == [1, 1]
    shown = tally("--json", "audit", "show", holds.json["receipt_id"]).json
    assert shown["kind"] == "reply_check"
    reply.write_text(FALSE)
    wrong = tally("evidence", "check", str(reply), "--json")
    assert (wrong.code, wrong.json["code"]) == (1, "quote_not_found")


@pytest.mark.promise("doors.cli-evidence", "reply.unsure")
def test_a_sentence_that_cannot_be_decided_is_listed_and_not_said_to_hold(tally: Tally) -> None:
    opinion = TRUE.replace("Quiet.", "The gulls slept on the rail. The pacing drags badly.")
    shown = tally("evidence", "check", "-", "--agent", "critic", stdin=opinion)
    assert shown.code == 0
    assert "unsure: The pacing drags badly.: " in shown.out
    assert shown.out.splitlines()[-1] != "holds"
    as_json = tally("evidence", "check", "-", "--agent", "critic", "--json", stdin=opinion)
    assert [each["claim"] for each in as_json.json["unsure"]] == ["The pacing drags badly."]


def test_a_reply_may_come_from_stdin_and_is_shown_for_people(tally: Tally) -> None:
    assert tally("evidence", "check", "-", stdin=TRUE).out.splitlines()[-1] == "holds"
    assert "does not hold: quote_not_found" in tally("evidence", "check", "-", stdin=FALSE).out
    assert tally("evidence", "check", "-", stdin="ABSTAIN").code in {0, 1}


def test_a_reply_that_cannot_be_read_is_refused(tally: Tally, tmp_path: Path) -> None:
    assert tally("evidence", "check", str(tmp_path / "none")).error == "file_unreadable"
    assert tally("evidence", "check", "-", stdin="a" * (4 * 1024 * 1024 + 1)).error == "file_too_large"


def test_a_reply_of_odd_bytes_is_answered_like_any_other(tally: Tally) -> None:
    odd = tally("evidence", "check", "-", "--json", stdin=b"\xff\xfe\x00\x1b[2J Evidence: \xed\xa0\x80")
    assert odd.code == 1
    assert odd.json["ok"] is False

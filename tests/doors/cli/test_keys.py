"""`tally keys`: public parts for everyone, changes for a person, secrets for nobody."""

from pathlib import Path

import pytest

from tests.doors.cli.conftest import Tally


@pytest.fixture
def receipt(tally: Tally, workspace: Path) -> str:
    receipt_id: str = tally("--json", "call", "word_count", '{"text":"a"}').json["receipt_id"]
    return receipt_id


@pytest.mark.promise("doors.cli-person")
def test_no_command_on_keys_gives_out_a_secret(tally: Tally, workspace: Path, receipt: str) -> None:
    audit = workspace / ".control-room" / "audit"
    secret = (audit / "secret.key").read_text().strip()
    log = (audit / "log.key").read_text().strip().split("+", 4)[4]  # the key itself may hold a plus sign
    for words in (["show"], ["export"], ["export", "--all"], ["show", "--json"], ["export", "--json"]):
        told = tally("keys", *words)
        assert told.code == 0
        assert secret not in told.out + told.err
        assert log not in told.out + told.err


@pytest.mark.promise("doors.cli-person")
def test_an_agent_cannot_rotate_keys(tally: Tally, receipt: str) -> None:
    before = tally("--json", "keys", "show").json
    refused = tally("keys", "rotate", "--yes")
    assert (refused.code, refused.error) == (1, "person_required")
    assert tally("--json", "keys", "show").json == before


def test_a_person_rotates_and_old_receipts_still_verify(tally: Tally, token: str, receipt: str) -> None:
    before = tally("--json", "keys", "show").json
    rotated = tally("--json", "keys", "rotate", "--token", token)
    assert rotated.code == 0
    after = tally("--json", "keys", "show").json
    assert after["retired"] == [before["active"]]
    assert after["active"] == rotated.json["active"] != before["active"]
    assert after["old_log_keys"] == [before["log_key"]]
    assert tally("call", "word_count", '{"text":"a"}').code == 0
    assert tally("audit", "verify").code == 0
    assert tally("audit", "show", receipt).code == 0
    assert len(tally("keys", "export", "--all").out.splitlines()) == 2


def test_before_the_first_receipt_there_are_no_keys(tally: Tally, workspace: Path) -> None:
    assert tally("keys", "show").error == "no_keys"


def test_the_public_key_is_written_to_a_file(tally: Tally, receipt: str, tmp_path: Path) -> None:
    written = tally("--json", "keys", "export", "-o", str(tmp_path / "log.vkey"))
    assert written.json == {"written": str(tmp_path / "log.vkey")}
    assert (tmp_path / "log.vkey").read_text().strip() == tally("--json", "keys", "show").json["log_key"]

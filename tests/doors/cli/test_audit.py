"""`tally audit`: the receipts are shown, listed, exported, erased and verified."""

import csv
import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.doors.cli.audit import COLUMNS, FORMULA, neutral
from tests.doors.cli.conftest import Ran, Tally
from tests.doors.cli.terminal import at_terminal
from tests.house.sources import ROOT


@pytest.fixture
def receipts(tally: Tally, workspace: Path) -> list[str]:
    """Three receipts in two sessions, oldest first."""
    calls = [("word_count", '{"text":"one"}', "s1"), ("word_count", "{}", "s1"), ("loud", "{}", "s2")]
    return [tally("--json", "call", name, args, "-s", session).json["receipt_id"] for name, args, session in calls]


def _journal(workspace: Path) -> Path:
    [segment] = (workspace / ".control-room" / "audit" / "journal").glob("*.log")
    return segment


def test_show_gives_the_whole_receipt(tally: Tally, receipts: list[str]) -> None:
    shown = tally("--json", "audit", "show", receipts[0]).json
    assert shown["receipt_id"] == receipts[0]
    assert shown["inputs"]["args"] == {"text": "one"}
    assert shown["outputs"] == 1
    assert receipts[0] in tally("audit", "show", receipts[0]).out


@pytest.mark.parametrize("name", ["rcpt_nothing", "rcpt_" + "0" * 24, "", "../secret.key"])
def test_a_receipt_that_is_not_there_is_refused(tally: Tally, receipts: list[str], name: str) -> None:
    for words in (["audit", "show", name], ["prove", name]):
        refused = tally(*words)
        assert (refused.code, refused.error) == (1, "receipt_unknown")


def test_list_gives_the_newest_first_page_by_page(tally: Tally, receipts: list[str]) -> None:
    def page(*words: str) -> list[str]:
        return [item["receipt_id"] for item in tally("--json", "audit", "list", *words).json["items"]]

    assert page() == receipts[::-1]
    assert page("--limit", "1") == [receipts[2]]
    assert page("--limit", "2", "--offset", "1") == [receipts[1], receipts[0]]
    assert page("--offset", "9") == []
    assert page("--session", "s1") == [receipts[1], receipts[0]]
    assert page("--session", "s1", "--status", "rejected") == [receipts[1]]
    assert page("--tool", "loud") == [receipts[2]]
    assert page("--kind", "held") == []
    assert tally("--json", "audit", "list", "--tool", "word_count", "--limit", "1").json["total"] == 2


def test_list_shows_the_hidden_characters_of_a_name(tally: Tally, workspace: Path) -> None:
    tally("call", "tool\x1b[2J\u202e")
    listed = tally("audit", "list").out
    assert r"tool\x1b[2J\u202e" in listed
    assert len(listed.splitlines()) == 2


def test_export_as_json_lines_gives_every_receipt_oldest_first(
    tally: Tally, receipts: list[str], tmp_path: Path
) -> None:
    exported = tally("audit", "export").out
    assert [json.loads(line)["receipt_id"] for line in exported.splitlines()] == receipts
    assert tally("audit", "export", "-o", str(tmp_path / "all.jsonl")).out == ""
    assert (tmp_path / "all.jsonl").read_text() == exported


@pytest.mark.promise("doors.cli-csv")
def test_cells_of_a_csv_export_cannot_be_formulas(tally: Tally, workspace: Path) -> None:
    for name in ("=cmd|' /C calc'!A0", "+1+1", "-2", "@SUM(A1)", "\t=1", " =1"):
        tally("call", "--", name)
    rows = list(csv.DictReader(io.StringIO(tally("audit", "export", "--format", "csv").out)))
    assert len(rows) == 6
    assert all(row["tool_id"].startswith("'") for row in rows)
    assert set(rows[0]) == set(COLUMNS)
    assert not any(cell.lstrip().startswith(FORMULA) for row in rows for cell in row.values())


@pytest.mark.promise("doors.cli-csv")
@given(st.text())
def test_whatever_the_cell_it_does_not_begin_as_a_formula(cell: str) -> None:
    shown = neutral(cell)
    assert not shown.lstrip(" \u00a0\ufeff").startswith(FORMULA)
    assert shown.removeprefix("'") == cell.removeprefix("'")


@pytest.mark.promise("doors.cli-person")
def test_output_never_lands_on_a_file_that_is_there_nor_in_the_gates_own_places(
    tally: Tally, receipts: list[str], workspace: Path, tmp_path: Path
) -> None:
    (tmp_path / "mine").write_text("mine")
    refused = tally("audit", "export", "-o", str(tmp_path / "mine"))
    assert (refused.code, refused.error) == (1, "file_exists")
    assert (tmp_path / "mine").read_text() == "mine"
    assert tally("audit", "export", "-o", str(tmp_path / "mine"), "--force").code == 0
    assert tally("audit", "export", "-o", str(tmp_path / "no" / "where")).error == "file_unwritable"
    link = tmp_path / "link"
    link.symlink_to(workspace / ".control-room" / "audit" / "secret.key")
    before = link.read_bytes()
    for place in (
        workspace / "tallystick.toml",
        workspace / "TALLYSTICK.toml",
        workspace / ".control-room" / "x",
        link,
    ):
        for command in (["audit", "export"], ["audit", "head"], ["keys", "export"], ["prove", receipts[0]]):
            assert tally(*command, "-o", str(place), "--force").error == "path_protected"
    assert link.read_bytes() == before


@pytest.mark.promise("doors.cli-person")
def test_an_agent_cannot_erase(tally: Tally, receipts: list[str]) -> None:
    refused = tally("audit", "erase", receipts[0], "--reason", "hide it", "--yes")
    assert (refused.code, refused.error) == (1, "person_required")
    assert tally("--json", "audit", "show", receipts[0]).json["outputs"] == 1


def test_a_person_erases_a_payload_and_the_log_still_verifies(
    tally: Tally, workspace: Path, receipts: list[str]
) -> None:
    state = Path(os.environ["TALLY_STATE_DIR"])
    typed = at_terminal(
        "audit", "erase", receipts[0], "--reason", "asked to", folder=workspace, answer="y", state=state
    )
    assert typed.code == 0
    shown = tally("--json", "audit", "show", receipts[0]).json
    assert shown["erased"] is True
    assert "outputs" not in shown
    assert tally("audit", "verify").code == 0
    [said] = tally("--json", "audit", "list", "--kind", "erasure").json["items"]
    assert said["caller"]["channel"] == "terminal"
    assert tally("audit", "erase", receipts[0], "--reason", "again").error == "person_required"


def test_verify_says_up_to_where_and_by_what_the_log_is_proved(tally: Tally, receipts: list[str]) -> None:
    verified = tally("--json", "audit", "verify")
    assert verified.code == 0
    assert verified.json["ok"] is True
    assert verified.json["size"] == verified.json["proved_up_to"] == 3
    assert "mirror" in verified.json["proved_by"]
    told = tally("audit", "verify")
    assert "rcpt_000000000002" in told.out
    assert "mirror" in told.out


def test_verify_may_be_given_another_workspace(
    tally: Tally, receipts: list[str], workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert tally("audit", "verify", str(workspace)).code == 0
    nothing = tally("audit", "verify", str(tmp_path))
    assert (nothing.code, nothing.error) == (4, "no_workspace")


@pytest.mark.promise("doors.cli-verify")
def test_verify_names_the_first_bad_record_and_its_reason(tally: Tally, receipts: list[str], workspace: Path) -> None:
    segment = _journal(workspace)
    lines = segment.read_bytes().splitlines(keepends=True)
    segment.write_bytes(lines[0] + lines[1].replace(b'"word_count"', b'"word_kount"') + lines[2])
    verified = tally("--json", "audit", "verify")
    assert verified.code == 1
    assert verified.json["problems"][0]["seq"] == 1
    assert "signature" in verified.json["problems"][0]["code"]
    assert "DOES NOT VERIFY" in tally("audit", "verify").out


@pytest.mark.promise("doors.cli-verify")
def test_a_cut_log_is_found_and_a_rolled_back_one_by_a_head_kept_elsewhere(
    tally: Tally, receipts: list[str], workspace: Path, tmp_path: Path
) -> None:
    state = Path(os.environ["TALLY_STATE_DIR"])
    room = workspace / ".control-room"
    shutil.copytree(room, tmp_path / "then")
    shutil.copytree(state, tmp_path / "state-then")
    tally("call", "word_count", '{"text":"later"}')
    assert tally("audit", "head", "-o", str(tmp_path / "head")).code == 0
    (tmp_path / "head.json").write_text(tally("--json", "audit", "head").out)
    shutil.rmtree(room)
    shutil.copytree(tmp_path / "then", room)
    assert tally("--json", "audit", "verify").json["problems"][0]["code"] == "rolled_back"
    shutil.rmtree(state)
    shutil.copytree(tmp_path / "state-then", state)
    assert tally("audit", "verify").code == 0
    for kept in ("head", "head.json"):
        found = tally("--json", "audit", "verify", "--head", str(tmp_path / kept))
        assert found.code == 1
        assert found.json["problems"][0]["code"] == "rolled_back"


def test_a_head_that_cannot_be_read_is_refused(tally: Tally, receipts: list[str], tmp_path: Path) -> None:
    assert tally("audit", "verify", "--head", str(tmp_path / "none")).error == "file_unreadable"
    (tmp_path / "odd").write_text("{")
    assert tally("audit", "verify", "--head", str(tmp_path / "odd")).error == "head_unreadable"
    (tmp_path / "foreign").write_text("a\n1\nAAAA\n\n— a AAAA\n")
    foreign = tally("--json", "audit", "verify", "--head", str(tmp_path / "foreign"))
    assert foreign.json["problems"][0]["code"] == "outside_invalid"


@pytest.mark.promise("doors.cli-verify")
def test_a_ledger_that_was_deleted_does_not_pass_for_one_that_never_was(
    tally: Tally, receipts: list[str], workspace: Path, tmp_path: Path
) -> None:
    shutil.rmtree(workspace / ".control-room" / "audit")
    gone = tally("--json", "audit", "verify")
    assert (gone.code, gone.json["problems"][0]["code"]) == (1, "ledger_gone")
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    (fresh / "tallystick.toml").write_text("")
    never = tally("audit", "verify", str(fresh))
    assert (never.code, never.error) == (4, "ledger_missing")


@pytest.mark.parametrize(
    "words", [["audit", "list", "-s"], ["audit", "export", "-s"], ["policy", "replay", "-p", "tallystick.toml", "-s"]]
)
def test_a_session_that_names_a_path_is_wrong_use(tally: Tally, receipts: list[str], words: list[str]) -> None:
    wrong = tally(*words, "../s1")
    assert (wrong.code, wrong.error) == (2, "usage")


def test_verify_changes_nothing(tally: Tally, receipts: list[str], workspace: Path) -> None:
    def state() -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in workspace.rglob("*") if path.is_file()}

    before = state()
    assert tally("audit", "verify").code == 0
    assert tally("doctor").code == 0
    assert state() == before


def test_a_lost_session_view_is_found_and_written_again(tally: Tally, receipts: list[str], workspace: Path) -> None:
    shutil.rmtree(workspace / ".control-room" / "audit" / "sessions" / "s1")
    found = tally("--json", "audit", "verify")
    assert (found.code, found.json["problems"][0]["code"]) == (1, "view_differs")
    assert tally("--json", "audit", "rebuild").json["views"] >= 1
    assert tally("audit", "verify").code == 0


def test_watch_shows_what_other_processes_write(tally: Tally, receipts: list[str], workspace: Path) -> None:
    watching = subprocess.Popen(
        [sys.executable, "-m", "tallystick", "audit", "watch", "--limit", "2", "--tool", "word_count"],
        cwd=workspace, env={**os.environ, "PYTHONPATH": str(ROOT / "src")}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert watching.stderr is not None
    assert "watching" in watching.stderr.readline()
    written: list[Ran] = [
        tally("--json", "call", name, '{"text":"a"}') for name in ("word_count", "loud", "word_count")
    ]
    out, _ = watching.communicate(timeout=60)
    assert watching.returncode == 0
    assert [line.split()[0] for line in out.splitlines()] == [
        written[0].json["receipt_id"],
        written[2].json["receipt_id"],
    ]


@pytest.mark.promise("doors.cli-verify")
def test_a_ledger_that_was_deleted_and_begun_anew_does_not_verify_until_a_person_accepts_it(
    tally: Tally, receipts: list[str], workspace: Path, token: str
) -> None:
    assert tally("call", "word_count", '{"text":"one"}').code == 0
    shutil.rmtree(workspace / ".control-room" / "audit")
    assert tally("call", "word_count", '{"text":"one"}').code == 0
    verified = tally("--json", "audit", "verify")
    assert (verified.code, verified.json["problems"][0]["code"]) == (1, "earlier_log")
    assert tally("audit", "accept-loss", "--reason", "never mind").error == "person_required"
    assert tally("audit", "accept-loss", "--reason", "never mind", "--token", "wrong").error == "token_invalid"
    accepted = tally("--json", "audit", "accept-loss", "--reason", "moved to another machine", "--token", token)
    assert accepted.code == 0
    assert accepted.json["accepted"] == [verified.json["problems"][0]["loss"]]
    again = tally("--json", "audit", "verify")
    assert (again.code, [note["code"] for note in again.json["notes"]]) == (0, ["loss_accepted"])
    assert tally("audit", "accept-loss", "--reason", "again", "--token", token).error == "no_loss"


@pytest.mark.promise("doors.cli-verify")
def test_a_head_comes_with_a_proof_that_the_log_goes_on_from_an_earlier_one(
    tally: Tally, receipts: list[str], workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert tally("audit", "head", "-o", str(tmp_path / "then.txt")).code == 0
    assert tally("call", "word_count", '{"text":"one"}').code == 0
    assert tally("audit", "head", "--since", str(tmp_path / "then.txt"), "-o", str(tmp_path / "proof.json")).code == 0
    key = tally("keys", "export").out.strip()
    assert tally("audit", "head", "--since", str(tmp_path / "proof.json")).code == 0, "the later head of a proof is one"
    empty = tmp_path / "elsewhere"
    empty.mkdir()
    monkeypatch.chdir(empty)
    valid = tally("--json", "check", str(tmp_path / "proof.json"), "--key", key)
    assert (valid.code, valid.json["status"]) == (0, "valid")
    assert tally("--json", "check", str(tmp_path / "proof.json")).json["status"] == "consistent"
    data = (tmp_path / "proof.json").read_text(encoding="utf-8")
    (tmp_path / "changed.json").write_text(data.replace("\\n3\\n", "\\n2\\n"), encoding="utf-8")
    assert tally("check", str(tmp_path / "changed.json"), "--key", key).code == 1


@pytest.mark.promise("record.checkpoint-strict")
@pytest.mark.parametrize("what", ["junk", "{", '{"head":5}', "", "tallystick/x\n3\nAAAA\n"])
def test_what_is_no_head_of_this_log_cannot_be_gone_on_from(
    tally: Tally, receipts: list[str], tmp_path: Path, what: str
) -> None:
    (tmp_path / "head").write_text(what, encoding="utf-8")
    refused = tally("audit", "head", "--since", str(tmp_path / "head"))
    assert refused.code == 1
    assert refused.error in {"head_unreadable", "outside_invalid"}


def test_a_log_that_was_rolled_back_cannot_go_on_from_its_later_head(
    tally: Tally, receipts: list[str], workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(workspace, tmp_path / "then")
    assert tally("call", "word_count", '{"text":"one"}').code == 0
    assert tally("audit", "head", "-o", str(tmp_path / "head.txt")).code == 0
    monkeypatch.chdir(tmp_path / "then")
    # The path is another, so there is no mirror: opening records that.
    assert tally("audit", "head", "--since", str(tmp_path / "head.txt")).error == "checkpoint_differs"
    for _ in range(2):
        assert tally("call", "word_count", '{"text":"two"}').code == 0
    assert tally("audit", "head", "--since", str(tmp_path / "head.txt")).error == "checkpoint_differs"


@pytest.mark.promise("record.verify-progress")
def test_verify_shows_a_bar_at_a_terminal_and_nowhere_else(tally: Tally, receipts: list[str], workspace: Path) -> None:
    state = Path(os.environ["TALLY_STATE_DIR"])
    shown = at_terminal("audit", "verify", folder=workspace, state=state, TERM="xterm")
    assert (shown.code, "verifying" in shown.screen) == (0, True)
    for words in (("--json", "audit", "verify"), ("--quiet", "audit", "verify")):
        assert "verifying" not in at_terminal(*words, folder=workspace, state=state, TERM="xterm").screen
    assert "verifying" not in tally("audit", "verify").err


@pytest.mark.promise("record.witness")
def test_what_a_witness_kept_is_given_as_a_head(
    tally: Tally, workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tallystick.storage.journal.witnesses.LAST_TRY_S", 20.0)
    state, room, kept = Path(os.environ["TALLY_STATE_DIR"]), workspace / ".control-room", tmp_path / "kept"
    config = workspace / "tallystick.toml"
    plain = config.read_text()
    config.write_text(plain.replace("[ledger]\n", f'[ledger]\nwitnesses = ["{kept}"]\n'))
    tally("call", "word_count", '{"text":"one"}')
    shutil.copytree(room, tmp_path / "then")
    shutil.copytree(state, tmp_path / "state-then")
    tally("call", "word_count", '{"text":"two"}')
    assert "witness" in tally("--json", "audit", "verify").json["proved_by"]
    config.write_text(plain)
    assert tally("audit", "verify", "--head", str(kept)).code == 0
    assert tally("audit", "head", "--since", str(kept)).code == 0
    for then, now in (("then", room), ("state-then", state)):
        shutil.rmtree(now)
        shutil.copytree(tmp_path / then, now)
    assert tally("audit", "verify").code == 0
    assert tally("--json", "audit", "verify", "--head", str(kept)).json["problems"][0]["code"] == "rolled_back"
    assert tally("audit", "head", "--since", str(kept)).error == "rolled_back"

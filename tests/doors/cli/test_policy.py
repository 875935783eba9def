"""`tally policy` and `tally replay`: what the policy says, said, and would say."""

from pathlib import Path

import pytest

from tests.doors.cli.conftest import CONFIG, Tally

CASES = """
[[case]]
tool = "word_count"
args = { text = "a" }
expect = "allow"

[[case]]
name = "mail goes out only with a yes"
tool = "send_mail"
expect = "ask"
reason = "approval_required"

[[case]]
tool = "not_registered"
effect = "external"
expect = "ask"
"""


def test_check_names_the_policy_and_warns_of_rules_for_nothing(tally: Tally, workspace: Path) -> None:
    assert len(tally("--json", "policy", "check").json["digest"]) == 64
    (workspace / "tallystick.toml").write_text(CONFIG + '\n[tools.send_male]\ndecision = "deny"\n')
    checked = tally("policy", "check")
    assert checked.code == 0
    assert "send_male" in checked.err


def test_show_gives_the_fixed_form_whose_digest_stands_in_receipts(tally: Tally, workspace: Path) -> None:
    shown = tally("--json", "policy", "show").json
    receipt = tally("--json", "call", "word_count", '{"text":"a"}').json["receipt_id"]
    assert tally("--json", "audit", "show", receipt).json["policy_digest"] == shown["digest"]
    assert 'external = "ask"' in tally("policy", "show").out


@pytest.mark.promise("doors.cli-policy")
def test_cases_hold_or_fail_with_exit_one(tally: Tally, workspace: Path, tmp_path: Path) -> None:
    cases = tmp_path / "cases.toml"
    cases.write_text(CASES)
    held = tally("--json", "policy", "test", str(cases))
    assert (held.code, held.json["failed"], held.json["total"]) == (0, 0, 3)
    stricter = tmp_path / "new.toml"
    stricter.write_text('[policy]\nexternal = "deny"\n')
    failed = tally("--json", "policy", "test", str(cases), "--policy", str(stricter))
    assert (failed.code, failed.json["failed"]) == (1, 2)
    assert [item["ok"] for item in failed.json["items"]] == [True, False, False]
    assert "2 failed" in tally("policy", "test", str(cases), "-p", str(stricter)).out


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("[[case]\n", "config_malformed"),
        ("", "config_bad_value"),
        ('[[case]]\ntool = "x"\nexpct = "ask"\n', "config_bad_value"),
    ],
)
def test_a_case_file_that_is_wrong_is_an_error_of_configuration(
    tally: Tally, workspace: Path, tmp_path: Path, text: str, code: str
) -> None:
    (tmp_path / "cases.toml").write_text(text)
    wrong = tally("policy", "test", str(tmp_path / "cases.toml"))
    assert (wrong.code, wrong.error) == (4, code)


def test_files_that_cannot_be_read_are_refused(tally: Tally, workspace: Path, tmp_path: Path) -> None:
    assert tally("policy", "test", str(tmp_path / "none.toml")).error == "file_unreadable"
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    assert tally("policy", "show", "-p", str(tmp_path / "binary")).error == "file_unreadable"


@pytest.mark.promise("doors.cli-policy")
def test_policy_replay_lists_what_another_policy_would_change_and_runs_nothing(
    tally: Tally, workspace: Path, tmp_path: Path
) -> None:
    tally("call", "word_count", '{"text":"a"}')
    tally("call", "word_count", "{}")
    tally("call", "send_mail", '{"to":"a","body":"b"}')
    before = tally("--json", "audit", "list").json["total"]
    new = tmp_path / "new.toml"
    new.write_text('[policy]\nexternal = "allow"\n')
    replayed = tally("--json", "policy", "replay", "--policy", str(new))
    assert replayed.code == 0
    assert (replayed.json["total"], replayed.json["changed"]) == (2, 1)
    [item] = replayed.json["items"]
    assert (item["tool"], item["was"]["verdict"], item["now"]["verdict"]) == ("send_mail", "ask", "allow")
    assert tally("--json", "audit", "list").json["total"] == before
    assert "send_mail" in tally("policy", "replay", "-p", str(new)).out


@pytest.mark.promise("doors.cli-replay", "decide.replay")
def test_replay_of_a_session_gives_the_same_decisions_under_a_new_configuration(tally: Tally, workspace: Path) -> None:
    tally("call", "word_count", '{"text":"a"}', "-s", "s1")
    tally("call", "send_mail", '{"to":"a","body":"b"}', "-s", "s1")
    (workspace / "tallystick.toml").write_text(CONFIG + '\n[policy]\nread = "deny"\nexternal = "allow"\n')
    tally("call", "word_count", '{"text":"a"}', "-s", "s1")
    replayed = tally("--json", "replay", "s1")
    assert replayed.code == 0
    assert (replayed.json["total"], replayed.json["same"]) == (3, 3)


@pytest.mark.promise("doors.cli-replay", "decide.replay-undecidable")
def test_replay_says_what_it_cannot_decide_any_more(tally: Tally, workspace: Path) -> None:
    tally("call", "word_count", '{"text":"a"}', "-s", "s1")
    audit = workspace / ".control-room" / "audit"
    for kept in (audit / "policies").iterdir():
        kept.write_text('[policy]\nread = "deny"\n')
    replayed = tally("--json", "replay", "s1")
    assert replayed.code == 0
    assert [(item["result"], item["why"]) for item in replayed.json["items"]] == [("undecidable", "policy_not_kept")]


def test_replay_of_a_session_that_is_not_there_is_refused(tally: Tally, workspace: Path) -> None:
    tally("call", "word_count", '{"text":"a"}')
    refused = tally("replay", "nobody")
    assert (refused.code, refused.error) == (1, "no_session")

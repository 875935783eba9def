"""`tally approvals`: an agent may look, a person answers."""

import json
import os
import sqlite3
from pathlib import Path

import pytest

from tallystick.app.approvals import put_back
from tests.doors.cli.conftest import Tally
from tests.doors.cli.terminal import at_terminal

CALL = ("call", "send_mail", '{"to":"a@example.org","body":"x\\u202ey","password":"hunter2"}')


def _state() -> Path:
    return Path(os.environ["TALLY_STATE_DIR"])


def _channels(tally: Tally) -> list[tuple[str, str]]:
    kept = tally("--json", "audit", "list", "--kind", "approval").json["items"]
    return [(item["approval"]["answer"], item["approval"]["channel"]) for item in kept]


@pytest.mark.promise("doors.cli-person")
@pytest.mark.parametrize("answer", [["approve"], ["reject", "--reason", "no"], ["edit", "--args", "{}"]])
def test_an_agent_without_a_terminal_or_token_cannot_answer(tally: Tally, held: str, answer: list[str]) -> None:
    for words in ([], ["--yes"]):
        refused = tally("approvals", answer[0], held, *answer[1:], *words, stdin="y\n")
        assert (refused.code, refused.error) == (1, "person_required")
    assert tally("--json", "approvals", "show", held).json["state"] == "held"
    assert tally(*CALL).code == 3
    assert _channels(tally) == []


@pytest.mark.promise("doors.cli-person")
def test_an_agent_cannot_bring_a_policy_of_its_own(tally: Tally, workspace: Path, tmp_path: Path) -> None:
    lax = tmp_path / "lax.toml"
    lax.write_text('[policy]\nexternal = "allow"\n')
    for option in ("--policy", "--config", "-p"):
        assert tally("call", "send_mail", '{"to":"a","body":"b"}', option, str(lax)).code == 2
    written = tally("audit", "export", "--output", str(workspace / "tallystick.toml"), "--force")
    assert written.error == "path_protected"


@pytest.mark.promise("doors.cli-person")
@pytest.mark.parametrize("wrong", ["", "0" * 64, "x", "-"])
def test_a_wrong_token_answers_nothing(tally: Tally, token: str, held: str, wrong: str) -> None:
    refused = tally("approvals", "approve", held, "--token", wrong, stdin="1" * 64)
    assert (refused.code, refused.error) == (1, "token_invalid")
    assert _channels(tally) == []


def test_a_token_without_a_running_server_is_refused(tally: Tally, held: str) -> None:
    refused = tally("approvals", "approve", held, "--token", "0" * 64)
    assert refused.error == "token_invalid"


def test_a_token_that_others_can_read_counts_for_nothing(tally: Tally, token: str, held: str) -> None:
    [kept] = (_state() / "startup").glob("*.token")
    kept.chmod(0o644)
    assert tally("approvals", "approve", held, "--token", token).error == "token_invalid"


@pytest.mark.promise("doors.cli-person")
@pytest.mark.parametrize("through_stdin", [False, True])
def test_with_the_start_up_token_a_person_approves_and_the_same_call_runs_once(
    tally: Tally, token: str, held: str, *, through_stdin: bool
) -> None:
    approved = tally(
        "--json", "approvals", "approve", held, "--token", "-" if through_stdin else token,
        stdin=f"{token}\n" if through_stdin else None,
    )  # fmt: skip
    assert approved.json["state"] == "granted"
    assert _channels(tally) == [("granted", "token")]
    assert tally("--json", *CALL).json["result"] == "sent to a@example.org"
    assert tally(*CALL).code == 3


@pytest.mark.promise("doors.cli-person")
def test_a_person_at_a_terminal_sees_the_call_and_says_yes(tally: Tally, workspace: Path, held: str) -> None:
    typed = at_terminal("approvals", "approve", held, folder=workspace, answer="y", state=_state())
    assert typed.code == 0
    assert "a@example.org" in typed.screen
    assert "RIGHT-TO-LEFT OVERRIDE" in typed.screen
    assert "\u202e" not in typed.screen
    assert "hunter2" not in typed.screen
    assert _channels(tally) == [("granted", "terminal")]


def test_a_person_at_a_terminal_may_think_better_of_it(tally: Tally, workspace: Path, held: str) -> None:
    typed = at_terminal("approvals", "approve", held, folder=workspace, answer="n", state=_state())
    assert typed.code == 1
    assert "not_answered" in typed.screen
    assert _channels(tally) == []


def test_a_person_at_a_terminal_rejects_with_a_reason(tally: Tally, workspace: Path, held: str) -> None:
    typed = at_terminal(
        "approvals", "reject", held, "--reason", "wrong address", "--yes", folder=workspace, state=_state()
    )
    assert typed.code == 0
    assert tally("--json", "approvals", "show", held).json["note"] == "wrong address"
    assert _channels(tally) == [("refused", "terminal")]


def test_a_person_edits_in_an_editor_and_secrets_stay_where_they_were(
    tally: Tally, workspace: Path, held: str, tmp_path: Path
) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\ncp "$1" ' + str(tmp_path / "seen") + '\nsed -i s/a@example.org/b@example.org/ "$1"\n')
    editor.chmod(0o755)
    typed = at_terminal(
        "approvals", "edit", held, folder=workspace, answer="yes", state=_state(), EDITOR=str(editor), VISUAL=""
    )
    assert typed.code == 0
    assert "hunter2" not in (tmp_path / "seen").read_text()
    shown = tally("--json", "approvals", "show", held).json
    assert (shown["state"], shown["args"]["to"]) == ("edited", "b@example.org")
    call = '{"to":"b@example.org","body":"x\\u202ey","password":"hunter2"}'
    assert tally("--json", "call", "send_mail", call).json["result"] == "sent to b@example.org"


def test_an_editor_that_fails_or_changes_nothing_answers_nothing(tally: Tally, workspace: Path, held: str) -> None:
    for editor, code in (("true", "not_answered"), ("false", "editor_failed"), ("/no/such", "editor_failed")):
        typed = at_terminal("approvals", "edit", held, folder=workspace, state=_state(), EDITOR=editor, VISUAL="")
        assert typed.code == 1
        assert code in typed.screen
    assert _channels(tally) == []


def test_arguments_may_be_edited_on_the_command_line(tally: Tally, token: str, held: str) -> None:
    edited = tally("--json", "approvals", "edit", held, "--args", '{"to":"c","body":"d"}', "--token", token)
    assert edited.json["args"] == {"to": "c", "body": "d"}
    assert tally("approvals", "edit", held, "--token", token).error == "usage"


def test_an_answer_says_when_the_call_runs_and_a_command_that_can_be_typed_in_any_folder(
    tally: Tally, workspace: Path, token: str, held: str
) -> None:
    assert "still waits it runs now" in tally("approvals", "approve", held, "--token", token).out
    again = tally("--json", "call", "send_mail", '{"to":"b","body":"c"}').json["held"]["approval_id"]
    edited = tally("approvals", "edit", again, "--args", '{"to":"c","body":"d"}', "--token", token)
    assert f"tally approvals show {again} --workspace {workspace}" in edited.out.replace("\n", "")


def test_edited_arguments_must_be_one_json_object(tally: Tally, token: str, held: str) -> None:
    for args in ("[]", "{", '{"to":"a","to":"b"}'):
        assert tally("approvals", "edit", held, "--args", args, "--token", token).error == "usage"


def test_what_was_answered_cannot_be_answered_again(tally: Tally, token: str, held: str) -> None:
    assert tally("approvals", "reject", held, "--token", token).code == 0
    again = tally("approvals", "approve", held, "--token", token)
    assert (again.code, again.error) == (1, "approval_not_waiting")
    unknown = tally("approvals", "approve", "appr_0", "--token", token)
    assert (unknown.code, unknown.error) == (1, "approval_not_found")


@pytest.mark.promise("doors.cli-visible")
def test_B07_the_review_shows_hidden_characters_as_escapes_and_flags_them(tally: Tally, workspace: Path) -> None:
    args = json.dumps({"to": "a\U000e0041b\u202ec\x1b[0m\u200b\n", "body": "fine"})
    approval_id = tally("--json", "call", "send_mail", args).json["held"]["approval_id"]
    shown = tally("approvals", "show", approval_id)
    assert not {"\U000e0041", "\u202e", "\x1b", "\u200b"} & set(shown.out)
    for name in ("TAG LATIN CAPITAL LETTER A", "RIGHT-TO-LEFT OVERRIDE", "ESCAPE", "ZERO WIDTH SPACE", "LINE FEED"):
        assert name in shown.out
    assert len(tally("--json", "approvals", "show", approval_id).json["hidden_characters"]) == 5


def test_requests_are_listed_by_state_with_their_number(tally: Tally, token: str, held: str) -> None:
    assert tally("approvals", "list", "--state", "held", "--json").json["total"] == 1
    assert tally("approvals", "list", "--state", "granted", "--json").json["items"] == []
    assert held in tally("approvals", "list").out
    assert tally("approvals", "list", "--state", "pending").error == "usage"


def test_a_secret_is_put_back_only_where_it_was_left() -> None:
    shown = {"a": {"$redacted": "d1"}, "b": ["x", {"$redacted": "d2"}]}
    exact = {"a": "one", "b": ["x", "two"]}
    assert put_back(shown, shown=shown, exact=exact) == exact
    moved = {"a": {"$redacted": "d2"}, "b": [{"$redacted": "d1"}], "c": {"$redacted": "d1"}}
    assert put_back(moved, shown=shown, exact=exact) == moved


KEY = "sk-proj-AbCdEfGhIjKlMnOpQrSt"


@pytest.mark.promise("record.token-alone", "record.mask-revealed", "doors.cli-person")
def test_a_masked_part_is_revealed_to_a_person_and_to_no_agent(tally: Tally, token: str) -> None:
    args = json.dumps({"to": "a@example.org", "body": f"delete all, key {KEY}\u202e, at once"})
    approval_id = tally("--json", "call", "send_mail", args).json["held"]["approval_id"]
    shown = tally("approvals", "show", approval_id)
    assert "delete all, key " in shown.out
    assert ", at once" in shown.out
    assert KEY not in shown.out
    assert f"tally approvals reveal {approval_id} /body" in shown.out
    refused = tally("approvals", "reveal", approval_id, "/body", "--yes", stdin="y\n")
    assert (refused.code, refused.error) == (1, "person_required")
    told = tally("approvals", "reveal", approval_id, "/body", "--token", token)
    assert told.code == 0
    assert f"delete all, key {KEY}\\u202e, at once" in told.out
    assert "\u202e" not in told.out
    assert tally("approvals", "reveal", approval_id, "/to", "--token", token).error == "approval_not_masked"
    notes = tally("--json", "audit", "list", "--kind", "note").json["items"]
    assert [note["audit"]["metadata"]["field"] for note in notes] == ["/body"]


@pytest.mark.promise("decide.approval-recorded")
def test_verify_reports_a_request_that_was_changed_in_the_database(tally: Tally, workspace: Path, held: str) -> None:
    assert tally("audit", "verify").code == 0
    with sqlite3.connect(workspace / ".control-room" / "tallystick.db") as database:
        database.execute("UPDATE tally_approvals SET state = 'granted', person = 'me', channel = 'terminal'")
    database.close()
    assert tally(*CALL).error == "approval_mismatch" or "approval_mismatch" in tally("--json", *CALL).out
    report = tally("--json", "audit", "verify")
    assert report.code == 1
    assert [problem["code"] for problem in report.json["problems"]] == ["approval_differs"]
    assert held in report.json["problems"][0]["reason"]
    assert "approval_mismatch" in {note["code"] for note in report.json["notes"]}

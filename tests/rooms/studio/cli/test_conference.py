"""`tally conference`: one question, a table that goes on, as JSON, at a terminal; rejected, stopped, cancelled."""

from pathlib import Path

import pytest

from tests.conferences import ABSTAIN, says, tools
from tests.doors.cli.conftest import Tally
from tests.doors.cli.typist import CTRL_C, CTRL_D, Typist
from tests.doors.http.talking import HangsAndTells, call, serve_agent, write_story
from tests.scripted_server import Says, ScriptedServer, Status

ASK = "What does SCN-01 say about the supply ship?"


@pytest.fixture
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a story and nothing else: no configuration, no workspace yet."""
    folder = tmp_path / "fresh"
    folder.mkdir()
    write_story(folder)
    monkeypatch.chdir(folder)
    return folder


def serve(folder: Path, server: ScriptedServer, *agents: str) -> None:
    for agent_id in ("assistant", *agents):
        serve_agent(folder, server, agent_id)


@pytest.mark.promise("studio.conference-cli")
def test_on_a_fresh_machine_one_question_shows_cards_steps_receipts_and_evidence(fresh: Path, tally: Tally) -> None:
    ran = tally("conference", "--agents", "critic,planner", ASK)
    assert ran.code == 0
    assert "## Chief of Staff (assistant)" in ran.out
    assert "## Critic (critic)" in ran.out
    assert "Evidence: " in ran.out
    assert "file_reader" in ran.err
    assert "critic: evidence holds (rcpt_" in ran.err
    assert "assistant      Moderator" in ran.err
    assert "planner        Abstained" in ran.err
    assert "round 1: closed" in ran.err
    assert "saved as issue_" in ran.err
    assert tally("audit", "verify").code == 0


@pytest.mark.promise("studio.conference-checks")
@pytest.mark.parametrize("asked", ["Is the timeline of chapter 1 consistent?", "Do my scenes contradict each other?"])
def test_a_question_about_consistency_runs_the_checker(fresh: Path, tally: Tally, asked: str) -> None:
    ran = tally("conference", "--agents", "continuity", asked)
    assert "1  consistency_checker {" in ran.err
    assert "consistency_checker reports no findings" in ran.out


@pytest.mark.promise("studio.conference-filed")
def test_a_round_is_filed_apart_from_open_issues_with_its_question_beneath_its_title(fresh: Path, tally: Tally) -> None:
    held = tally("--json", "conference", "--agents", "critic", f"{ASK}\n\n# And why?").json
    tally("issues", "new", "The compass")
    assert [each["title"] for each in tally("issues", "list", "--json").json["items"]] == ["The compass"]
    (filed,) = tally("issues", "list", "--status", "closed", "--tag", "conference", "--json").json["items"]
    assert (filed["issue_id"], filed["title"]) == (held["issue_id"], f"Conference {held['conferenceId']} — Turn 1")
    assert filed["summary"] == f"{ASK} And why?"
    assert f"Turn 1  {ASK[:20]}" in tally("issues", "list", "--status", "all").out


@pytest.mark.promise("studio.conference-cli")
def test_with_json_there_is_one_document_and_nothing_else(fresh: Path, tally: Tally) -> None:
    ran = tally("--json", "conference", ASK)
    assert (ran.code, ran.err) == (0, "")
    assert ran.json["state"] == "closed"
    assert len(ran.json["cards"]) == 6
    again = tally("--json", "conference", "--id", ran.json["conferenceId"], "-", stdin=ASK)
    assert (again.json["conferenceId"], again.json["number"]) == (ran.json["conferenceId"], 2)


@pytest.mark.promise("studio.conference-cli", "studio.conference-rejected")
def test_a_rejected_reply_is_shown_as_unverified_and_not_as_an_answer(fresh: Path, tally: Tally) -> None:
    with ScriptedServer(*tools(), says("She stays ashore."), Says("\x1b[31mShe sails.")) as server:
        serve(fresh, server, "critic")
        ran = tally("conference", "--agents", "critic", ASK)
    assert ran.code == 0
    assert "She stays ashore." in ran.out
    assert "She sails." not in ran.out
    assert "critic, unverified | \\x1b[31mShe sails." in ran.err
    assert "critic: REJECTED: evidence_invalid" in ran.err


@pytest.mark.promise("studio.conference-cli", "reply.unsure")
def test_a_sentence_that_could_not_be_decided_is_shown(fresh: Path, tally: Tally) -> None:
    with ScriptedServer(*tools(), ABSTAIN, says("She does not sail. The pacing drags badly.")) as server:
        serve(fresh, server, "critic")
        ran = tally("conference", "--agents", "critic", ASK)
    assert "critic, unsure: The pacing drags badly." in ran.err
    assert "critic: evidence holds (rcpt_" in ran.err


@pytest.mark.promise("studio.conference-cli", "studio.conference-stop")
def test_a_round_in_which_nothing_holds_ends_with_one_and_says_why(fresh: Path, tally: Tally, workspace: Path) -> None:
    write_story(workspace)
    with ScriptedServer(
        Says("no call"), Status(500), *tools(), *[Says("She sails.")] * 4,
        call("send_mail", {"to": "a@example.org", "body": "hello"}),
    ) as server:  # fmt: skip
        serve(workspace, server, "critic")
        words = ("conference", "--agents", "critic", "Send hello to a@example.org")
        stopped, unheard, refused, held = (tally(*words) for _ in range(4))
    assert stopped.code == 1
    assert "STOP_HOOK: tool_call_rejected tool_call_invalid_format" in stopped.err
    assert unheard.code == 1
    assert "STOP_HOOK: model_unheard endpoint_failed" in unheard.err
    # Each wrote its answer twice, and neither held.
    assert (refused.code, refused.out) == (1, "")
    assert all(f"{agent_id}: REJECTED: evidence_invalid" in refused.err for agent_id in ("assistant", "critic"))
    assert held.code == 3
    assert "to allow it: tally approvals approve appr_" in held.err


@pytest.mark.promise("studio.conference-cli", "studio.conference-bad-input")
@pytest.mark.parametrize(
    ("words", "error"),
    [
        ((" ",), "message_empty"),
        (("--agents", "nobody", "hello"), "agent_unknown"),
        (("--agents", "critic,critic", "hello"), "attendee_exists"),
        (("--id", "../x", "hello"), "conference_unknown"),
        (("--id", "conf_0"), "conference_unknown"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_one_line_with_a_code(
    fresh: Path, tally: Tally, words: tuple[str, ...], error: str
) -> None:
    ran = tally("conference", *words, stdin="")
    assert (ran.code, ran.error, ran.out) == (1, error, "")


@pytest.mark.promise("studio.conference-cli", "studio.conference-roster")
def test_lines_that_are_piped_in_are_rounds_and_commands_of_one_table(fresh: Path, tally: Tally) -> None:
    lines = f"{ASK}\n/mute critic\n/mute assistant\n/add editor\n/remove planner\n/cards\n\n/again 1\n/again 9\n/what\n/quit\n"
    ran = tally("conference", "--agents", "critic,planner", stdin=lines)
    assert ran.code == 1, "the last round was one that is not there"
    assert ran.out.count("## Critic (critic)") == 1
    assert ran.out.count("## Editor (editor)") == 1
    assert "critic         Muted" in ran.err
    assert "error: chief_mandatory" in ran.err
    assert "round 2: closed" in ran.err
    assert "error: round_unknown" in ran.err
    assert "/unmute ID" in ran.err
    assert "to continue: tally conference --id conf_" in ran.err


@pytest.mark.promise("studio.conference-cli", "studio.conference-cancel")
def test_at_a_terminal_a_round_is_cancelled_and_the_table_goes_on(fresh: Path, tmp_path: Path) -> None:
    hangs = HangsAndTells()
    with ScriptedServer(*tools(), hangs, *tools(), says("She stays ashore."), ABSTAIN) as server:
        serve(fresh, server, "critic")
        with Typist("conference", "--agents", "critic", folder=fresh, state=tmp_path / "state") as person:
            person.until("Moderator")
            person.until("> ")
            person.types(f"{ASK}\r")
            assert hangs.asked.wait(60)
            person.types(CTRL_C)
            person.until("cancelled")
            assert server.wait_until_idle()
            person.until("> ")
            person.types("/again 1\r")
            person.until("She stays ashore.")
            person.until("round 2: closed")
            person.until("> ")
            person.types(CTRL_D)
            assert person.ended() == 0
    assert "tally conference --id conf_" in person.screen


@pytest.mark.promise("studio.conference-cancel")
def test_one_question_that_is_interrupted_ends_with_130_and_what_ran_has_its_receipt(
    fresh: Path, tmp_path: Path, tally: Tally
) -> None:
    hangs = HangsAndTells()
    with ScriptedServer(*tools(), hangs) as server:
        serve(fresh, server, "critic")
        with Typist("conference", "--agents", "critic", ASK, folder=fresh, state=tmp_path / "s") as person:
            assert hangs.asked.wait(60)
            person.types(CTRL_C)
            assert person.ended() == 130
    listed = tally("--json", "audit", "list", "--tool", "file_reader").json
    assert [receipt["outcome"]["status"] for receipt in listed["items"]] == ["accepted"]

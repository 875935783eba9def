"""`tally chat`: on a fresh machine, piped, as JSON, at a terminal; cancelled, held, refused."""

import json
from pathlib import Path

import pytest

from tallystick.storage.agents import Registry
from tallystick.turns.agent import Endpoint
from tests.doors.cli.conftest import Tally
from tests.doors.cli.typist import CTRL_C, CTRL_D, Typist
from tests.doors.http.talking import SCENE, HangsAndTells, call, claim, finish, grounded, serve_agent, write_story
from tests.scripted_server import Says, ScriptedServer, Status

ASK = "Did Ada set foot on a boat?"


@pytest.fixture
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a story and nothing else: no configuration, no workspace yet."""
    folder = tmp_path / "fresh"
    folder.mkdir()
    write_story(folder)
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.promise("chat.cli")
def test_on_a_fresh_machine_one_question_is_answered_with_steps_receipts_and_evidence(
    fresh: Path, tally: Tally
) -> None:
    ran = tally("chat", "--once", ASK)
    assert ran.code == 0
    assert "set foot on a boat" in ran.out
    assert "Evidence: " in ran.out
    assert "file_reader" in ran.err
    assert "evidence holds (rcpt_" in ran.err
    assert tally("audit", "verify").code == 0


@pytest.mark.promise("reading.agent")
def test_what_no_file_states_is_said_so(fresh: Path, tally: Tally) -> None:
    ran = tally("chat", "--once", "Who is the mayor of the capital?")
    assert ran.code == 0
    assert ran.out.startswith("Not stated in these files.")


@pytest.mark.promise("reading.agent")
def test_a_request_goes_to_the_tool_that_serves_it_and_its_result_is_reported(fresh: Path, tally: Tally) -> None:
    ran = tally("chat", "--once", f"Analyse the pacing of {SCENE}.")
    assert ran.code == 0
    assert "prose_analyzer" in ran.err
    assert "words per paragraph" in ran.out or "words_per_paragraph" in ran.out
    assert "evidence holds (rcpt_" in ran.err


@pytest.mark.promise("reading.judged")
def test_a_small_model_that_was_not_fetched_answers_nothing_and_the_command_is_named(
    fresh: Path, tally: Tally, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TALLY_MODELS__FOLDER", str(tmp_path / "no models"))
    endpoint = Endpoint(agent_id="assistant", provider="local", model="qwen2.5-coder-1.5b")
    Registry(fresh).change(lambda roster: roster.set_endpoint(endpoint))
    ran = tally("chat", "--once", ASK)
    assert ran.code != 0
    assert "tally models fetch" in ran.err
    assert "set foot on a boat" not in ran.out


@pytest.mark.promise("chat.cli", "reply.unsure")
def test_a_sentence_that_could_not_be_decided_is_shown(fresh: Path, tally: Tally) -> None:
    answer = claim(text="She does not sail. The pacing drags badly.")
    with ScriptedServer(call("file_reader", {"file_path": SCENE}), finish(), answer) as server:
        serve_agent(fresh, server)
        ran = tally("chat", "--agent", "critic", "--once", ASK)
    assert ran.code == 0
    assert "unsure: The pacing drags badly." in ran.err
    assert "1 sentence undecided, so no credit" in ran.err


@pytest.mark.promise("chat.cli")
def test_with_json_there_is_one_document_and_nothing_else(fresh: Path, tally: Tally) -> None:
    ran = tally("--json", "chat", "--once", ASK, "--session", "s1", "--agent", "critic")
    assert ran.code == 0
    assert ran.err == ""
    assert (ran.json["sessionId"], ran.json["agentId"]) == ("s1", "critic")
    assert ran.json["findings"]["ok"] is True
    assert ran.json["receipts"]


@pytest.mark.promise("chat.cli", "chat.sessions")
def test_lines_that_are_piped_in_are_one_conversation(fresh: Path, tally: Tally) -> None:
    with ScriptedServer(*grounded(), *grounded()) as server:
        serve_agent(fresh, server)
        ran = tally("chat", "--agent", "critic", stdin="Does Ada sail?\n\nWhy not?\n")
    assert ran.code == 0
    assert ran.out.count("She does not sail.") == 2
    assert "to continue: tally chat --session chat_" in ran.err
    assert "Does Ada sail?" in [message["content"] for message in server.requests[3].body["messages"]]


@pytest.mark.promise("chat.cli")
def test_a_question_can_come_from_stdin_as_a_whole(fresh: Path, tally: Tally) -> None:
    assert tally("chat", "--once", "-", stdin=f"{ASK}\n").code == 0


@pytest.mark.promise("chat.cli")
def test_a_reply_that_fails_its_check_is_shown_as_unverified_and_not_as_the_result(fresh: Path, tally: Tally) -> None:
    false = '"she had often set foot on a boat" Story/Scenes/SCN-01.md:L4'
    with ScriptedServer(call("file_reader", {"file_path": SCENE}), finish(), claim(false, "\x1b[31mYes.")) as server:
        serve_agent(fresh, server)
        ran = tally("chat", "--agent", "critic", "--once", ASK)
    assert ran.code == 1
    assert ran.out == ""
    assert "refused: quote_not_found" in ran.err
    assert "unverified | \\x1b[31mYes." in ran.err


@pytest.mark.promise("chat.cli")
def test_a_held_call_shows_how_to_allow_it(workspace: Path, tally: Tally) -> None:
    with ScriptedServer(call("send_mail", {"to": "a@example.org", "body": "hello"})) as server:
        serve_agent(workspace, server)
        ran = tally("chat", "--agent", "critic", "--once", "Send hello to a@example.org")
    assert ran.code == 3
    line = next(line for line in ran.err.splitlines() if "tally approvals approve appr_" in line)
    approval_id = line.split("approve ")[1].split(";")[0]
    assert tally("approvals", "show", approval_id).code == 0


@pytest.mark.promise("chat.cli")
def test_a_turn_that_was_stopped_says_with_which_code(fresh: Path, tally: Tally) -> None:
    with ScriptedServer(Says('{"tool":"file_reader","args":{"file_path":"x"},"nonce":"guessed"}')) as server:
        serve_agent(fresh, server)
        ran = tally("chat", "--agent", "critic", "--once", ASK)
    assert ran.code == 1
    assert "STOP_HOOK: tool_call_rejected tool_call_nonce_invalid" in ran.err


@pytest.mark.promise("chat.cli", "chat.bad-input")
@pytest.mark.parametrize(
    ("words", "code", "error"),
    [
        (("--once", "  "), 1, "message_empty"),
        (("--once", "\x07"), 1, "message_not_text"),
        (("--once", "hello", "--agent", "nobody"), 1, "agent_unknown"),
        (("--agent", "nobody"), 1, "agent_unknown"),
        (("--once", "hello", "--session", "../x"), 1, "session_id_invalid"),
    ],
)
def test_what_cannot_be_asked_is_one_line_with_a_code(
    fresh: Path, tally: Tally, words: tuple[str, ...], code: int, error: str
) -> None:
    ran = tally("chat", *words, stdin="")
    assert (ran.code, ran.error, ran.out) == (code, error, "")


@pytest.mark.promise("chat.cli", "chat.bad-input")
def test_an_endpoint_that_cannot_be_used_is_told_apart_from_one_that_failed(fresh: Path, tally: Tally) -> None:
    with ScriptedServer(Status(401), Status(500)) as server:
        serve_agent(fresh, server)
        unusable = tally("chat", "--agent", "critic", "--once", ASK)
        failed = tally("--json", "chat", "--agent", "critic", "--once", ASK)
        offline = tally("chat", "--agent", "critic", "--offline", "--once", ASK)
    assert (unusable.code, unusable.error) == (4, "key_refused")
    assert (failed.code, json.loads(failed.err)["error"]["code"]) == (1, "endpoint_failed")
    assert offline.code == 0


@pytest.mark.promise("chat.cli", "chat.cancel", "turns.cancelled")
def test_at_a_terminal_a_turn_is_cancelled_and_the_conversation_goes_on(fresh: Path, tmp_path: Path) -> None:
    hangs = HangsAndTells()
    with ScriptedServer(call("file_reader", {"file_path": SCENE}), hangs) as server:
        serve_agent(fresh, server)
        with Typist("chat", folder=fresh, state=tmp_path / "state") as person:
            person.until("Chief of Staff (assistant), offline")
            person.until("> ")
            person.types(f"{ASK}\r")
            person.until("evidence holds")
            person.until("> ")
            person.types("/agent critic\r")
            person.until("Critic (critic), lmstudio scripted")
            person.until("> ")
            person.types("Does Ada sail?\r")
            assert hangs.asked.wait(20)
            person.types(CTRL_C)
            person.until("cancelled")
            assert server.wait_until_idle()
            person.until("> ")
            person.types("/agent nobody\r")
            person.until("agent_unknown")
            person.until("> ")
            person.types("/help\r")
            person.until("/quit")
            person.until("> ")
            person.types("/new\r")
            person.until("session chat_")
            person.until("> ")
            person.presses_until(CTRL_C, "> ")
            person.types(CTRL_D)
            assert person.ended() == 0
    assert "tally chat --session chat_" in person.screen
    history = (tmp_path / "state" / "chat-history").read_text(encoding="utf-8")
    assert ASK in history
    assert (tmp_path / "state" / "chat-history").stat().st_mode & 0o077 == 0


@pytest.mark.promise("chat.cancel")
def test_one_question_that_is_interrupted_ends_with_130_and_what_ran_has_its_receipt(
    fresh: Path, tmp_path: Path, tally: Tally
) -> None:
    hangs = HangsAndTells()
    with ScriptedServer(call("file_reader", {"file_path": SCENE}), hangs) as server:
        serve_agent(fresh, server)
        with Typist(
            "chat", "--agent", "critic", "--once", ASK, "-s", "s1", folder=fresh, state=tmp_path / "s"
        ) as person:
            assert hangs.asked.wait(60)
            person.types(CTRL_C)
            assert person.ended() == 130
    assert "cancelled" in person.screen
    listed = tally("--json", "audit", "list", "--session", "s1").json
    assert [receipt["outcome"]["status"] for receipt in listed["items"]] == ["accepted"]

"""`tally memory add` and `ask` without any set-up, and the other questions."""

import json
from pathlib import Path

import pytest

from tallystick.providers.embeddings.minilm import MODEL
from tallystick.settings import Settings
from tests.doors.cli.conftest import Tally
from tests.doors.http.talking import finish, serve_agent
from tests.rooms.memory.grammar import parser
from tests.rooms.memory.http.test_memory import SOLD, reads
from tests.scripted_server import Says, ScriptedServer

RED = {"text": "The boat is red.", "source": {"id": "bob", "class": "human"}, "observed_at": "2024-01-01"}


@pytest.mark.promise("reading.cli")
def test_add_and_ask_work_in_an_empty_folder(tally: Tally, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    added = tally("memory", "add", "My name is Ann. I live in Oslo. The boat is red.", "--json")
    assert added.code == 0, added.err
    assert (len(added.json["observation_ids"]), len(added.json["proposition_ids"])) == (1, 2)
    asked = tally("memory", "ask", "Where do I live? In Oslo?")
    assert asked.code == 0
    assert asked.out.startswith("You live in Oslo. (you, ")
    assert "The boat is red." in tally("memory", "recall", "Where do I live? In Oslo?").out
    assert "name Ann  (accepted)" in tally("memory", "recall", "--entity", "owner").out


@pytest.mark.promise("reading.cli")
def test_what_is_not_known_is_said_with_an_exit_code(tally: Tally, workspace: Path) -> None:
    tally("memory", "add", "The boat is red.")
    nothing = tally("memory", "ask", "zebra?")
    assert (nothing.code, nothing.out) == (1, "Not known.\n")
    assert tally("memory", "ask", "zebra?", "--json").json["recall"]["doubt"] == "nothing_found"


@pytest.mark.promise("reading.cli")
def test_the_owners_own_name_is_not_the_dogs(tally: Tally, workspace: Path) -> None:
    tally("memory", "add", "My name is Ada.")
    for question in ("What is the name of my dog?", "What is my brother's name?", "What is your name?"):
        nothing = tally("memory", "ask", question)
        assert (nothing.code, nothing.out.splitlines()[0]) == (1, "Not known.")
    tally("memory", "add", "My dog is called Rex.")
    assert tally("memory", "ask", "What is the name of my dog?").out.startswith("Your dog is Rex. (you, ")
    assert tally("memory", "ask", "What is my name?").out.startswith("You are called Ada. (you, ")


@pytest.mark.promise("reading.own-words", "reading.corrections")
def test_a_message_without_a_fact_answers_and_what_is_denied_is_over(tally: Tally, workspace: Path) -> None:
    parser()
    if not Settings().models_dir().joinpath(MODEL).is_dir():
        pytest.skip(f"left out: {MODEL} is not on this machine")
    tally("memory", "add", "the shed key: behind the watering can, dont tell anyone")
    tally("memory", "add", "moved the shed key, it sits in the red flowerpot from today")
    asked = tally("memory", "ask", "Where is the key of the shed?")
    assert "red flowerpot" in asked.out.partition("(before")[0]
    assert "watering can" in asked.out.partition("(before")[2]
    tally("memory", "add", "I live in Oslo.")
    tally("memory", "add", "I no longer live in Oslo.")
    for post in ("paper", "radio", "letter"):
        tally("memory", "add", f"owner lives in Oslo, says the {post}.", "--source", post, "--class", "document")
    assert "lives_in Oslo  (accepted)" not in tally("memory", "recall", "--entity", "owner").out
    assert not tally("memory", "ask", "Where do I live?").out.startswith("You live in Oslo")


@pytest.mark.promise("reading.revert", "reading.owner-about-self")
def test_a_correction_is_undone_on_the_owners_word(tally: Tally, workspace: Path) -> None:
    parser()
    tally("memory", "add", "I live in Oslo.")
    (newer,) = tally("memory", "add", "I moved to Rome.", "--json").json["proposition_ids"]
    assert "lives_in Rome  (accepted)" in tally("memory", "recall", "--entity", "owner").out
    done = tally("memory", "revert", newer)
    assert (done.code, done.out.splitlines()) == (
        0, ["taken back: owner lives_in Rome", "holds again: owner lives_in Oslo"],
    )  # fmt: skip
    assert tally("memory", "ask", "Where do I live?").out.startswith("You live in Oslo.")
    assert tally("memory", "revert", "prop_0").error == "proposition_unknown"


@pytest.mark.promise("reading.cli", "reading.reply", "reading.taken-back")
def test_a_move_is_told_in_one_line_and_what_was_before_comes_after_it(tally: Tally, workspace: Path) -> None:
    tally("memory", "add", "I live in Berlin and I work for Siemens.")
    tally("memory", "add", "I moved to Munich.")
    tally("memory", "add", "I live in Munich.")
    denied = tally("memory", "add", "I do not live in Berlin any more.")
    assert "contradicted 1" in denied.out
    lines = [line for line in tally("memory", "recall", "Where do I live?").out.splitlines() if "lives_in" in line]
    assert [line.split("  ")[0] for line in lines] == ["owner lives_in Munich", "owner lives_in Berlin"]
    assert "(superseded" in lines[1]
    assert tally("memory", "ask", "Whom do I work for?").out.startswith("You work for Siemens.")
    assert "(before" in tally("memory", "ask", "Where do I live?").out
    assert tally("memory", "ask", "Where did I live before?").out.startswith("Before: Berlin")


@pytest.mark.promise("reading.cli")
def test_what_is_said_over_and_over_is_one_line(tally: Tally, workspace: Path) -> None:
    for number in range(3):
        tally("memory", "add", "The boat is red.", "--source", f"try {number}", "--class", "model_inference")
    said = tally("memory", "recall", "What colour is the boat?").out.splitlines()
    assert len([line for line in said if "The boat is red." in line]) == 1
    assert "and 2 more" in said[-1]
    tally("call", "record_observation", json.dumps(RED))
    tally("call", "record_observation", json.dumps({**RED, "observed_at": "2024-02-01"}))
    (bob,) = [line for line in tally("memory", "recall", "What colour is the boat?").out.splitlines() if "bob" in line]
    assert "more" not in bob


@pytest.mark.promise("reading.cli")
def test_a_conversation_in_a_file_and_every_question_about_it(tally: Tally, workspace: Path) -> None:
    (workspace / "talk.txt").write_text("Ann: Carol lives in Rome.\nBob: Carol lives in Rome, I saw it.\n")
    added = tally("memory", "add", "--file", "talk.txt", "--episode", "talk", "--json").json
    (name,) = added["proposition_ids"]
    told = tally("memory", "explain", name)
    assert "Carol lives_in Rome" in told.out
    assert "+ Ann: “Carol lives in Rome.”" in told.out
    explained = tally("memory", "explain", name, "--json").json
    assert explained["standing"]["status"] == "accepted"
    assert len(explained["minimal_supports"]["sets"]) == 1
    gone = tally("memory", "what-if", name, "--without", "Ann", "--json").json
    assert (gone["with"]["status"], gone["then"]["status"]) == ("accepted", "provisional")
    told = tally("memory", "what-if", name, "--without", "Ann")
    assert "without Ann" in told.out
    assert "said nothing" not in told.err
    assert "nobody has said nothing about it" in tally("memory", "what-if", name, "--without", "nobody").err
    assert name in tally("memory", "log", name).out
    assert "new → provisional" in tally("memory", "diff", "0").out
    assert tally("memory", "diff", "0", "--json").json["observations"] == 2
    assert tally("memory", "export", "--output", "memory.jsonld").code == 0
    assert json.loads((workspace / "memory.jsonld").read_text())["@graph"]


@pytest.mark.promise("reading.cli", "reading.scribe")
def test_an_agents_model_reads_what_is_added(tally: Tally, workspace: Path) -> None:
    with ScriptedServer(Says(lambda seen: reads(seen, "sold the mill to Bob")), finish(), Says("Done.")) as server:
        serve_agent(workspace, server)
        added = tally("memory", "add", SOLD, "--agent", "critic", "--json")
    assert added.code == 0, added.err
    (name,) = added.json["proposition_ids"]
    assert "Bob owns the mill" in tally("memory", "explain", name).out
    with ScriptedServer() as server:
        serve_agent(workspace, server)
        silent = tally("memory", "add", "Ann sold the boat.", "--agent", "critic")
    assert (silent.code, silent.error) == (1, "endpoint_failed")
    assert "Ann sold the boat." in tally("memory", "ask", "boat").out


@pytest.mark.promise("reading.cli")
@pytest.mark.parametrize(
    ("words", "code", "error"),
    [
        (["add", "x", "--agent", "nobody"], 1, "agent_unknown"),
        (["add", "x", "--agent", "critic"], 1, "agent_without_model"),
        (["add"], 2, "usage"),
        (["add", "  "], 2, "usage"),
        (["add", "x", "--file", "tools.py"], 2, "usage"),
        (["add", "--file", "nowhere.txt"], 1, "file_unreadable"),
        (["recall"], 2, "usage"),
        (["recall", "x", "--valid-at", "soon"], 2, "usage"),
        (["add", "x", "--class", "hearsay"], 2, "usage"),
        (["log", "prop_none"], 1, "proposition_unknown"),
        (["explain", "prop_none"], 1, "proposition_unknown"),
        (["what-if", "prop_none", "--without", "x"], 1, "proposition_unknown"),
    ],
)
def test_wrong_use_ends_with_a_code_and_a_line(
    tally: Tally, workspace: Path, words: list[str], code: int, error: str
) -> None:
    tally("memory", "add", "The boat is red.")
    ended = tally("memory", *words)
    assert (ended.code, ended.error) == (code, error)


@pytest.mark.promise("reading.cli")
def test_a_file_that_is_no_text_or_too_large_is_refused(tally: Tally, workspace: Path) -> None:
    (workspace / "bytes.bin").write_bytes(b"\xff\xfe\x00")
    assert tally("memory", "add", "--file", "bytes.bin").error == "file_unreadable"
    (workspace / "large.txt").write_text("word " * 300_000)
    assert tally("memory", "add", "--file", "large.txt").error == "file_too_large"


@pytest.mark.promise("reading.cli")
def test_what_is_piped_in_is_remembered(tally: Tally, workspace: Path) -> None:
    added = tally("memory", "add", "--file", "-", "--json", stdin="Carol lives in Rome.\n")
    assert len(added.json["proposition_ids"]) == 1
    assert tally("memory", "add", "--file", "-", stdin="").error == "usage"
    assert tally("memory", "add", "--file", "-", stdin="word " * 300_000).error == "file_too_large"


@pytest.mark.promise("reading.cli", "reading.remember")
def test_what_the_gate_refuses_is_told(tally: Tally, workspace: Path) -> None:
    refused = tally("memory", "add", "It works.", "--class", "test_result")
    assert refused.code == 1
    assert "POLICY_VIOLATION" in refused.err


@pytest.mark.promise("reading.cli", "memory.secrets")
def test_a_key_in_a_text_is_left_out_and_said(tally: Tally, workspace: Path) -> None:
    secret = "sk-" + "a1B2" * 10
    added = tally("memory", "add", f"Carol lives in Rome. My key is {secret}.")
    assert added.code == 0
    assert "memory keeps none" in added.err
    asked = tally("memory", "ask", "Where does Carol live?")
    assert asked.code == 0
    assert "Carol lives in Rome" in asked.out
    assert secret not in asked.out + added.out + added.err


@pytest.mark.promise("reading.cli")
def test_asking_for_all_of_somebody_raises_no_doubt(tally: Tally, workspace: Path) -> None:
    tally("memory", "add", "Carol lives in Rome.")
    found = tally("memory", "recall", "--entity", "Carol")
    assert found.out.startswith("Carol lives_in Rome")
